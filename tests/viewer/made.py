"""A small source with one trajectory of every sort, in the corridor."""

from dataclasses import replace

from toys.corridor import TASK, Corridor, play

from trajevolve.credit.labelling import label
from trajevolve.credit.verification import verify
from trajevolve.trajectory import Evolution, Step, Trajectory
from trajevolve.viewer.source import Source

PLAN = ["go to room 1", "take key", "go to room 2", "go to room 3", "open chest"]
DETOUR = [*PLAN[:2], "go to room 0", "go to room 1", *PLAN[2:]]
NASTY = (
    "</script><script>window.harmed=1</script><!-- \u2028\u2029 \ud800 <img src=x onerror=harm()> ß"
)


def verified(actions: list[str | None], id: str, **fields: object) -> Trajectory:
    trajectory = play(actions, id, **fields)
    return label(trajectory, verify(Corridor(), TASK, actions))


def judged(step: Step, probability: float) -> Step:
    return replace(step, predicted=int(probability >= 0.5), probability=probability)


def everything() -> list[Trajectory]:
    detour = verified(DETOUR, "0000/00/0", shaped_reward=9.71, episode_advantage=0.5)
    failure = play(["go to room 1", "take key", "go to room 9", "look"], "0000/00/1")
    first, *others = map(judged, failure.steps, (0.9, 0.75, 0.0, 1.0))
    steps = (first, *(replace(step, exploring=True, truncated_tokens=1234) for step in others))
    nasty = play([NASTY], "0000/00/2", task=f"open {NASTY}")
    thinking = replace(nasty.steps[0], thought=NASTY, response=f"{NASTY} and more", action=NASTY)
    removal = Evolution("0000/00/0", "elimination", None, 7, 10.0, accepted=True)
    correction = Evolution("0000/00/1", "correction", 2, 4, -0.1, reason="failed")
    return [
        detour,
        replace(failure, steps=steps),
        replace(nasty, steps=(thinking,)),
        verified(PLAN, "0000/00/0+elimination", evolution=removal),
        play(["go to room 1", "take key", "look"], "0000/00/1+correction", evolution=correction),
    ]


def source() -> Source:
    made = everything()
    return Source("made", made, {each.id: 0 for each in made}, Corridor(), ("One note.",))
