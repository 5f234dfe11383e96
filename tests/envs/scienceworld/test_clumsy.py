"""The clumsy follower: every slip leads back to where the solution goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from trajevolve.config import EnvConfig
from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Spec, Task
from trajevolve.envs.scienceworld.actions import kind_of
from trajevolve.envs.scienceworld.clumsy import KINDS, Clumsiness, ClumsyFollower, gold, solve
from trajevolve.envs.scienceworld.instance import Instance
from trajevolve.rollout import Episode, play
from trajevolve.trajectory import Trajectory

DOORS = {"hallway": ("kitchen", "bedroom"), "kitchen": ("hallway",), "bedroom": ("hallway",)}
SOLUTION = ("open door to kitchen", "go to kitchen", "focus on apple", "move apple to red box")


class Flat(Environment):
    """Three rooms that answer as the simulator does; apples can be carried, tables cannot."""

    spec = Spec(name="flat", snapshots=False, feasibility="answer")

    def reset(self, task: Task) -> Observation:
        self.room, self.held, self.shut = "hallway", set[str](), set[str]()
        return self._see(f"This room is called the {self.room}. In it, you see:")

    def gold(self, task: Task) -> Sequence[str]:
        return SOLUTION

    def step(self, action: str) -> Outcome:
        said, feasible, ticks = self._do(action)
        done = action == SOLUTION[-1] and self.room == "kitchen"
        return Outcome(self._see(said), feasible, done, done, 0.0, float(done), ticks)

    def kind(self, action: str) -> Kind:
        return kind_of(action)

    def task(self, ref: str) -> Task:
        return Task(ref, "flat", "find", "find an apple", ref, Instance("find", 0, ref))

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        return (self.task("easy"),)

    def _see(self, said: str) -> Observation:
        return Observation(said, None)

    def objects(self) -> Sequence[str]:
        return ("table", "mug", "apple", "red box", "agent", "air", self.room, *DOORS[self.room])

    def _do(self, action: str) -> tuple[str, bool, bool]:
        verb, _, rest = action.rpartition(" to ") if " to " in action else action.partition("  ")
        if action in ("look around", "inventory"):
            return "You see things.", True, False
        if verb == "go" and rest in DOORS[self.room] and rest not in self.shut:
            self.room = rest
            return f"You move to the {rest}.", True, True
        if verb in ("open door", "close door") and rest in DOORS[self.room]:
            (self.shut.discard if verb == "open door" else self.shut.add)(rest)
            return "The door is now as you like.", True, True
        if action == "pick up mug":
            self.held.add("mug")
            return "You move the mug to the inventory.", True, True
        if action == "put down mug" and "mug" in self.held:
            self.held.discard("mug")
            return "You move the mug to the hallway.", True, True
        if action.startswith("pick up"):
            return "The table is not moveable.", False, True
        known = ("look at", "examine", "focus on", "move apple", "wait1")
        return (
            ("Done.", True, True)
            if action.startswith(known)
            else ("No known action.", False, False)
        )


def episodes(clumsiness: Clumsiness, count: int) -> list[Trajectory]:
    env = Flat()
    task = env.task("easy")
    given = [Episode(str(seed), task, seed) for seed in range(count)]
    limit = EnvConfig(name="flat", step_limit=200)
    return play(given, ClumsyFollower(clumsiness), Flat, limit)


def only(kind: str) -> Clumsiness:
    weights = {each: float(each == kind) for each in KINDS}
    return Clumsiness(careful_share=0.0, careless=(0.5, 0.5), **weights)


def test_without_slips_it_is_the_solution_but_for_doors_that_are_open() -> None:
    (played,) = episodes(Clumsiness(careful_share=1.0, careful=(0.0, 0.0)), 1)
    assert played.actions == SOLUTION[1:]
    assert solve(Flat(), Flat().task("none")) == list(SOLUTION)
    assert solve(Flat(), Flat().task("openDoors")) == list(SOLUTION[1:])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_slip_happens_and_leads_back(kind: str) -> None:
    played = episodes(only(kind), 30)
    assert all(trajectory.success for trajectory in played)
    assert sum(map(len, played)) > 1.3 * 30 * len(SOLUTION[1:])


def test_what_was_picked_up_is_put_down_and_nothing_else() -> None:
    for played in episodes(only("fumble"), 40):
        counts = Counter(played.actions)
        assert counts["put down mug"] == counts["pick up mug"]
        assert not any(step.action == "put down table" for step in played.steps)


def test_confusion_is_not_executable() -> None:
    played = episodes(only("confuse"), 40)
    wrong = [s for t in played for s in t.steps if not s.valid]
    assert wrong and all(s.action not in SOLUTION for s in wrong)


def test_episodes_are_careful_or_careless_throughout() -> None:
    lengths = sorted(map(len, episodes(Clumsiness(), 200)))
    shortest = lengths.count(3) / 200
    assert 0.1 < shortest < 0.6
    assert lengths[-1] > 8


def test_slips_come_from_the_episodes_seed() -> None:
    first, again = (episodes(Clumsiness(), 10) for _ in range(2))
    assert [t.actions for t in first] == [t.actions for t in again]
    assert len({t.actions for t in first}) > 3


def test_other_environments_have_no_solutions() -> None:
    class Bare(Flat):
        gold = None  # type: ignore[assignment]

    with pytest.raises(TypeError, match="no solutions"):
        gold(Bare(), Flat().task("easy"))
