"""Seeds derived from what a draw is for, never from names, times or call order."""

from __future__ import annotations

import hashlib


def derive_seed(*parts: int | str) -> int:
    """Hash `parts` (config seed, iteration, task, trajectory, step …) to a 63-bit seed.

    Stable over processes and machines, unlike ``hash``.
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
