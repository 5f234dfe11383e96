"""Verification of whole rollouts: labels, ρ and survivors for every successful trajectory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from trajevolve.config import CreditConfig
from trajevolve.credit.lots import Verdict, verify_lots
from trajevolve.credit.verification import Verification
from trajevolve.deadline import Deadline
from trajevolve.envs.contract import Environment, Task
from trajevolve.problems import Problem, told
from trajevolve.progress import advance
from trajevolve.trajectory import Trajectory, redundancy_ratio
from trajevolve.wording import counted


@dataclass(frozen=True)
class VerificationStats:
    """What verifying a batch came to.

    Attributes:
        trajectories: how many were given.
        successes: how many of them the rollout counts as solved.
        verified: successes that replayed and have labels.
        distinct: different (task, actions) pairs among those tried; equal ones are tried once.
        transitions: environment transitions executed.
        mean_redundancy: mean ρ of the verified, 0 without any.
        redundant_steps: steps with y = 0 in the verified.
        steps: all steps of the verified.
        problems: one for each success without labels.
        replays: sequences whose outcome was asked for: the trajectories and their counterfactuals.
        resets: how often a task was started anew.
        naive: transitions that complete replay of every sequence would have executed.
    """

    trajectories: int
    successes: int
    verified: int
    distinct: int
    transitions: int
    mean_redundancy: float
    redundant_steps: int
    steps: int
    problems: tuple[Problem, ...] = ()
    replays: int = 0
    resets: int = 0
    naive: int = 0

    @property
    def unverified(self) -> int:
        """Successes left without labels."""
        return self.successes - self.verified

    @property
    def warning(self) -> str:
        """One line on the successes left without labels and why; "" without any."""
        if not self.problems:
            return ""
        successes = counted(self.successes, "success", "successes")
        return f"{self.unverified:,} of {successes} left without labels: {told(self.problems)}"


def verify_trajectories(
    env: Environment,
    tasks_by_id: Mapping[str, Task],
    trajectories: Sequence[Trajectory],
    credit: CreditConfig,
    timeout_s: float | None = None,
    beside: Sequence[Environment] = (),
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
        timeout_s: longest time a transition may take (to twice that); None: for ever. With
            `beside`, most are executed in threads, where nothing is watched: those objects have
            to watch themselves.
        beside: more environment objects like `env`, to replay at the same time; only for those
            without snapshots. Labels and transitions are the same however fast each one is.

    Returns:
        The trajectories in the order given, and the statistics.
    """
    results = list(trajectories)
    verdicts: dict[int, Verdict] = {}
    successes = sum(trajectory.success for trajectory in results)
    with Deadline(timeout_s) as deadline:
        environments = (env, *beside)
        for index, verdict in verify_lots(environments, tasks_by_id, results, credit, deadline):
            verdicts[index] = verdict
            advance(len(verdicts), successes, "verified")
    problems: list[Problem] = []
    for index, trajectory in enumerate(trajectories):
        if (made := verdicts.get(index)) is None:
            continue
        if made.verification is None or made.verification.labels is None:
            problems.append(Problem(trajectory.id, trajectory.task_id, made.problem))
        else:
            results[index] = label(trajectory, made.verification)
    made_results = [v.verification for v in verdicts.values() if v.verification is not None]
    verified = [trajectory for trajectory in results if trajectory.verified]
    redundancies = [trajectory.rho for trajectory in verified]
    stats = VerificationStats(
        trajectories=len(results),
        successes=successes,
        verified=len(verified),
        distinct=sum(verdict.distinct for verdict in verdicts.values()),
        transitions=sum(verdict.transitions for verdict in verdicts.values()),
        mean_redundancy=sum(redundancies) / len(redundancies) if redundancies else 0.0,
        redundant_steps=sum(
            step.label == 0 for trajectory in verified for step in trajectory.steps
        ),
        steps=sum(map(len, verified)),
        problems=tuple(problems),
        replays=sum(result.replays for result in made_results),
        resets=sum(verdict.resets for verdict in verdicts.values()),
        naive=sum(result.naive for result in made_results),
    )
    return results, stats


def label(trajectory: Trajectory, verification: Verification) -> Trajectory:
    """Write a verification with labels, and the ρ of them, into the trajectory it belongs to."""
    labels = verification.labels
    if labels is None:
        return trajectory
    steps = tuple(
        replace(step, label=y, dependents=fallen)
        for step, y, fallen in zip(trajectory.steps, labels, verification.dependents, strict=True)
    )
    labelled = replace(
        trajectory,
        steps=steps,
        verified=True,
        minimal=verification.minimal,
        transitions=verification.transitions,
    )
    return replace(labelled, rho=redundancy_ratio(labelled))
