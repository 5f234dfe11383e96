"""Many questions about one trajectory in one forward pass.

Every question is packed behind the shared trajectory; the attention mask lets it read the
trajectory and itself, and its positions go on from the trajectory's end. So each answer is the one
that the question alone would get, at a fraction of the cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from trajevolve.credit.judge_input import JudgeInput

_PADDING = -1
_PREFIX = 0


@dataclass(frozen=True)
class JudgeBatch:
    """Packed inputs of B trajectories, L tokens at most, Q questions in all.

    Attributes:
        ids: token ids, [B, L].
        positions: position ids, [B, L].
        mask: additive attention mask, [B, 1, L, L].
        rows: row of each question, [Q].
        ends: column of each question's last token, [Q].
    """

    ids: torch.Tensor
    positions: torch.Tensor
    mask: torch.Tensor
    rows: torch.Tensor
    ends: torch.Tensor


def pack(
    inputs: Sequence[JudgeInput], pad_id: int, dtype: torch.dtype, device: str | torch.device
) -> JudgeBatch:
    """Pack `inputs`; questions come out in the order of the inputs, then of their ``queries``."""
    width = max(item.tokens for item in inputs)
    ids = torch.full((len(inputs), width), pad_id)
    positions = torch.zeros((len(inputs), width), dtype=torch.long)
    segments = torch.full((len(inputs), width), _PADDING)
    rows: list[int] = []
    ends: list[int] = []
    for row, item in enumerate(inputs):
        end = len(item.prefix)
        ids[row, :end] = torch.tensor(item.prefix)
        positions[row, :end] = torch.arange(end)
        segments[row, :end] = _PREFIX
        for number, query in enumerate(item.queries, start=1):
            start, end = end, end + len(query)
            ids[row, start:end] = torch.tensor(query)
            positions[row, start:end] = torch.arange(len(query)) + len(item.prefix)
            segments[row, start:end] = number
            rows.append(row)
            ends.append(end - 1)
    return JudgeBatch(
        ids.to(device),
        positions.to(device),
        _attention_mask(segments, dtype).to(device),
        torch.tensor(rows, device=device),
        torch.tensor(ends, device=device),
    )


def _attention_mask(segments: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Allow earlier tokens of the prefix or of the own question; padding sees only itself."""
    width = segments.shape[1]
    earlier = torch.ones(width, width, dtype=torch.bool).tril()
    reader, read = segments[:, :, None], segments[:, None, :]
    allowed = earlier & (reader != _PADDING) & ((read == _PREFIX) | (read == reader))
    allowed |= torch.eye(width, dtype=torch.bool)
    mask = torch.zeros(allowed.shape, dtype=dtype)
    return mask.masked_fill(~allowed, torch.finfo(dtype).min)[:, None]
