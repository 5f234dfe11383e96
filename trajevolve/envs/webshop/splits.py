"""Which goals train, choose and test: fixed by their places in the fixed order.

The numbers are shipped as files with hashes of what the goals ask for. Two goals that ask for the
same never stand in two splits: the later split goes without.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

NAMES = ("test", "dev", "train")
TEST, DEV = 500, 1000
LEAST = 3000
"""Goals below which a tenth each goes to test and dev."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """One split.

    Attributes:
        numbers: of its goals, ascending.
        sha256: of the digests of its goals, in that order.
        left_out: goals of its range that ask for what one of an earlier split asks for.
    """

    numbers: Numbers
    sha256: str
    left_out: int

    def summary(self) -> dict[str, Any]:
        """What the catalogue's manifest says of it."""
        return {"goals": len(self.numbers), "sha256": self.sha256, "left_out": self.left_out}


def cut(digests: npt.NDArray[np.uint64]) -> dict[str, Split]:
    """Cut goals into test, dev and train.

    Places 0-499 test, 500-1,499 dev, the rest train; of fewer than 3,000 goals a tenth each.

    Args:
        digests: of each goal by number; equal ones ask for the same.
    """
    count = len(digests)
    test, dev = (TEST, DEV) if count >= LEAST else (count // 10, count // 10)
    taken = np.empty(0, np.uint64)
    splits: dict[str, Split] = {}
    for name, start, stop in zip(
        NAMES, (0, test, test + dev), (test, test + dev, count), strict=True
    ):
        numbers = np.arange(start, stop)
        kept = numbers[~np.isin(digests[numbers], taken)]
        chosen = digests[kept]
        splits[name] = Split(kept, content_hash(chosen), len(numbers) - len(kept))
        taken = np.concatenate([taken, chosen])
    return splits


def content_hash(digests: npt.NDArray[np.uint64]) -> str:
    """Hash the digests of a split's goals, in order."""
    return hashlib.sha256(digests.astype("<u8").tobytes()).hexdigest()
