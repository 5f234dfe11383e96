"""What a strategy hands to the rollout: recorded steps, and where the recording ends."""

from __future__ import annotations

from dataclasses import dataclass

from trajevolve.rollout import Kept
from trajevolve.trajectory import Step


@dataclass(frozen=True)
class Recording:
    """The beginning of an evolved trajectory.

    Attributes:
        kept: steps to execute again, in order.
        t_err: 0-based position in the parent of the step corrected or rolled back; None for
            redundancy elimination.
        resample: the policy continues after the kept steps; otherwise the episode ends there.
    """

    kept: tuple[Kept, ...]
    t_err: int | None
    resample: bool


def record(step: Step) -> Kept:
    """Keep `step` as it was answered, with the very tokens that were sampled."""
    return Kept(step.response, step.response_ids, step.action)
