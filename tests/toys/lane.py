"""A lane with a goal at either end: one-word actions, which a tiny policy learns at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Spec, Task

GOALS = {"east": 3, "west": -3}
MOVES = {"forth": 1, "back": -1}


@dataclass(frozen=True)
class Place:
    position: int
    solved: bool


class Lane(Environment):
    """Start in the middle; three steps to the goal."""

    spec = Spec(
        name="lane",
        snapshots=True,
        feasibility="admissible",
        exact_states=True,
        kinds={"forth": Kind.CHANGING, "back": Kind.CHANGING, "look": Kind.INFORMATION},
    )

    def reset(self, task: Task) -> Observation:
        self.goal = int(task.payload)
        self.place = Place(0, False)
        return self._observe()

    def step(self, action: str) -> Outcome:
        feasible = action in self.spec.kinds
        if action in MOVES:
            position = max(-3, min(3, self.place.position + MOVES[action]))
            self.place = Place(position, position == self.goal)
        solved = self.place.solved
        return Outcome(self._observe(), feasible, solved, solved, float(solved), float(solved))

    def kind(self, action: str) -> Kind:
        return self.spec.kinds.get(action, Kind.CHANGING)

    def task(self, ref: str) -> Task:
        return next(task for task in self.tasks("all") if task.id == ref)

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        ends = [Task(end, "lane", end, f"go {end}", end, goal) for end, goal in GOALS.items()]
        return ends[:count]

    def success(self) -> bool:
        return self.place.solved

    def candidates(self) -> Sequence[str]:
        return tuple(self.spec.kinds)

    def snapshot(self) -> Place:
        return self.place

    def restore(self, mark: Place) -> None:
        self.place = mark

    def state_key(self) -> Place:
        return self.place

    def distance(self) -> float:
        return abs(self.goal - self.place.position)

    def _observe(self) -> Observation:
        number = self.place.position
        where = f"{abs(number)} {'east' if number > 0 else 'west'}" if number else "middle"
        return Observation(where, self.candidates())
