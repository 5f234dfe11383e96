"""What the clumsy experts of all environments share: how often they slip, and how that is drawn.

Their episodes warm up the built-in policies and pre-train the discriminators. Each episode is
careful or careless throughout, so the policy that imitates them holds both side by side, as a base
language model does, and reinforcement learning can choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Slips:
    """How often an expert slips. An environment's own adds a relative frequency for each kind.

    Attributes:
        careful_share: share of careful episodes.
        careful: least and greatest probability of a slip at a step of a careful episode; each
            episode draws its own, uniformly.
        careless: the same of the others.
    """

    careful_share: float = 0.25
    careful: tuple[float, float] = (0.0, 0.0)
    careless: tuple[float, float] = (1.0, 1.0)

    def draw(self, rng: np.random.Generator) -> float:
        """Draw an episode's probability of a slip at a step."""
        is_careful = self.careful_share > 0 and rng.random() < self.careful_share
        return float(rng.uniform(*(self.careful if is_careful else self.careless)))

    def slip(self, kinds: Sequence[str], rng: np.random.Generator) -> str:
        """Draw one of `kinds` by their frequencies."""
        weights = np.array([getattr(self, kind) for kind in kinds])
        return kinds[int(rng.choice(len(kinds), p=weights / weights.sum()))]


def one_of(options: Sequence[str], rng: np.random.Generator) -> str:
    """Draw one of `options`, "" where there is none."""
    return options[int(rng.integers(len(options)))] if options else ""
