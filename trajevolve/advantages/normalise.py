"""The group-relative normaliser that GRPO and TrajEvolve share (paper §3.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

EPSILON = 1e-6
"""Added to the standard deviation."""

MIN_RANGE = 1e-8
"""Below this range the values count as equal: rounding must not be blown up to ±1."""


def normalise(values: Sequence[float], ddof: int = 0) -> tuple[float, ...]:
    """(v_i - mean v) / (std v + 1e-6) over one group; all 0 where the values are equal.

    Args:
        values: one value for each member of the group.
        ddof: 0 for the population's standard deviation, 1 for the sample's.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0 or np.ptp(array) < MIN_RANGE:
        return (0.0,) * array.size
    scaled = (array - array.mean()) / (array.std(ddof=ddof) + EPSILON)
    return tuple(scaled.tolist())
