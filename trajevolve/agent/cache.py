"""A key-value cache whose rows have different lengths, for episodes that advance unevenly.

Row r holds the keys of positions 0 … length_r - 1 without holes, so attention runs over the
longest row and not over the sum of all paddings. Padding is written behind a row's end, where a
causal mask hides it and the next write covers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

GROWTH = 256


@dataclass
class Window:
    """Which rows the next forward pass writes, and where.

    Attributes:
        rows: [B] row numbers, or None for all rows in order.
        positions: [B, Q] absolute positions of the new tokens.
        length: keys shown to attention, at least the largest position + 1.
    """

    rows: torch.Tensor | None
    positions: torch.Tensor
    length: int


class RaggedLayer(CacheLayerMixin):
    """Keys and values of one layer, stored as [rows, capacity, heads, head_dim]."""

    is_sliding = False
    window: Window
    total_rows: int = 0

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Allocate nothing yet; remember shapes from the first states."""
        heads, dim = key_states.shape[1], key_states.shape[3]
        self.keys = key_states.new_zeros(0, 0, heads, dim)
        self.values = value_states.new_zeros(0, 0, heads, value_states.shape[3])
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write [B, heads, Q, dim] at the window's places; return all keys of its rows."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        window = self.window
        reach = max(window.length, int(window.positions.max()) + 1)
        self.keys = _grown(self.keys, self.total_rows, reach)
        self.values = _grown(self.values, self.total_rows, reach)
        rows = window.rows
        index = torch.arange(self.total_rows, device=self.keys.device) if rows is None else rows
        self.keys[index[:, None], window.positions] = key_states.transpose(1, 2)
        self.values[index[:, None], window.positions] = value_states.transpose(1, 2)
        keys, values = self.keys[:, : window.length], self.values[:, : window.length]
        if rows is not None:
            keys, values = keys[rows], values[rows]
        return keys.transpose(1, 2), values.transpose(1, 2)

    def copy_row(self, source: int, targets: torch.Tensor, length: int) -> None:
        """Give `targets` the first `length` positions of row `source`."""
        self.keys[targets, :length] = self.keys[source, :length]
        self.values[targets, :length] = self.values[source, :length]

    def keep_rows(self, rows: torch.Tensor) -> None:
        """Keep only `rows`, in that order."""
        if self.is_initialized:
            self.keys, self.values = self.keys[rows], self.values[rows]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the key length and offset of the next pass."""
        return self.window.length, 0

    def get_seq_length(self) -> int:
        """Return the capacity in use; positions are always given explicitly."""
        return self.window.length

    def get_max_length(self) -> int:
        """Return -1: it grows."""
        return -1


def _grown(tensor: torch.Tensor, rows: int, reach: int) -> torch.Tensor:
    """Return `tensor` with room for `rows` rows and `reach` positions, old content kept."""
    if tensor.shape[0] >= rows and tensor.shape[1] >= reach:
        return tensor
    capacity = max(tensor.shape[1], -(-reach // GROWTH) * GROWTH)
    grown = tensor.new_zeros(max(rows, tensor.shape[0]), capacity, *tensor.shape[2:])
    grown[: tensor.shape[0], : tensor.shape[1]] = tensor
    return grown


class RaggedCache(Cache):
    """One :class:`RaggedLayer` per layer of the model, and which slot owns which row."""

    def __init__(self, layers: int) -> None:
        super().__init__(layers=[RaggedLayer() for _ in range(layers)])
        self.slots: list[int] = []
        self.tokens: dict[int, list[int]] = {}

    def open(self, slot: int) -> None:
        """Give `slot` an empty row at the end."""
        self.slots.append(slot)
        self.tokens[slot] = []
        for layer in self.layers:
            layer.total_rows = len(self.slots)

    def release(self, slots: set[int]) -> None:
        """Drop the rows of `slots`."""
        keep = [row for row, slot in enumerate(self.slots) if slot not in slots]
        if len(keep) == len(self.slots):
            return
        self.slots = [self.slots[row] for row in keep]
        self.tokens = {slot: self.tokens[slot] for slot in self.slots}
        rows = torch.tensor(keep, dtype=torch.long)
        for layer in self.layers:
            layer.keep_rows(rows.to(layer.keys.device) if layer.is_initialized else rows)
            layer.total_rows = len(keep)

    def share(self, source: int, targets: list[int]) -> None:
        """Copy the whole row of slot `source` to the rows of slots `targets`."""
        rows = {slot: row for row, slot in enumerate(self.slots)}
        content = self.tokens[source]
        for layer in self.layers:
            index = torch.tensor([rows[slot] for slot in targets], device=layer.keys.device)
            layer.copy_row(rows[source], index, len(content))
        for slot in targets:
            self.tokens[slot] = list(content)

    def place(self, slots: list[int], positions: torch.Tensor, length: int) -> None:
        """Say where the next forward pass writes: tokens of `slots` at `positions` [B, Q]."""
        numbers = {slot: row for row, slot in enumerate(self.slots)}
        rows: torch.Tensor | None = None
        if slots != self.slots:
            rows = torch.tensor([numbers[slot] for slot in slots], device=positions.device)
        for layer in self.layers:
            layer.window = Window(rows, positions, length)
