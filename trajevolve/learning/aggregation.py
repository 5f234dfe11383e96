"""How much each response token weighs in the objective (paper §3.3, the 1/T of the objective J).

The weights of one iteration sum to 1 over all its tokens and are fixed before mini-batches are
cut, so that a trajectory weighs the same whichever mini-batch it lands in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from trajevolve.trajectory import Step, Trajectory

Aggregation = Literal["trajectory-mean", "step-mean", "token-mean"]


def token_weights(
    trajectories: Sequence[Trajectory], aggregation: Aggregation
) -> list[tuple[float, ...]]:
    """Weight of every response token of each step, one tuple of T floats a trajectory.

    With M trajectories, S steps in all and L tokens in a response:

    * ``trajectory-mean``: 1 / (M·T·L), the paper's mean over steps of each trajectory;
    * ``step-mean``: 1 / (S·L);
    * ``token-mean``: 1 / (number of response tokens).

    Steps without a response token carry no weight of their own but count in T and S.
    """
    steps = [step for trajectory in trajectories for step in trajectory.steps]
    tokens = sum(len(step.response_ids) for step in steps)

    def weight(step: Step, trajectory: Trajectory) -> float:
        length = len(step.response_ids)
        if not length:
            return 0.0
        if aggregation == "trajectory-mean":
            return 1.0 / (len(trajectories) * len(trajectory) * length)
        return 1.0 / (len(steps) * length) if aggregation == "step-mean" else 1.0 / tokens

    return [
        tuple(weight(step, trajectory) for step in trajectory.steps) for trajectory in trajectories
    ]
