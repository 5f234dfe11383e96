"""Comparisons of wall times that a machine with other work must not upset."""

from __future__ import annotations

import time
from collections.abc import Callable

TRIES = 5


def ratio(first: Callable[[], object], second: Callable[[], object]) -> float:
    """Return the second's wall time in parts of the first's, each the least of some tries.

    Both wait rather than compute, so that the least is near what an idle machine takes.
    """
    least = [float("inf")] * 2
    for _ in range(TRIES):
        for number, run in enumerate((first, second)):
            began = time.monotonic()
            run()
            least[number] = min(least[number], time.monotonic() - began)
    return least[1] / least[0]
