"""Redundancy elimination: a success without the steps it did not need (paper §3.4).

Built from the cumulative survivors of hindsight verification, never from labels found one by
one: those need not hold together.
"""

from __future__ import annotations

from trajevolve.evolution.recording import Recording, record
from trajevolve.trajectory import Trajectory


def has_removable_step(trajectory: Trajectory) -> bool:
    """Say whether `trajectory` is a verified success with a step outside its survivors."""
    return trajectory.success and trajectory.verified and len(trajectory.minimal) < len(trajectory)


def eliminate(parent: Trajectory) -> Recording:
    """Record the surviving steps of `parent`, in order; nothing is generated after them."""
    survivors = (parent.steps[position] for position in sorted(parent.minimal))
    return Recording(tuple(record(step) for step in survivors), t_err=None, resample=False)
