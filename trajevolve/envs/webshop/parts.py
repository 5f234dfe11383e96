"""A catalogue in the making: some thousand products with their goals and postings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from trajevolve.envs.webshop.goals import RECORDS, human_records, synthetic_records
from trajevolve.envs.webshop.indexing import Segment, make_segment
from trajevolve.envs.webshop.nouns import Tagger
from trajevolve.envs.webshop.products import Product, parse_product
from trajevolve.envs.webshop.store import PRODUCTS, MappedRows, product_row, write_rows
from trajevolve.errors import UserError
from trajevolve.files import write_atomically

PART_SIZE = 20_000
"""Products of a part; with postings about 200 MB of memory while it is made."""


class Annotations(Protocol):
    """What was written about products, by asin."""

    human: bool
    """People's instructions become goals, not the synthetic ones."""

    def attributes(self, asin: str) -> Mapping[str, Any]:
        """Return its entry of ``items_ins_v2.json``, {} without one."""

    def instructions(self, asin: str) -> Sequence[Mapping[str, Any]]:
        """Return its entries of ``items_human_ins.json``, () without any."""


@dataclass(frozen=True)
class Part:
    """A run of successive products.

    Attributes:
        products: their rows.
        records: the rows of their instructions; ``row`` counts over the whole catalogue.
        segment: their postings.
    """

    products: list[dict[str, Any]]
    records: list[dict[str, Any]]
    segment: Segment


def make_part(
    first: int, entries: Sequence[Mapping[str, Any]], annotations: Annotations, tag: Tagger
) -> Part:
    """Make the part whose first product has row `first`.

    Args:
        first: number of products before it.
        entries: product records of the original file that are to be taken.
        annotations: attributes and instructions.
        tag: finds the nouns of titles.

    Raises:
        UserError: a record has another form than it should.
    """
    plain = [_parse(entry, annotations) for entry in entries]
    nouns = tag([product.title for product in plain])
    products = [replace(one, nouns=found) for one, found in zip(plain, nouns, strict=True)]
    records = [
        record
        for row, product in enumerate(products, start=first)
        for record in _records(row, product, annotations)
    ]
    return Part(
        [product_row(product) for product in products],
        records,
        make_segment(first, (product.document() for product in products)),
    )


def _parse(entry: Mapping[str, Any], annotations: Annotations) -> Product:
    attributes = annotations.attributes(str(entry["asin"])).get("attributes") or ()
    return parse_product(entry, tuple(str(attribute) for attribute in attributes))


def _records(row: int, product: Product, annotations: Annotations) -> list[dict[str, Any]]:
    if annotations.human:
        return list(human_records(row, product, annotations.instructions(product.asin)))
    return list(synthetic_records(row, product, annotations.attributes(product.asin)))


@dataclass(frozen=True)
class PartFiles:
    """A part on disk; it counts when its ``.json`` is there, which is written last."""

    folder: Path
    number: int

    def save(self, part: Part) -> None:
        """Write `part`."""
        for name, rows, schema in (
            ("products", part.products, PRODUCTS),
            ("records", part.records, RECORDS),
        ):
            batch = pa.RecordBatch.from_pylist(rows, schema=schema)
            write_rows(self._path(f"{name}.arrow"), schema, [batch])
        part.segment.save(self._path("segment.npz"))
        content = json.dumps({"products": len(part.products)})
        write_atomically(self._path("json"), lambda partial: partial.write_text(content))

    @property
    def complete(self) -> bool:
        """It was written to its end."""
        return self._path("json").is_file()

    def products(self) -> MappedRows:
        """Map its products."""
        return MappedRows.open(self._path("products.arrow"))

    def records(self) -> MappedRows:
        """Map its instructions."""
        return MappedRows.open(self._path("records.arrow"))

    def segment(self) -> Segment:
        """Read its postings."""
        try:
            return Segment.load(self._path("segment.npz"))
        except (OSError, ValueError, KeyError) as error:
            raise UserError(
                f"{self._path('segment.npz')}: damaged ({error}); delete {self.folder} and "
                "run again"
            ) from None

    def _path(self, ending: str) -> Path:
        return self.folder / f"{self.number:05}.{ending}"
