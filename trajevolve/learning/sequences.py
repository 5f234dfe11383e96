"""Trajectories as training sequences, with everything the loss needs for each response token.

``dialogue``: one sequence a trajectory, the concatenation of all prompt and response tokens.
``window``: one sequence a step. Only response tokens are targets; prompt tokens carry no loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from trajevolve.learning.aggregation import Aggregation, token_weights
from trajevolve.trajectory import Step, Trajectory

Integers = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class TokenSequence:
    """One row of a forward pass. Arrays have one entry for each of its R response tokens.

    Attributes:
        trajectory: position of its trajectory in the list it was made from.
        steps: how many steps it holds, counted by mini-batches.
        ids: all L tokens, prompts and responses.
        targets: positions of the response tokens in `ids`, each ≥ 1.
        step_of: 0-based position of the token's step inside the trajectory.
        weight: share in the objective, see :func:`token_weights`.
        advantage: A(a_t) of the token's step.
        old: log-probability before the first optimiser step; NaN where it is not known yet.
        sampler: log-probability under the sampler; NaN where it is not known.
        reference: log-probability under the reference model; NaN where it is not known yet.
        evolved: the trajectory was built by evolution, not sampled as a whole.
    """

    trajectory: int
    steps: int
    ids: Integers
    targets: Integers
    step_of: Integers
    weight: Floats
    advantage: Floats
    old: Floats
    sampler: Floats
    reference: Floats
    evolved: bool

    def __len__(self) -> int:
        """L, the tokens that a forward pass reads."""
        return len(self.ids)


def to_sequences(
    trajectories: Sequence[Trajectory], aggregation: Aggregation
) -> list[TokenSequence]:
    """Lay out `trajectories`, in order; sequences without a response token are left out.

    Raises:
        ValueError: a response has no token before it, so nothing predicts its first token.
    """
    weights = token_weights(trajectories, aggregation)
    rows: list[TokenSequence] = []
    for position, (trajectory, weight) in enumerate(zip(trajectories, weights, strict=True)):
        every = range(len(trajectory))
        cuts = [every] if trajectory.layout == "dialogue" else [range(t, t + 1) for t in every]
        for cut in cuts:
            if any(trajectory.steps[t].response_ids for t in cut):
                rows.append(_sequence(position, trajectory, weight, cut))
    return rows


def _sequence(
    position: int, trajectory: Trajectory, weights: Sequence[float], cut: range
) -> TokenSequence:
    steps = [trajectory.steps[t] for t in cut]
    lengths = [len(step.response_ids) for step in steps]
    targets = _targets(steps)
    if targets[0] == 0:
        raise ValueError(f"trajectory {trajectory.id}: the first step has no prompt tokens")
    ids = chain.from_iterable(step.prompt_ids + step.response_ids for step in steps)
    return TokenSequence(
        trajectory=position,
        steps=len(steps),
        ids=np.fromiter(ids, dtype=np.int64),
        targets=targets,
        step_of=np.repeat(np.arange(cut.start, cut.stop), lengths),
        weight=np.repeat(np.array([weights[t] for t in cut], dtype=np.float32), lengths),
        advantage=np.repeat(np.array([s.advantage for s in steps], dtype=np.float32), lengths),
        old=_known([step.old_logprobs for step in steps], lengths),
        sampler=_known([step.sampler_logprobs for step in steps], lengths),
        reference=np.full(sum(lengths), np.nan, dtype=np.float32),
        evolved=trajectory.evolution is not None,
    )


def _targets(steps: Sequence[Step]) -> Integers:
    positions: list[int] = []
    end = 0
    for step in steps:
        start = end + len(step.prompt_ids)
        end = start + len(step.response_ids)
        positions.extend(range(start, end))
    return np.array(positions, dtype=np.int64)


def _known(values: Sequence[Sequence[float]], lengths: Sequence[int]) -> Floats:
    """Concatenate per-step log-probabilities; NaN for steps that have none."""
    filled = [
        value if len(value) == length else (np.nan,) * length
        for value, length in zip(values, lengths, strict=True)
    ]
    return np.fromiter(chain.from_iterable(filled), dtype=np.float32)
