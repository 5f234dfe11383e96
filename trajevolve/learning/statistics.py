"""Token statistics of an update, for sampled and evolved tokens apart (paper, Figures 9-10)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from trajevolve.learning.batching import TokenBatch
from trajevolve.learning.loss import LossTerms
from trajevolve.learning.sequences import TokenSequence

PREFIXES = ("", "evolved/")


class TokenStatistics:
    """Sums over tokens of the update's quantities; sampled tokens and evolved ones apart."""

    def __init__(self) -> None:
        """Start with nothing counted."""
        self._sums: dict[str, torch.Tensor] = {}

    def add(self, terms: LossTerms, entropy: torch.Tensor, batch: TokenBatch) -> None:
        """Count the tokens of one micro-batch."""
        values = {
            "tokens": torch.ones_like(entropy),
            "approx_kl": terms.policy_kl,
            "clip_fraction": terms.clipped,
            "entropy": entropy,
        }
        if terms.reference_kl is not None:
            values["kl"] = terms.reference_kl
        for prefix, mask in zip(PREFIXES, (~batch.evolved, batch.evolved), strict=True):
            for name, value in values.items():
                self._accumulate(prefix + name, value[mask].sum(dtype=torch.float64))

    def merge(self, other: TokenStatistics) -> None:
        """Count everything that `other` counted."""
        for name, value in other._sums.items():
            self._accumulate(name, value)

    def means(self) -> dict[str, float]:
        """Token means by name; ``evolved/…`` only where evolved tokens were counted."""
        sums = {name: float(value) for name, value in self._sums.items()}
        result: dict[str, float] = {}
        for prefix in PREFIXES:
            tokens = sums.pop(prefix + "tokens", 0.0)
            for name in ("approx_kl", "clip_fraction", "entropy", "kl"):
                if tokens and prefix + name in sums:
                    result[prefix + name] = sums[prefix + name] / tokens
        return result

    def _accumulate(self, name: str, value: torch.Tensor) -> None:
        self._sums[name] = self._sums[name] + value if name in self._sums else value


def content_statistics(sequences: Sequence[TokenSequence]) -> dict[str, float]:
    """Count tokens and steps and compare the sampler's log-probabilities with the learner's.

    ``sampler_gap_mean`` and ``sampler_gap_max`` are |log π_sampler - log π_old| over the tokens
    whose sampler log-probability is known.
    """
    result: dict[str, float] = {}
    for prefix, evolved in zip(PREFIXES, (False, True), strict=True):
        rows = [row for row in sequences if row.evolved is evolved]
        if evolved and not rows:
            continue
        result[prefix + "tokens"] = float(sum(len(row.targets) for row in rows))
        result[prefix + "steps"] = float(sum(row.steps for row in rows))
        gaps = np.concatenate([np.abs(row.sampler - row.old) for row in rows] or [np.empty(0)])
        gaps = gaps[~np.isnan(gaps)]
        if gaps.size:
            result[prefix + "sampler_gap_mean"] = float(gaps.mean())
            result[prefix + "sampler_gap_max"] = float(gaps.max())
    return result
