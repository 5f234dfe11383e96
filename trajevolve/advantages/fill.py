"""Write the parts of an advantage into the members of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trajevolve.trajectory import Group, Trajectory, redundancy_ratio


def fill(
    group: Group,
    shaped: Sequence[float],
    episode: Sequence[float],
    step: Sequence[Sequence[float]],
    lam: float,
) -> Group:
    """Return `group` with A(a_t) = A^E(τ_i) + λ·A^S(a_t) and its parts in place.

    Args:
        group: N sampled and m evolved trajectories.
        shaped: R̃ of each member, sampled ones first.
        episode: A^E of each member.
        step: A^S of each step of each member.
        lam: λ, the weight of A^S.
    """
    members = tuple(
        _fill_member(member, reward, relative, credit, lam)
        for member, reward, relative, credit in zip(group, shaped, episode, step, strict=True)
    )
    count = len(group.sampled)
    return replace(group, sampled=members[:count], evolved=members[count:])


def _fill_member(
    member: Trajectory, shaped: float, episode: float, step: Sequence[float], lam: float
) -> Trajectory:
    steps = tuple(
        replace(taken, step_advantage=value, advantage=episode + lam * value)
        for taken, value in zip(member.steps, step, strict=True)
    )
    return replace(
        member,
        steps=steps,
        rho=redundancy_ratio(member),
        shaped_reward=shaped,
        episode_advantage=episode,
    )
