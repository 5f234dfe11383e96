"""Comparisons of wall times that a machine with other work must not upset."""

from __future__ import annotations

import time
from collections.abc import Callable

TRIES = 8


def least_ratio(first: Callable[[], object], second: Callable[[], object], enough: float) -> float:
    """Return the least ratio of the second's wall time to the first's over some tries.

    Both wait rather than compute, so that other work makes a ratio worse now and then and a
    missing overlap makes all of them bad. A ratio below `enough` ends the tries.
    """
    least = float("inf")
    for _ in range(TRIES):
        times = []
        for run in (first, second):
            began = time.monotonic()
            run()
            times.append(time.monotonic() - began)
        least = min(least, times[1] / times[0])
        if least < enough:
            break
    return least
