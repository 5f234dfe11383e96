"""Which of the formats an input is in, and the rows that come of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from types import ModuleType
from typing import Any, Literal

from trajevolve.errors import UserError
from trajevolve.formats import conversations, rows, verl_agent
from trajevolve.formats.records import Record

Format = Literal["auto", "rows", "verl-agent", "conversations"]

# In the order in which they are tried: a row may well carry the messages it was made from.
_FORMATS: dict[Format, ModuleType] = {
    "conversations": conversations,
    "verl-agent": verl_agent,
    "rows": rows,
}
_MOST_KEYS = 12


def to_rows(
    records: Iterable[Record], format: Format = "auto", task_key: str | None = None
) -> Iterator[Record]:
    """Convert `records` to rows with ``task`` and ``actions``.

    ``auto`` goes by the first object that fits a format. A record in another format than the
    input's becomes an error in its place.

    Args:
        records: of one input.
        format: of all of them.
        task_key: where a record names its task; by default the usual keys.

    Raises:
        UserError: there is no record, or with ``auto`` none is an object that fits.
    """
    name = format
    records = iter(records)
    first = next(records, None)
    if first is None:
        raise UserError(f"--input: holds no JSON object; it is empty; {_expected()}")
    records = chain([first], records)
    if name == "auto":
        name, records = _detect(records)
    found: Iterator[Record] = _FORMATS[name].convert(
        (_held_to(name, record) for record in records), task_key
    )
    return found


def _detect(records: Iterator[Record]) -> tuple[Format, Iterable[Record]]:
    seen: list[Record] = []
    stranger: Record | None = None
    for record in records:
        seen.append(record)
        if record.content is None:
            continue
        name = _format_of(record.content)
        if name is not None:
            return name, chain(seen, records)
        stranger = stranger or record
    if stranger is None or stranger.content is None:
        first = f"{seen[0].place}: {seen[0].error}".partition("; expected")[0]
        raise UserError(f"--input: holds no JSON object; {first}; {_expected()}")
    keys = list(stranger.content)
    shown = ", ".join(keys[:_MOST_KEYS]) + (", ..." if len(keys) > _MOST_KEYS else "")
    raise UserError(
        f"--input: the format cannot be told; {stranger.place} is an object with "
        f"{shown or 'no keys'}; {_expected()}"
    )


def _expected() -> str:
    return (
        f"expected {rows.EXPECTED} (rows), {conversations.EXPECTED} (conversations), or "
        f"{verl_agent.EXPECTED} (verl-agent)"
    )


def _format_of(content: Mapping[str, Any]) -> Format | None:
    for name, module in _FORMATS.items():
        if module.fits(content):
            return name
    return None


def _held_to(name: Format, record: Record) -> Record:
    """Refuse a record that is clearly of another format."""
    if record.content is None or _FORMATS[name].fits(record.content):
        return record
    other = _format_of(record.content)
    if other is None:
        return record
    text = f"looks like {other} in an input of {name}; one input holds one format"
    return Record(record.number, None, text, record.unit)
