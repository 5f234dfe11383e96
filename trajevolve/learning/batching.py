"""Cut sequences into mini-batches (optimiser steps) and micro-batches (forward passes)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from trajevolve.learning.sequences import TokenSequence


def mini_batches(
    sequences: Sequence[TokenSequence], steps: int, generator: np.random.Generator
) -> list[list[TokenSequence]]:
    """Shuffle `sequences` and cut them where at least `steps` environment steps are together.

    Sequences stay whole, so a batch of ``dialogue`` trajectories may hold a few steps more. A
    rest of less than half of `steps` joins the batch before it: a tiny batch would still cost a
    whole optimiser step.
    """
    batches: list[list[TokenSequence]] = []
    current: list[TokenSequence] = []
    held = 0
    for position in generator.permutation(len(sequences)):
        current.append(sequences[position])
        held += sequences[position].steps
        if held >= steps:
            batches.append(current)
            current, held = [], 0
    if batches and 2 * held < steps:
        batches[-1].extend(current)
    elif current:
        batches.append(current)
    return batches


def micro_batches(sequences: Sequence[TokenSequence], tokens: int) -> list[list[TokenSequence]]:
    """Pack `sequences` into forward passes of at most `tokens` padded tokens, longest first.

    Sorting by length keeps padding small. A sequence longer than `tokens` goes alone.
    """
    batches: list[list[TokenSequence]] = []
    for sequence in sorted(sequences, key=len, reverse=True):
        if batches and (len(batches[-1]) + 1) * len(batches[-1][0]) <= tokens:
            batches[-1].append(sequence)
        else:
            batches.append([sequence])
    return batches


@dataclass(frozen=True, eq=False)
class TokenBatch:
    """A micro-batch on the device: B rows, L padded positions, R response tokens in all.

    Attributes:
        ids: [B, L], padded on the right with 0. Under a causal model no real token sees what
            comes after it, so padding needs no mask.
        where: [R], flat positions in [B·L] whose output predicts a response token.
        targets: [R], the response tokens.
        step_of: [R], steps numbered from 0 over the batch.
        weight, advantage, old, reference: [R], see :class:`TokenSequence`.
        evolved: [R], bool.
    """

    ids: torch.Tensor
    where: torch.Tensor
    targets: torch.Tensor
    step_of: torch.Tensor
    weight: torch.Tensor
    advantage: torch.Tensor
    old: torch.Tensor
    reference: torch.Tensor
    evolved: torch.Tensor


def to_batch(rows: Sequence[TokenSequence], device: torch.device) -> TokenBatch:
    """Pad and flatten `rows`; their response tokens follow each other in row order."""
    width = max(len(row) for row in rows)
    ids = np.zeros((len(rows), width), dtype=np.int64)
    for line, row in zip(ids, rows, strict=True):
        line[: len(row)] = row.ids
    where = [index * width + row.targets - 1 for index, row in enumerate(rows)]
    offsets = np.cumsum([0] + [row.steps for row in rows])
    step_of = [
        row.step_of - row.step_of[0] + offset
        for row, offset in zip(rows, offsets[:-1], strict=True)
    ]

    def tensor(arrays: Sequence[np.ndarray]) -> torch.Tensor:
        return torch.from_numpy(np.concatenate(arrays)).to(device)

    return TokenBatch(
        ids=torch.from_numpy(ids).to(device),
        where=tensor(where),
        targets=tensor([row.ids[row.targets] for row in rows]),
        step_of=tensor(step_of),
        weight=tensor([row.weight for row in rows]),
        advantage=tensor([row.advantage for row in rows]),
        old=tensor([row.old for row in rows]),
        reference=tensor([row.reference for row in rows]),
        evolved=tensor([np.full(len(row.targets), row.evolved) for row in rows]),
    )
