"""What the advantages of one iteration look like, for the curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from trajevolve.advantages.normalise import MIN_RANGE
from trajevolve.config import RunConfig
from trajevolve.trajectory import Group, Trajectory


def advantage_metrics(
    groups: Sequence[Group], original: Sequence[Group], config: RunConfig
) -> dict[str, float]:
    """Summarise groups whose advantages are filled in. Empty without trajectories.

    ``sampled/…`` are statistics of the policy's own N, ``members/…`` of all that are learned from:
    accepted successes lift the second by themselves. ``rho_spread_share`` is
    Var(R̃-R) / (Var(R̃-R) + Var(R)) of a group, averaged over the groups with any spread.

    Args:
        groups: all members; evolved ones may have replaced their parents.
        original: the same groups as they were sampled.
        config: the run's.
    """
    sampled = [trajectory for group in original for trajectory in group]
    members = [trajectory for group in groups for trajectory in group]
    if not sampled:
        return {}
    outcomes = [{trajectory.success for trajectory in group} for group in original]
    return {
        "all_success_groups": _mean(outcome == {True} for outcome in outcomes),
        "all_failure_groups": _mean(outcome == {False} for outcome in outcomes),
        "flat_groups": _mean(not any(t.episode_advantage for t in group) for group in groups),
        "rho_spread_share": _mean(_rho_shares(groups)),
        **_population("sampled", sampled, [group.members for group in original], config),
        **_population("members", members, [group.members for group in groups], config),
        **_magnitudes(members),
    }


def _population(
    name: str,
    trajectories: Sequence[Trajectory],
    groups: Sequence[Sequence[Trajectory]],
    config: RunConfig,
) -> dict[str, float]:
    return {
        f"{name}/count": float(len(trajectories)),
        f"{name}/success_rate": _mean(t.success for t in trajectories),
        f"{name}/reward_mean": _mean(t.reward for t in trajectories),
        f"{name}/reward_std": _mean(_deviation(group, config.learner.ddof) for group in groups),
        f"{name}/shaped_reward_mean": _mean(t.shaped_reward for t in trajectories),
        f"{name}/rho_of_successes": _mean(t.rho for t in trajectories if t.success),
        f"{name}/steps": _mean(len(t) for t in trajectories),
    }


def _magnitudes(members: Sequence[Trajectory]) -> dict[str, float]:
    steps = [step for trajectory in members for step in trajectory.steps]
    return {
        "advantage_abs": _mean(abs(step.advantage) for step in steps),
        "episode_advantage_abs": _mean(abs(t.episode_advantage) for t in members for _ in t.steps),
        "step_advantage_abs": _mean(abs(step.step_advantage) for step in steps),
        "credited_steps": _mean(step.step_advantage != 0 for step in steps),
    }


def _rho_shares(groups: Iterable[Group]) -> Iterable[float]:
    for group in groups:
        reward = _variance([t.reward for t in group])
        shaping = _variance([t.shaped_reward - t.reward for t in group])
        if reward + shaping > 0:
            yield shaping / (reward + shaping)


def _variance(values: Sequence[float]) -> float:
    return float(np.var(values)) if np.ptp(values) >= MIN_RANGE else 0.0


def _deviation(group: Sequence[Trajectory], ddof: int) -> float:
    return float(np.std([t.reward for t in group], ddof=ddof)) if len(group) > ddof else 0.0


def _mean(values: Iterable[float]) -> float:
    """Mean, 0 without values: a NaN would break the curves."""
    array = np.fromiter(values, dtype=np.float64)
    return float(array.mean()) if array.size else 0.0
