"""The same environment with less to offer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Task


class Limited(Environment):
    """An environment without exact states, and without snapshots unless asked to keep them."""

    def __init__(self, inner: Environment, snapshots: bool = False, exact: bool = False) -> None:
        self.inner = inner
        self.spec = replace(
            inner.spec,
            snapshots=snapshots and inner.spec.snapshots,
            exact_states=exact and inner.spec.exact_states,
        )

    def reset(self, task: Task) -> Observation:
        return self.inner.reset(task)

    def step(self, action: str) -> Outcome:
        return self.inner.step(action)

    def kind(self, action: str) -> Kind:
        return self.inner.kind(action)

    def task(self, ref: str) -> Task:
        return self.inner.task(ref)

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        return self.inner.tasks(split, count, seed)

    def success(self) -> bool:
        return self.inner.success()

    def coupled(self, actions: Sequence[str]) -> Iterable[tuple[int, ...]]:
        return self.inner.coupled(actions)

    def canonical(self, action: str) -> str:
        return self.inner.canonical(action)

    def candidates(self) -> Sequence[str]:
        return self.inner.candidates()

    def snapshot(self) -> Any:
        return self.inner.snapshot() if self.spec.snapshots else super().snapshot()

    def restore(self, mark: Any) -> None:
        if not self.spec.snapshots:
            super().restore(mark)
        self.inner.restore(mark)

    def state_key(self) -> Hashable:
        return self.inner.state_key() if self.spec.exact_states else super().state_key()
