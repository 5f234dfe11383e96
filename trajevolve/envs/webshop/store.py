"""Products in an Arrow file that is mapped into memory: a process reads only what it looks at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from trajevolve.envs.webshop.products import Product

STRINGS = pa.list_(pa.string())

PRODUCTS = pa.schema(
    [
        pa.field("asin", pa.string(), nullable=False),
        pa.field("title", pa.string(), nullable=False),
        pa.field("description", pa.string(), nullable=False),
        pa.field("bullets", STRINGS, nullable=False),
        pa.field("option_names", STRINGS, nullable=False),
        pa.field("option_values", pa.list_(STRINGS), nullable=False),
        pa.field("prices", pa.list_(pa.float64()), nullable=False),
        pa.field("price", pa.float64(), nullable=False),
        pa.field("query", pa.string(), nullable=False),
        pa.field("category", pa.string(), nullable=False),
        pa.field("product_category", pa.string(), nullable=False),
        pa.field("attributes", STRINGS, nullable=False),
        pa.field("nouns", STRINGS, nullable=False),
    ]
)


def product_row(product: Product) -> dict[str, Any]:
    """Return the row of a product."""
    row = asdict(product)
    options = row.pop("options")
    row["option_names"] = [name for name, _ in options]
    row["option_values"] = [values for _, values in options]
    return row


class Rows(Protocol):
    """Rows of a table by number."""

    def __len__(self) -> int: ...

    def value(self, row: int, column: str) -> Any:
        """Return one cell."""

    def record(self, row: int) -> dict[str, Any]:
        """Return one row by column."""

    def column(self, name: str) -> list[Any]:
        """Return a whole column."""


class MemoryRows:
    """Rows as they are, for small tables: pyarrow would load pandas to lay them out."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def value(self, row: int, column: str) -> Any:
        """Return one cell."""
        return self._rows[row][column]

    def record(self, row: int) -> dict[str, Any]:
        """Return one row by column."""
        return dict(self._rows[row])

    def column(self, name: str) -> list[Any]:
        """Return a whole column."""
        return [row[name] for row in self._rows]


class MappedRows:
    """Rows of an Arrow file, over the batches they lie in."""

    def __init__(self, batches: Sequence[pa.RecordBatch]) -> None:
        self.batches = batches
        self._ends = list(accumulate(batch.num_rows for batch in batches))

    @classmethod
    def open(cls, path: Path) -> MappedRows:
        """Map a file. Raises OSError or pyarrow.ArrowException for a damaged one."""
        with pa.ipc.open_file(pa.memory_map(str(path))) as reader:
            return cls([reader.get_batch(number) for number in range(reader.num_record_batches)])

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def value(self, row: int, column: str) -> Any:
        """Return one cell."""
        batch, place = self._find(row)
        return batch.column(column)[place].as_py()

    def record(self, row: int) -> dict[str, Any]:
        """Return one row by column."""
        batch, place = self._find(row)
        names = batch.schema.names
        return {name: batch.column(at)[place].as_py() for at, name in enumerate(names)}

    def column(self, name: str) -> list[Any]:
        """Return a whole column."""
        return [cell for batch in self.batches for cell in batch.column(name).to_pylist()]

    def _find(self, row: int) -> tuple[pa.RecordBatch, int]:
        number = bisect_right(self._ends, row)
        return self.batches[number], row - (self._ends[number - 1] if number else 0)


def write_rows(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write a file that :meth:`MappedRows.open` maps: an Arrow IPC file, not compressed."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def read_product(rows: Rows, row: int) -> Product:
    """Return the product of a row."""
    record = rows.record(row)
    names, values = record.pop("option_names"), record.pop("option_values")
    options = tuple(zip(names, map(tuple, values), strict=True))
    plain: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in record.items()
    }
    return Product(**plain, options=options)
