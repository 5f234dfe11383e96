"""Verification of whole rollouts: labels, ρ and survivors for every successful trajectory."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from trajevolve.config import CreditConfig
from trajevolve.credit.replay import ReplayGraph
from trajevolve.credit.verification import Verification, verify_on
from trajevolve.deadline import Deadline
from trajevolve.envs.contract import Environment, Task
from trajevolve.trajectory import Trajectory


@dataclass(frozen=True)
class VerificationStats:
    """What verifying a batch came to.

    Attributes:
        trajectories: how many were given.
        successes: how many of them the rollout counts as solved.
        verified: successes that replayed and have labels.
        distinct: different (task, actions) pairs among those tried; equal ones are tried once.
        transitions: environment transitions executed.
        cpu_seconds: processor time of this process.
        mean_redundancy: mean ρ of the verified, 0 without any.
        redundant_steps: steps with y = 0 in the verified.
        steps: all steps of the verified.
        problems: a line for each success without labels, naming it and the reason.
    """

    trajectories: int
    successes: int
    verified: int
    distinct: int
    transitions: int
    cpu_seconds: float
    mean_redundancy: float
    redundant_steps: int
    steps: int
    problems: tuple[str, ...] = ()

    @property
    def unverified(self) -> int:
        """Successes left without labels."""
        return self.successes - self.verified


def verify_trajectories(
    env: Environment,
    tasks_by_id: Mapping[str, Task],
    trajectories: Sequence[Trajectory],
    credit: CreditConfig,
    timeout_s: float | None = None,
) -> tuple[list[Trajectory], VerificationStats]:
    """Label every successful trajectory by hindsight verification (paper §3.2).

    Fills label and dependents of the steps, and rho, verified, minimal and transitions of the
    trajectory. Failures come back as they are. So does a success whose replay does not succeed,
    or whose environment fails or hangs: A^S = 0 and ρ = 0 there, and the others are not affected.

    Args:
        env: one environment for all; trajectories of the same task share its transitions.
        tasks_by_id: the tasks of the trajectories.
        trajectories: any number, of any tasks, in any order.
        credit: mode, order and loop pre-pass.
        timeout_s: longest time a transition may take (to twice that); None: for ever.

    Returns:
        The trajectories in the order given, and the statistics.
    """
    started = time.process_time()
    results = list(trajectories)
    problems: list[str] = []
    with Deadline(timeout_s) as deadline:
        verifier = _Verifier(env, tasks_by_id, credit, deadline)
        for index in _by_task(trajectories):
            trajectory = trajectories[index]
            verification, problem = verifier.verify(trajectory)
            if verification is None or verification.labels is None:
                problems.append(f"{trajectory.id} ({trajectory.task_id}): {problem}")
            else:
                results[index] = label(trajectory, verification)
    verified = [trajectory for trajectory in results if trajectory.verified]
    redundancies = [trajectory.rho for trajectory in verified]
    stats = VerificationStats(
        trajectories=len(results),
        successes=sum(trajectory.success for trajectory in results),
        verified=len(verified),
        distinct=verifier.distinct,
        transitions=verifier.transitions,
        cpu_seconds=time.process_time() - started,
        mean_redundancy=sum(redundancies) / len(redundancies) if redundancies else 0.0,
        redundant_steps=sum(
            step.label == 0 for trajectory in verified for step in trajectory.steps
        ),
        steps=sum(map(len, verified)),
        problems=tuple(problems),
    )
    return results, stats


def label(trajectory: Trajectory, verification: Verification) -> Trajectory:
    """Write a verification with labels into the trajectory it belongs to.

    ρ(τ) is the share of all T steps with y = 0, invalid ones included (paper §3.3).
    """
    labels = verification.labels
    if labels is None:
        return trajectory
    steps = tuple(
        replace(step, label=y, dependents=fallen)
        for step, y, fallen in zip(trajectory.steps, labels, verification.dependents, strict=True)
    )
    return replace(
        trajectory,
        steps=steps,
        rho=labels.count(0) / len(labels) if labels else 0.0,
        verified=True,
        minimal=verification.minimal,
        transitions=verification.transitions,
    )


class _Verifier:
    """Verifies trajectory after trajectory, with one replay graph for those of a task."""

    def __init__(
        self,
        env: Environment,
        tasks_by_id: Mapping[str, Task],
        credit: CreditConfig,
        deadline: Deadline,
    ) -> None:
        self.env = env
        self.tasks_by_id = tasks_by_id
        self.credit = credit
        self.deadline = deadline
        self.distinct = 0
        self.transitions = 0
        self._task_id = ""
        self._graph: ReplayGraph | None = None
        self._seen: dict[tuple[object, ...], Verification] = {}

    def verify(self, trajectory: Trajectory) -> tuple[Verification | None, str]:
        """Return the verification, and why there are no labels when there are none."""
        if trajectory.task_id != self._task_id:
            self._task_id, self._graph, self._seen = trajectory.task_id, None, {}
        valid = self._usable(trajectory)
        key = (trajectory.actions, valid)
        if key in self._seen:
            return replace(self._seen[key], transitions=0), "its replay does not succeed"
        self.distinct += 1
        before = self._executed()
        try:
            result = self.deadline.within(lambda: self._replay(trajectory, valid), self._executed)
        except Exception as error:  # whatever an environment does, the other trajectories count
            self.transitions += self._executed() - before
            self._graph = None
            return None, f"{type(error).__name__}: {error}"
        self.transitions += self._executed() - before
        self._seen[key] = result
        return result, "its replay does not succeed"

    def _replay(self, trajectory: Trajectory, valid: Sequence[bool]) -> Verification:
        if self._graph is None:
            self._graph = ReplayGraph(self.env, self.tasks_by_id[trajectory.task_id])
        return verify_on(
            self._graph,
            trajectory.actions,
            mode=self.credit.mode,
            order=self.credit.order,
            loop_prepass=self.credit.loop_prepass,
            valid=valid,
        )

    def _executed(self) -> int:
        return self._graph.transitions if self._graph else 0

    def _usable(self, trajectory: Trajectory) -> tuple[bool, ...]:
        """Say which steps take part: the valid ones and, by answer, those that cost time."""
        soft = self.env.spec.feasibility == "answer"
        return tuple(
            step.action is not None and (step.valid or (soft and step.costs_step))
            for step in trajectory.steps
        )


def _by_task(trajectories: Sequence[Trajectory]) -> Iterable[int]:
    """Return the indices of the successes, those of a task together."""
    successes = [index for index, each in enumerate(trajectories) if each.success]
    first: dict[str, int] = {}
    for index in successes:
        first.setdefault(trajectories[index].task_id, index)
    return sorted(successes, key=lambda index: (first[trajectories[index].task_id], index))
