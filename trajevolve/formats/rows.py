"""The plain form: ``{"task": PATH-OR-ID, "actions": [...]}``, one trajectory a record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trajevolve.formats.records import Record, converted
from trajevolve.formats.task import task_reference

EXPECTED = '{"task": ..., "actions": [...]}'


def fits(record: Mapping[str, Any]) -> bool:
    """Say whether `record` looks like a row, complete or not."""
    return "actions" in record or "task" in record


def convert(records: Iterable[Record], task_key: str | None = None) -> Iterator[Record]:
    """Hand rows through; with `task_key` the task is what stands there."""
    if task_key is None:
        return iter(records)
    return converted(records, lambda row: {**row, "task": task_reference(row, task_key)})
