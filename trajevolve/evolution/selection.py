"""Which trajectories of a group are evolved, and how (paper §3.4)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from trajevolve.evolution.elimination import has_removable_step
from trajevolve.trajectory import Group, Strategy, Trajectory

Locate = Callable[[Trajectory], int | None]
"""Finds the step that a failure is rolled back to; None where there is none."""


@dataclass(frozen=True)
class Candidate:
    """An eligible trajectory.

    Attributes:
        parent: the trajectory.
        strategy: what its outcome calls for.
        t_err: where rollback starts; None for the other two.
    """

    parent: Trajectory
    strategy: Strategy
    t_err: int | None = None


def classify(trajectory: Trajectory, error_step: Locate) -> Candidate | None:
    """Decide the strategy of `trajectory`, None where it is not eligible.

    A success needs a removable step, a failure either an invalid action or a step to roll back
    to. Broken episodes are left alone.
    """
    if trajectory.broken:
        return None
    if trajectory.success:
        removable = has_removable_step(trajectory)
        return Candidate(trajectory, "elimination") if removable else None
    if trajectory.invalid_steps:
        return Candidate(trajectory, "correction")
    t_err = error_step(trajectory)
    return None if t_err is None else Candidate(trajectory, "rollback", t_err)


def select(
    group: Group,
    per_group: int,
    strategies: Collection[Strategy],
    error_step: Locate,
) -> list[Candidate]:
    """Take the `per_group` eligible trajectories that need evolution most.

    Ranked by the share of invalid actions, then by length, higher first; equal ones keep the
    order of the group.
    """
    classified = (classify(trajectory, error_step) for trajectory in group.sampled)
    eligible = [c for c in classified if c is not None and c.strategy in strategies]
    return sorted(eligible, key=_need)[:per_group]


def _need(candidate: Candidate) -> tuple[float, int]:
    parent = candidate.parent
    return -parent.invalid_steps / len(parent), -len(parent)
