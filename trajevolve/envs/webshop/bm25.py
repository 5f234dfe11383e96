"""BM25 in Lucene's arithmetic: float32, and document lengths rounded to one byte.

Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, as Lucene's
``BM25Similarity`` computes it. The rounding decides the order of results, so it is part of the
benchmark.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

K1 = np.float32(0.9)
B = np.float32(0.4)
ONE = np.float32(1.0)
EXACT_LENGTHS = 24
"""Lengths below this are stored exactly; longer ones with four significant bits."""


def length_code(length: int) -> int:
    """Return the byte that Lucene stores for a document of `length` terms."""
    if length < EXACT_LENGTHS:
        return length
    rest = length - EXACT_LENGTHS
    bits = rest.bit_length()
    if bits < 4:
        return EXACT_LENGTHS + rest
    shift = bits - 4
    return EXACT_LENGTHS + ((rest >> shift) & 0x07 | (shift + 1) << 3)


def coded_length(code: int) -> int:
    """Return the length that a stored byte stands for, the lower end of its range."""
    if code < EXACT_LENGTHS:
        return code
    bits, shift = (code - EXACT_LENGTHS) & 0x07, ((code - EXACT_LENGTHS) >> 3) - 1
    rest = bits if shift < 0 else (bits | 0x08) << shift
    return EXACT_LENGTHS + rest


def length_norms(average: float) -> Floats:
    """Return 1 / (k1·((1-b) + b·L/avgdl)) for each of the 256 length codes.

    Args:
        average: avgdl, the exact mean number of terms of a document.
    """
    lengths = np.array([coded_length(code) for code in range(256)], np.float32)
    return ONE / (K1 * ((ONE - B) + B * lengths / np.float32(average)))


def idf(documents: int, frequency: int) -> np.float32:
    """Return ln(1 + (N - df + 0.5)/(df + 0.5)), rounded to float32 once."""
    return np.float32(math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5)))


def saturation(counts: npt.NDArray[np.integer], norms: Floats) -> Floats:
    """Return 1 + tf·norm: what does not depend on the query in a term's score.

    Args:
        counts: tf of a term in some documents, shape (n,).
        norms: the length norms of these documents, shape (n,).
    """
    return ONE + counts.astype(np.float32) * norms


def scores(weight: Floats, saturated: Floats) -> Floats:
    """Return w - w/(1 + tf·norm), where w is the idf times the term's count in the query.

    Args:
        weight: w of each posting, shape (n,).
        saturated: 1 + tf·norm of each posting, shape (n,).
    """
    return weight - weight / saturated
