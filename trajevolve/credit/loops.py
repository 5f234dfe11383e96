"""Loops: stretches of a trajectory that end in the state they began in."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def longest_loop(
    states: Sequence[Hashable], open_at: Sequence[bool], changing: Sequence[bool]
) -> tuple[int, int] | None:
    """Find the longest (i, j) with s_i = s_j, the leftmost among equals, or None.

    Steps i … j-1 can go together: what follows sees the same state. A loop of information steps
    alone removes nothing and is none.

    Args:
        states: s_0 … s_n around the n steps; equal exactly when states are.
        open_at: n + 1 flags, False where a cut would split a coupled group.
        changing: n flags, whether the step is environment-changing.
    """
    first: dict[Hashable, int] = {}
    last: dict[Hashable, int] = {}
    for index, (state, is_open) in enumerate(zip(states, open_at, strict=True)):
        if is_open:
            first.setdefault(state, index)
            last[state] = index
    best: tuple[int, int] | None = None
    for state, start in first.items():  # by ascending start, so the first of equals stays
        end = last[state]
        if (best is None or end - start > best[1] - best[0]) and any(changing[start:end]):
            best = (start, end)
    return best
