"""The lane without snapshots, of which two can be walked at once."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from toys.lane import Lane
from trajevolve.envs.contract import Observation, Outcome, Task


class SlowLane(Lane):
    """Replay is the only snapshot; every object counts what it executes."""

    spec = replace(Lane.spec, name="lane", snapshots=False, exact_states=False, concurrent=2)
    made: ClassVar[list[SlowLane]] = []

    def __init__(self) -> None:
        super().__init__()
        self.executed = self.closed = self.tasks_reset = 0
        self.made.append(self)

    def reset(self, task: Task) -> Observation:
        self.tasks_reset += 1
        return super().reset(task)

    def step(self, action: str) -> Outcome:
        self.executed += 1
        return super().step(action)

    def close(self) -> None:
        self.closed += 1


class LoneLane(SlowLane):
    """Only one at a time."""

    spec = replace(SlowLane.spec, concurrent=1)
