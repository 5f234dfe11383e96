"""All that is fixed about a shop: its products, its index, its goals and their splits.

One catalogue is shared by all environments of a process; on disk it is mapped, so processes share
its pages too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from trajevolve.envs.webshop.goals import Goal, make_goal
from trajevolve.envs.webshop.index import Index
from trajevolve.envs.webshop.prices import price_tag
from trajevolve.envs.webshop.products import Product
from trajevolve.envs.webshop.splits import Numbers
from trajevolve.envs.webshop.store import Rows, read_product
from trajevolve.errors import UserError

HITS = 50
"""Results of a query, at most."""

KEPT_PRODUCTS = 2048
KEPT_QUERIES = 16384
KEPT_LISTINGS = 16384


@dataclass(frozen=True, slots=True)
class Listing:
    """A product on a page of results."""

    asin: str
    title: str
    tag: str


@dataclass(frozen=True, eq=False)
class Catalogue:
    """A shop's content.

    Attributes:
        name: where it is from, for messages.
        products: one row a product, in the order of the original file.
        asin_order: rows sorted by asin; int32, shape (products,).
        index: finds products.
        records: one row an instruction.
        goal_first: number of goals before each record, and of all; int64, shape (records + 1,).
        goal_order: which goal stands at each number; uint32, shape (goals,).
        splits: numbers of the goals of each split.
    """

    name: str
    products: Rows
    asin_order: npt.NDArray[np.int32]
    index: Index
    records: Rows
    goal_first: npt.NDArray[np.int64]
    goal_order: npt.NDArray[np.uint32]
    splits: Mapping[str, Numbers]
    _caches: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._caches["product"] = lru_cache(KEPT_PRODUCTS)(self._read_product)
        self._caches["hits"] = lru_cache(KEPT_QUERIES)(self._search)
        self._caches["listing"] = lru_cache(KEPT_LISTINGS)(self._read_listing)

    def product(self, asin: str) -> Product:
        """Return the product of that key. Raises KeyError."""
        found: Product = self._caches["product"](asin)
        return found

    def hits(self, query: str) -> tuple[int, ...]:
        """Return the rows of the at most 50 best products for `query`, best first."""
        found: tuple[int, ...] = self._caches["hits"](query)
        return found

    def listing(self, row: int) -> Listing:
        """Return what a page of results shows of a product."""
        found: Listing = self._caches["listing"](row)
        return found

    @property
    def goals(self) -> int:
        """Number of goals."""
        return len(self.goal_order)

    def goal(self, number: int) -> Goal:
        """Return a goal by its number. Raises IndexError."""
        if not 0 <= number < self.goals:
            raise IndexError(number)
        place = int(self.goal_order[number])
        record = int(np.searchsorted(self.goal_first, place, side="right")) - 1
        content = self.records.record(record)
        product = read_product(self.products, content["row"])
        return make_goal(number, content, place - int(self.goal_first[record]), product)

    def split(self, name: str) -> Numbers:
        """Return the numbers of a split's goals. Raises UserError for an unknown one."""
        if name not in self.splits:
            raise UserError(f"split {name!r}: {self.name} has {', '.join(sorted(self.splits))}")
        return self.splits[name]

    def _search(self, query: str) -> tuple[int, ...]:
        return tuple(self.index.search(query, HITS).tolist())

    def _read_product(self, asin: str) -> Product:
        keys = _Asins(self.products, self.asin_order)
        place = bisect_left(keys, asin)
        if place == len(keys) or keys[place] != asin:
            raise KeyError(asin)
        return read_product(self.products, int(self.asin_order[place]))

    def _read_listing(self, row: int) -> Listing:
        prices = tuple(self.products.value(row, "prices"))
        asin, title = self.products.value(row, "asin"), self.products.value(row, "title")
        return Listing(asin, title, price_tag(prices))


class _Asins(Sequence[str]):
    """The asins in ascending order, for binary search."""

    def __init__(self, products: Rows, order: npt.NDArray[np.int32]) -> None:
        self._products = products
        self._order = order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, place: Any) -> Any:
        return self._products.value(int(self._order[place]), "asin")
