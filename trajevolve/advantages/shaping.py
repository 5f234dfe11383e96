"""Redundancy ratio and shaped reward (paper §3.3, appendix B.1)."""

from __future__ import annotations

from trajevolve.trajectory import Trajectory


def redundancy_ratio(trajectory: Trajectory) -> float:
    """ρ(τ) = (number of steps with y = 0) / T.

    0 for failures and for successes without labels: only what was proven redundant in an episode
    that reached its goal is penalised (paper, appendix B.1).
    """
    if not trajectory.success or not trajectory.steps:
        return 0.0
    return sum(step.label == 0 for step in trajectory.steps) / len(trajectory.steps)


def shaped_reward(reward: float, rho: float, alpha: float) -> float:
    """R̃(τ) = R(τ) - α·ρ(τ)."""
    return reward - alpha * rho
