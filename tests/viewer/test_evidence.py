"""Replays shown as evidence, on toys whose answers are known by hand."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from toys.corridor import TASK, Corridor
from toys.house import HouseEnvironment, house_task
from toys.lab import LabEnvironment
from toys.lane import Lane
from toys.shop import ShopEnvironment

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.config import EnvConfig
from trajevolve.credit.labelling import label
from trajevolve.credit.verification import Mode, verify
from trajevolve.envs.contract import Environment, Task
from trajevolve.rollout import Episode, Kept, play
from trajevolve.trajectory import Trajectory
from trajevolve.viewer.evidence import LONGEST, gather
from viewer.made import DETOUR, PLAN, verified


def recorded(env: type[Environment], task: Task, actions: Sequence[str]) -> Trajectory:
    kept = tuple(Kept(action, (), action) for action in actions)
    episode = Episode("one", task, 0, kept, resample=False)
    return play([episode], ScriptedAgent(), env, EnvConfig(step_limit=500))[0]


def labelled(
    env: type[Environment], task: Task, actions: Sequence[str], mode: Mode = "cumulative"
) -> Trajectory:
    trajectory = recorded(env, task, actions)
    return label(trajectory, verify(env(), task, trajectory.actions, mode=mode))


def test_a_redundant_step_goes_with_what_depends_on_it() -> None:
    found = gather(Corridor(), TASK, verified(DETOUR, "a")).counterfactuals[2]
    assert (found.basis, found.omitted, found.fallen) == ("whole", (2,), (3,))
    assert found.executed == (0, 1, 4, 5, 6)
    assert (found.success, found.confirms, found.parts_at) == (True, True, 3)
    assert found.answers[3] == "room 1"  # tried in vain: it is there already
    assert found.answers[6] == "room 3"


def test_a_step_that_cannot_go_alone_goes_with_its_removal() -> None:
    found = gather(Corridor(), TASK, verified(DETOUR, "a")).counterfactuals[3]
    assert (found.omitted, found.fallen, found.unreached) == ((2, 3), (), ())
    assert (found.success, found.parts_at) == (True, None)


def test_what_verification_removed_apart_is_left_out_apart() -> None:
    actions = ["go to room 1", "go to room 0", *DETOUR]
    trajectory = verified(actions, "a")
    assert [step.label for step in trajectory.steps] == [0, 0, 1, 1, 0, 0, 1, 1, 1]
    assert gather(Corridor(), TASK, trajectory).counterfactuals[5].omitted == (4, 5)


def test_a_necessary_step_is_shown_failing() -> None:
    found = gather(Corridor(), TASK, verified(PLAN, "a")).counterfactuals[1]
    assert (found.omitted, found.fallen) == ((1,), (4,))
    assert (found.success, found.confirms, found.parts_at) == (False, True, 4)


def test_a_necessary_step_with_a_substitute_is_left_out_of_the_survivors() -> None:
    task = house_task("hand", "ball", closed=(), table="ball", bed="")
    trajectory = labelled(HouseEnvironment, task, ["go table", "go bed", "go table", "take ball"])
    assert [step.label for step in trajectory.steps] == [1, 0, 0, 1]
    found = gather(HouseEnvironment(), task, trajectory).counterfactuals[0]
    assert (found.basis, found.omitted, found.success) == ("survivors", (0,), False)
    assert found.executed == ()
    assert found.fallen == (3,)


def test_feasible_inverses_go_together() -> None:
    task = Lane().task("east")
    trajectory = labelled(Lane, task, ["back", "forth", "forth", "forth", "forth"])
    assert [step.label for step in trajectory.steps] == [0, 0, 1, 1, 1]
    found = gather(Lane(), task, trajectory).counterfactuals
    assert (found[0].omitted, found[0].unreached, found[0].success) == ((0,), (4,), True)
    assert (found[1].omitted, found[1].unreached, found[1].success) == ((0, 1), (), True)


SHOPPING = ["search[mug]", "click[m2]", "click[< prev]", "click[m1]", "click[description]",
            "click[< prev]", "click[red]", "click[buy now]"]  # fmt: skip
HEATING = ["look around", "open door", "open door", "go kitchen", "activate stove", "wait", "wait"]


@pytest.mark.parametrize("mode", ["cumulative", "independent"])
@pytest.mark.parametrize(
    ("env", "actions"),
    [
        (Corridor, ["look", *DETOUR]),
        (Lane, ["back", "forth", "look", "forth", "back", "forth", "forth", "forth"]),
        (ShopEnvironment, SHOPPING),
        (LabEnvironment, HEATING),
    ],
)
def test_every_label_is_borne_out(env: type[Environment], actions: list[str], mode: Mode) -> None:
    task = env().tasks("all")[0]
    trajectory = labelled(env, task, solved(env, task, actions), mode)
    assert trajectory.verified
    found = gather(env(), task, trajectory)
    assert found.problem == ""
    changing = {
        t for t, step in enumerate(trajectory.steps) if step.valid and step.kind == "changing"
    }
    assert changing - set(found.counterfactuals) <= coupled(env, trajectory)
    assert all(replay.confirms for replay in found.counterfactuals.values())


def solved(env: type[Environment], task: Task, actions: list[str]) -> list[str]:
    """Cut `actions` after the success, or go on with the last one, waiting, until there is one."""
    played = env()
    played.reset(task)
    done: list[str] = []
    for action in [*actions, "focus on water"]:
        outcome = played.step(action)
        done.append(action)
        if outcome.done:
            break
    assert outcome.success, played.spec.name
    return done


def coupled(env: type[Environment], trajectory: Trajectory) -> set[int]:
    groups = env().coupled([step.action or "" for step in trajectory.steps])
    return {position for group in groups for position in group}


def test_only_what_was_asked_for() -> None:
    trajectory = verified(DETOUR, "a")
    assert set(gather(Corridor(), TASK, trajectory, "redundant").counterfactuals) == {2, 3}
    assert gather(Corridor(), TASK, trajectory, "none").counterfactuals == {}
    failure = replace(trajectory, verified=False)
    assert gather(Corridor(), TASK, failure).counterfactuals == {}


def test_a_label_that_is_wrong_is_not_confirmed() -> None:
    trajectory = verified(PLAN, "a")
    steps = (replace(trajectory.steps[0], label=0), *trajectory.steps[1:])
    wrong = replace(trajectory, steps=steps, minimal=(1, 2, 3, 4))
    found = gather(Corridor(), TASK, wrong).counterfactuals[0]
    assert (found.success, found.confirms) == (False, False)


def test_an_environment_that_changed_is_a_problem_and_no_evidence() -> None:
    class Stuck(Corridor):
        def candidates(self) -> Sequence[str]:
            return [action for action in super().candidates() if action != "open chest"]

    class Shortcut(Corridor):
        def candidates(self) -> Sequence[str]:
            return [action for action in super().candidates() if action != "look"]

    assert "success" in gather(Stuck(), TASK, verified(PLAN, "a")).problem
    looking = verified(["look", *PLAN], "b")
    assert "same steps" in gather(Shortcut(), TASK, looking).problem


def test_a_very_long_trajectory_is_not_replayed_step_by_step() -> None:
    trajectory = verified(["go to room 1", "go to room 0"] * LONGEST + PLAN, "long")
    found = gather(Corridor(), TASK, trajectory)
    assert found.counterfactuals == {}
    assert str(LONGEST) in found.problem
