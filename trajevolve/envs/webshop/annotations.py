"""Attributes and instructions by asin, in a file: the originals are too large for memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trajevolve.envs.webshop.jsonfile import object_entries
from trajevolve.errors import UserError


class AnnotationFile:
    """Annotations in a SQLite file, made once from the original JSON files.

    Args:
        path: where it lies, or is made.
        attributes: ``items_ins_v2.json`` or its form for fewer products.
        human: ``items_human_ins.json``, or None.

    Raises:
        UserError: an original cannot be read, or holds something else.
    """

    def __init__(self, path: Path, attributes: Path, human: Path | None) -> None:
        self.human = human is not None
        if not path.is_file():
            partial = path.with_suffix(".partial")
            partial.unlink(missing_ok=True)
            _make(partial, attributes, human)
            partial.replace(path)
        self._lines = sqlite3.connect(path)

    def attributes(self, asin: str) -> Mapping[str, Any]:
        """Return the entry of ``items_ins_v2.json``, {} without one."""
        found: Mapping[str, Any] | None = self._find("attributes", asin)
        return found or {}

    def instructions(self, asin: str) -> Sequence[Mapping[str, Any]]:
        """Return the entries of ``items_human_ins.json``, () without any."""
        found: Sequence[Mapping[str, Any]] | None = self._find("human", asin)
        return found or ()

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def _find(self, table: str, asin: str) -> Any:
        query = f"SELECT content FROM {table} WHERE asin = ?"
        row = self._lines.execute(query, (asin,)).fetchone()
        return None if row is None else json.loads(row[0])


def _make(path: Path, attributes: Path, human: Path | None) -> None:
    lines = sqlite3.connect(path)
    with lines:
        for table, source, form in (("attributes", attributes, dict), ("human", human, list)):
            lines.execute(f"CREATE TABLE {table} (asin TEXT PRIMARY KEY, content TEXT)")
            if source is not None:
                insert = f"INSERT OR REPLACE INTO {table} VALUES (?, ?)"
                lines.executemany(insert, _entries(source, form))
    lines.close()


def _entries(source: Path, form: type) -> Iterator[tuple[str, str]]:
    what = "attributes" if form is dict else "a list of instructions"
    for asin, content in object_entries(source):
        if not isinstance(content, form):
            raise UserError(f"{source}: {asin!r}: expected {what}, got {type(content).__name__}")
        yield asin, json.dumps(content)
