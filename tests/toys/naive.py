"""Hindsight verification by reset and replay alone, written apart from the package's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajevolve.envs.contract import Environment, Kind, Task


@dataclass
class Naive:
    """One trajectory; every question is answered by a replay from the start."""

    env: Environment
    task: Task
    actions: Sequence[str]

    def base(self) -> bool:
        self.env.reset(self.task)
        self.kept: list[int] = []
        self.soft: set[int] = set()
        self.groups: list[set[int]] = []
        solved = self.env.success()
        for position, action in enumerate(self.actions):
            if solved:
                break
            outcome = self.env.step(action)
            by_answer = self.env.spec.feasibility == "answer"
            if outcome.feasible or (by_answer and outcome.costs_step):
                self.kept.append(position)
                if not outcome.feasible:
                    self.soft.add(position)
            solved = outcome.success
            if outcome.done:
                break
        executed = [self.actions[p] for p in self.kept]
        self.groups = [{self.kept[i] for i in group} for group in self.env.coupled(executed)]
        return solved

    def group(self, position: int) -> set[int]:
        return next((group for group in self.groups if position in group), {position})

    def is_information(self, position: int) -> bool:
        return any(self.env.kind(self.actions[p]) == Kind.INFORMATION for p in self.group(position))

    def replay(self, positions: Sequence[int]) -> tuple[bool, list[int], set[int]]:
        """(V, executed, D); starts over without whatever turns out not to be executable."""
        out: set[int] = set()
        while True:
            answer = self._attempt([p for p in positions if p not in out])
            if isinstance(answer, int):
                out |= self.group(answer)
                continue
            return answer[0], answer[1], set(positions) - set(answer[1])

    def _attempt(self, positions: Sequence[int]) -> int | tuple[bool, list[int]]:
        self.env.reset(self.task)
        executed: list[int] = []
        for position in positions:
            outcome = self.env.step(self.actions[position])
            failed_softly = position in self.soft and outcome.costs_step
            if not outcome.feasible and not failed_softly:
                return position
            executed.append(position)
            if outcome.success or outcome.done:
                return outcome.success, executed
        return False, executed

    def independent(self) -> tuple[list[int], list[set[int]]]:
        labels = [int(p in self.kept) for p in range(len(self.actions))]
        dependents: list[set[int]] = [set() for _ in self.actions]
        for t in self.kept:
            if self.is_information(t) or labels[t] == 0:
                continue
            success, _, fallen = self.replay([p for p in self.kept if p not in self.group(t)])
            dependents[t] = fallen
            if success:
                for p in self.group(t) | fallen:
                    labels[p] = int(self.is_information(p))
        return labels, dependents

    def cumulative(self, backward: bool = True) -> tuple[list[int], list[int]]:
        current = list(self.kept)
        shrinking = True
        while shrinking:
            shrinking = False
            for t in sorted(self.kept, reverse=backward):
                if t not in current or self.is_information(t):
                    continue
                success, executed, _ = self.replay([p for p in current if p not in self.group(t)])
                if success:
                    current, shrinking = executed, True
        labels = [
            int(p in current or (p in self.kept and self.is_information(p)))
            for p in range(len(self.actions))
        ]
        return labels, current
