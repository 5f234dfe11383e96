"""Making an inverted index: segments of some thousand products, merged at the end.

A segment is complete in itself, so the work can stop after any of them and go on later, and the
memory it takes does not grow with the catalogue (the merged vocabulary apart).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trajevolve.envs.webshop import bm25
from trajevolve.envs.webshop.analysis import terms

Array = npt.NDArray[Any]
Allocate = Callable[[str, int, Any], Array]
"""Makes the array of a name, a length and a type: in memory, or mapped to a new file."""


@dataclass(frozen=True, eq=False)
class Segment:
    """The postings of n successive products.

    Attributes:
        first: row of the first product.
        lengths: number of terms of each product; shape (n,).
        terms: the terms that occur, ascending.
        offsets: where each term's postings begin, and the end; shape (len(terms) + 1,).
        rows: products counted from `first`, ascending within a term.
        counts: tf of each posting.
    """

    first: int
    lengths: Array
    terms: tuple[str, ...]
    offsets: Array
    rows: Array
    counts: Array

    def save(self, path: Path) -> None:
        """Write it as ``.npz``, without pickled objects."""
        joined = np.frombuffer("\n".join(self.terms).encode(), np.uint8)
        with path.open("wb") as stream:
            np.savez(
                stream,
                first=np.array(self.first),
                lengths=self.lengths,
                terms=joined,
                offsets=self.offsets,
                rows=self.rows,
                counts=self.counts,
            )

    @classmethod
    def load(cls, path: Path) -> Segment:
        """Read what :meth:`save` wrote."""
        with np.load(path, allow_pickle=False) as content:
            joined = content["terms"].tobytes().decode()
            return cls(
                int(content["first"]),
                content["lengths"],
                tuple(joined.split("\n")) if joined else (),
                content["offsets"],
                content["rows"],
                content["counts"],
            )


def make_segment(first: int, texts: Iterable[str]) -> Segment:
    """Analyse the texts of successive products, the first at row `first`."""
    vocabulary: dict[str, int] = {}
    ids = array("q")
    lengths = array("q")
    for text in texts:
        found = terms(text)
        lengths.append(len(found))
        ids.extend([vocabulary.setdefault(term, len(vocabulary)) for term in found])
    names = sorted(vocabulary)
    place = np.empty(len(names), np.int64)
    place[[vocabulary[name] for name in names]] = np.arange(len(names))
    sizes = np.asarray(lengths, np.int64)
    pairs = place[np.asarray(ids, np.int64)] * len(sizes)
    pairs += np.repeat(np.arange(len(sizes)), sizes)
    # Sorted pairs are the postings: by term, then by row; how often one occurs is its tf.
    postings, counts = np.unique(pairs, return_counts=True)
    owners = postings // len(sizes) if len(sizes) else postings
    frequencies = np.bincount(owners, minlength=len(names))
    return Segment(
        first,
        sizes,
        tuple(names),
        np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64),
        (postings - owners * len(sizes)).astype(np.int32),
        counts.astype(np.int32),
    )


def merge(segments: Sequence[Callable[[], Segment]], order: Array, allocate: Allocate) -> None:
    """Merge segments into the arrays of an :class:`~trajevolve.envs.webshop.index.Index`.

    Args:
        segments: read one segment each, in order of their rows; called twice.
        order: rows of the products sorted by asin; int64, shape (products,).
        allocate: makes each array, to be filled.
    """
    frequencies: dict[str, int] = {}
    lengths: list[Array] = []
    for load in segments:
        segment = load()
        lengths.append(segment.lengths)
        for term, frequency in zip(segment.terms, np.diff(segment.offsets).tolist(), strict=True):
            frequencies[term] = frequencies.get(term, 0) + frequency
    names = sorted(frequencies)
    offsets = allocate("posting_offsets", len(names) + 1, np.int64)
    offsets[0] = 0
    offsets[1:] = np.cumsum([frequencies[name] for name in names])
    _write_terms(names, allocate)
    allocate("ranks", len(order), np.int32)[order] = np.arange(len(order), dtype=np.int32)
    _write_postings(segments, names, offsets, np.concatenate([*lengths, []]), allocate)


def _write_terms(names: Sequence[str], allocate: Allocate) -> None:
    encoded = [name.encode() for name in names]
    ends = allocate("term_offsets", len(names) + 1, np.int64)
    ends[0] = 0
    ends[1:] = np.cumsum([len(name) for name in encoded])
    joined = b"".join(encoded)
    allocate("term_bytes", len(joined), np.uint8)[:] = np.frombuffer(joined, np.uint8)


def _write_postings(
    segments: Sequence[Callable[[], Segment]],
    names: Sequence[str],
    offsets: Array,
    lengths: Array,
    allocate: Allocate,
) -> None:
    """Copy each segment's postings behind those of the segments before it, term by term."""
    rows = allocate("posting_rows", int(offsets[-1]), np.int32)
    saturated = allocate("posting_saturation", int(offsets[-1]), np.float32)
    norms = bm25.length_norms(float(np.mean(lengths)) if np.any(lengths) else 1.0)
    number = {name: place for place, name in enumerate(names)}
    free = np.array(offsets[:-1], np.int64)
    for load in segments:
        segment = load()
        owners = np.array([number[term] for term in segment.terms], np.int64)
        sizes = np.diff(segment.offsets)
        target = np.repeat(free[owners] - segment.offsets[:-1], sizes)
        target += np.arange(len(segment.rows))
        free[owners] += sizes
        codes = np.array([bm25.length_code(int(size)) for size in segment.lengths], np.int64)
        rows[target] = segment.rows + segment.first
        saturated[target] = bm25.saturation(segment.counts, norms[codes[segment.rows]])
