"""The inverted index: the best products for a query, in Lucene's order.

Everything is a flat array, so an index on disk is opened by mapping its files and costs a process
only the pages that its queries touch; processes share them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trajevolve.envs.webshop import bm25
from trajevolve.envs.webshop.analysis import terms

Ints = npt.NDArray[np.integer]

ARRAYS = (
    "term_bytes",
    "term_offsets",
    "posting_offsets",
    "posting_rows",
    "posting_saturation",
    "ranks",
)


KEPT_TERMS = 1 << 16


@dataclass(frozen=True, eq=False)
class Index:
    """An inverted index over N products with T terms and P postings.

    Attributes:
        term_bytes: the terms in UTF-8, ascending, one after the other; uint8.
        term_offsets: where each begins, and the end; int64, shape (T + 1,).
        posting_offsets: where each term's postings begin, and the end; int64, shape (T + 1,).
        posting_rows: product rows, ascending within a term; int32, shape (P,).
        posting_saturation: 1 + tf·norm of each posting, see
            :func:`~trajevolve.envs.webshop.bm25.saturation`; float32, shape (P,).
        ranks: position of each product when sorted by asin; int32, shape (N,). Breaks ties.
    """

    term_bytes: npt.NDArray[np.uint8]
    term_offsets: Ints
    posting_offsets: Ints
    posting_rows: Ints
    posting_saturation: bm25.Floats
    ranks: Ints
    _caches: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._caches["postings"] = lru_cache(KEPT_TERMS)(self._find_postings)

    @classmethod
    def of(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Index:
        """Make an index of its arrays by name."""
        return cls(*(arrays[name] for name in ARRAYS))

    @classmethod
    def open(cls, folder: Path) -> Index:
        """Map the arrays of `folder`. Raises OSError or ValueError for a damaged one."""
        return cls.of(
            # As plain arrays: slicing a memmap makes another memmap, which costs microseconds.
            {name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in ARRAYS}
        )

    def search(self, query: str, count: int) -> Ints:
        """Return the rows of the best `count` products, best first; fewer where fewer match.

        Equal scores are ordered by asin.
        """
        return self._best(self.scores(query), count)

    def scores(self, query: str) -> bm25.Floats:
        """Return the score of every product; shape (N,), 0 where no term matches.

        A term that the query repeats weighs as often.
        """
        weights: list[np.float32] = []
        found: list[slice] = []
        for term, times in Counter(terms(query)).items():
            postings = self._postings(term)
            frequency = postings.stop - postings.start
            if frequency:
                weights.append(np.float32(times) * bm25.idf(len(self.ranks), frequency))
                found.append(postings)
        if not found:
            return np.zeros(len(self.ranks), np.float32)
        rows = np.concatenate([self.posting_rows[each] for each in found])
        saturated = np.concatenate([self.posting_saturation[each] for each in found])
        spread = np.repeat(np.array(weights), [each.stop - each.start for each in found])
        # Sums are made in double precision and rounded once, as Lucene makes them.
        total = np.bincount(rows, bm25.scores(spread, saturated), minlength=len(self.ranks))
        return total.astype(np.float32)

    def _best(self, scores: bm25.Floats, count: int) -> Ints:
        """Sort the highest `count` scores above 0; rows that tie at the border compete by asin."""
        if count < len(scores):
            least = np.partition(scores, len(scores) - count)[len(scores) - count]
            candidates = np.flatnonzero((scores >= least) & (scores > 0))
        else:
            candidates = np.flatnonzero(scores > 0)
        order = np.lexsort((self.ranks[candidates], -scores[candidates]))
        return candidates[order[:count]]

    def _postings(self, term: str) -> slice:
        """Return the postings of `term`; an empty slice for one that no product has."""
        found: slice = self._caches["postings"](term)
        return found

    def _find_postings(self, term: str) -> slice:
        wanted = term.encode()
        names = _Terms(self.term_bytes, self.term_offsets)
        place = bisect_left(names, wanted)
        if place == len(names) or names[place] != wanted:
            return slice(0, 0)
        return slice(int(self.posting_offsets[place]), int(self.posting_offsets[place + 1]))


class _Terms(Sequence[bytes]):
    """The terms of an index as a sequence, for binary search."""

    def __init__(self, joined: npt.NDArray[np.uint8], offsets: Ints) -> None:
        # Views give bytes and plain integers, several times faster than arrays do.
        self._joined = joined.data
        self._offsets = offsets.data

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, place: Any) -> Any:
        return self._joined[self._offsets[place] : self._offsets[place + 1]].tobytes()
