"""Instructions: what is to be bought.

A record is what is stored: one instruction with its product and, for synthetic ones, as many goals
as the product's options have combinations. Goals are numbered after one fixed shuffle.
"""

from __future__ import annotations

import hashlib
import math
import random
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trajevolve.envs.webshop.prices import bound_text, price_bound
from trajevolve.envs.webshop.products import Product
from trajevolve.errors import UserError

SHUFFLE_SEED = 233
"""WebShop's own; numbers of goals in publications are places in that order."""

RECORDS = pa.schema(
    [
        pa.field("row", pa.int32(), nullable=False),
        pa.field("instruction", pa.string(), nullable=False),
        pa.field("attributes", pa.list_(pa.string()), nullable=False),
        pa.field("options", pa.list_(pa.string())),
        pa.field("bound", pa.float64()),
        pa.field("combinations", pa.int64(), nullable=False),
    ]
)

Wanted = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Goal:
    """What an episode is about.

    Attributes:
        number: its place in the fixed order.
        asin: of the product the instruction was written for.
        instruction: the whole text, price bound included.
        attributes: what the product should have.
        options: group and value of each option wanted; people name no group: "".
        bound: the price has to be at most this; None: any.
        query: of the product, as are the next two.
        product_category: its place in the shop's tree.
        nouns: of its title.
        category: its department.
    """

    number: int
    asin: str
    instruction: str
    attributes: tuple[str, ...]
    options: Wanted
    bound: float | None
    query: str
    product_category: str
    nouns: tuple[str, ...]
    category: str

    @property
    def digest(self) -> str:
        """Hash of what is asked for, whatever its number; 16 hex digits."""
        parts = (self.asin, self.instruction, *self.attributes, "", *map(repr, self.options))
        return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=8).hexdigest()


def synthetic_records(
    row: int, product: Product, annotation: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the record of a product's entry in ``items_ins_v2.json``, where it has one."""
    instruction, attributes = annotation.get("instruction"), _attributes(annotation)
    if not instruction or not attributes:
        return
    combinations = math.prod(len(values) for _, values in product.options)
    if combinations:
        bound = price_bound(product.price, product.asin, 0)
        yield _record(row, str(instruction), attributes, None, bound, combinations)


def human_records(
    row: int, product: Product, annotations: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the records of a product's entries in ``items_human_ins.json``.

    Raises:
        UserError: an entry has no instruction.
    """
    for number, annotation in enumerate(annotations):
        attributes = _attributes(annotation)
        if not attributes:
            continue
        if not isinstance(annotation.get("instruction"), str):
            raise UserError(f"product {product.asin}: an entry has no 'instruction'")
        text = annotation["instruction"].strip(".")
        options = [str(option) for option in annotation.get("instruction_options") or ()]
        bound = price_bound(product.price, product.asin, number)
        yield _record(row, text, attributes, options, bound, 1)


def _attributes(annotation: Mapping[str, Any]) -> list[str]:
    return [str(attribute) for attribute in annotation.get("instruction_attributes") or ()]


def _record(
    row: int,
    instruction: str,
    attributes: list[str],
    options: list[str] | None,
    bound: float | None,
    combinations: int,
) -> dict[str, Any]:
    return {
        "row": row,
        "instruction": instruction,
        "attributes": attributes,
        "options": options,
        "bound": bound,
        "combinations": combinations,
    }


def shuffled(count: int) -> npt.NDArray[np.uint32]:
    """Return which goal stands at each place of the fixed order; shape (count,).

    Python's own generator, because WebShop shuffles with it: the order is the published one
    whenever the goals are the same.
    """
    order = array("I", range(count))
    random.Random(SHUFFLE_SEED).shuffle(order)
    return np.array(order, np.uint32)


def make_goal(number: int, record: Mapping[str, Any], combination: int, product: Product) -> Goal:
    """Write out one goal of a record.

    Args:
        number: its place in the fixed order.
        record: a row of :data:`RECORDS`.
        combination: which choice of options, the last group changing fastest; 0 for human ones.
        product: the product of the record.
    """
    if record["options"] is None:
        options = _choice(product, combination)
        chosen = ", and ".join(f"{name}: {value}" for name, value in options)
        chosen = f" with {chosen}" if chosen else ""
    else:
        options, chosen = tuple(("", value) for value in record["options"]), ""
    return Goal(
        number=number,
        asin=product.asin,
        instruction=f"{record['instruction']}{chosen}{bound_text(record['bound'])}",
        attributes=tuple(record["attributes"]),
        options=options,
        bound=record["bound"],
        query=product.query,
        product_category=product.product_category,
        nouns=product.nouns,
        category=product.category,
    )


def _choice(product: Product, combination: int) -> Wanted:
    """Return the combination of that number, groups in order of their names."""
    chosen: list[tuple[str, str]] = []
    for name, values in sorted(product.options, reverse=True):
        combination, place = divmod(combination, len(values))
        chosen.append((name, values[place]))
    return tuple(reversed(chosen))
