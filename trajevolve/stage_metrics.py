"""The numbers that a stage commits with what it made; none of them is a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from trajevolve.trajectory import Trajectory

if TYPE_CHECKING:
    from trajevolve.credit.labelling import VerificationStats
    from trajevolve.evaluation import Evaluation


def rollout_metrics(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    """Summarise what the policy did; steps of successes are left out when there are none."""
    count = len(trajectories)
    actions = sum(map(len, trajectories))
    solved = [len(trajectory) for trajectory in trajectories if trajectory.success]
    metrics = {
        "episodes": float(count),
        "success": len(solved) / count,
        "reward": sum(trajectory.reward for trajectory in trajectories) / count,
        "score": sum(trajectory.score for trajectory in trajectories) / count,
        "steps": actions / count,
        "invalid_share": sum(t.invalid_steps for t in trajectories) / max(actions, 1),
        "truncated_share": sum(t.truncated_prompts for t in trajectories) / max(actions, 1),
        "step_reward_max": max((abs(s.reward) for t in trajectories for s in t.steps), default=0.0),
        "errors": float(sum(t.broken for t in trajectories)),
    }
    if solved:
        metrics["steps_successful"] = sum(solved) / len(solved)
    return metrics


def verification_metrics(stats: VerificationStats) -> dict[str, float]:
    """Numbers of the verification."""
    return {
        "successes": float(stats.successes),
        "verified": float(stats.verified),
        "unverified": float(stats.unverified),
        "distinct": float(stats.distinct),
        "replays": float(stats.replays),
        "resets": float(stats.resets),
        "transitions": float(stats.transitions),
        "transitions_naive": float(stats.naive),
        "redundancy": stats.mean_redundancy,
        "redundant_steps": float(stats.redundant_steps),
        "steps": float(stats.steps),
    }


def evaluation_metrics(result: Evaluation) -> dict[str, float]:
    """Flatten the overall row and the success rate by task type."""
    row = {name: value for name, value in asdict(result.overall).items() if name != "tasks"}
    flat = {name: float(value) for name, value in row.items() if isinstance(value, float | int)}
    for name, of_type in result.types.items():
        if of_type.success is not None:
            flat[f"success/{name}"] = of_type.success
    return flat


def without_timings(metrics: Mapping[str, float]) -> dict[str, float]:
    """Times differ between equal runs; the ledger keeps its own."""
    return {name: value for name, value in metrics.items() if not name.startswith("seconds")}
