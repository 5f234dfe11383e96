"""From parts to the arrays of a catalogue, in memory or in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trajevolve.envs.webshop import indexing, splits
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.goals import make_goal, shuffled
from trajevolve.envs.webshop.index import Index
from trajevolve.envs.webshop.indexing import Allocate, Segment
from trajevolve.envs.webshop.parts import Part
from trajevolve.envs.webshop.store import MemoryRows, Rows, read_product

Array = npt.NDArray[Any]


def assemble(name: str, parts: Sequence[Part]) -> Catalogue:
    """Make a catalogue of `parts` in memory."""
    arrays: dict[str, Array] = {}

    def allocate(array: str, length: int, kind: Any) -> Array:
        arrays[array] = np.empty(length, kind)
        return arrays[array]

    products = MemoryRows([row for part in parts for row in part.products])
    records = MemoryRows([row for part in parts for row in part.records])
    write_index([lambda part=part: part.segment for part in parts], products, allocate)  # type: ignore[misc]
    write_order(records, allocate)
    digests = goal_digests(products, records, arrays["goal_first"], arrays["goal_order"])
    return Catalogue(
        name,
        products,
        arrays["asin_order"],
        Index.of(arrays),
        records,
        arrays["goal_first"],
        arrays["goal_order"],
        {split: part.numbers for split, part in splits.cut(digests).items()},
    )


def write_index(
    segments: Sequence[Callable[[], Segment]], products: Rows, allocate: Allocate
) -> None:
    """Fill the arrays of the index, and ``asin_order``."""
    asins = products.column("asin")
    order = sorted(range(len(asins)), key=asins.__getitem__)
    allocate("asin_order", len(asins), np.int32)[:] = order
    indexing.merge(segments, np.array(order, np.int64), allocate)


def write_order(records: Rows, allocate: Allocate) -> None:
    """Fill ``goal_first`` and ``goal_order``."""
    first = allocate("goal_first", len(records) + 1, np.int64)
    first[0] = 0
    first[1:] = np.cumsum(np.array(records.column("combinations"), np.int64))
    order = shuffled(int(first[-1]))
    allocate("goal_order", len(order), np.uint32)[:] = order


def goal_digests(
    products: Rows, records: Rows, first: Array, order: Array
) -> npt.NDArray[np.uint64]:
    """Return what each goal asks for as a hash, by the goal's number.

    Goes through the records as they are stored, so that each product is read once.
    """
    digests = np.empty(int(first[-1]), np.uint64)
    for record in range(len(records)):
        content = records.record(record)
        product = read_product(products, content["row"])
        for combination in range(content["combinations"]):
            goal = make_goal(0, content, combination, product)
            digests[int(first[record]) + combination] = int(goal.digest, 16)
    return digests[order]
