"""JSON objects of a file, by line or in one array; what cannot be read stays in its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any

from trajevolve.errors import UserError

LONGEST_LINE = 64 << 20
"""Bytes. A longer line of JSON Lines is a bad record; an array may be as large as memory."""

_BLANK = b"\xef\xbb\xbf \t\r\n"


@dataclass(frozen=True)
class Record:
    """One object of the input.

    Attributes:
        number: its 1-based line, or its position in the array.
        content: the object; None where there is none.
        error: why there is none.
        unit: what `number` counts, ``line`` or ``item``.
    """

    number: int
    content: dict[str, Any] | None
    error: str = ""
    unit: str = "line"

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return f"{self.unit} {self.number}"


def read_records(stream: IO[bytes]) -> Iterator[Record]:
    """Read JSON Lines as they arrive, or one JSON document: an array of objects, or one object.

    An array without members is an input without records, as an empty file is.

    Raises:
        UserError: the input is one document, and no valid JSON.
    """
    ahead = _first_lines(stream)
    first = ahead[-1] if ahead else b""
    start = first.lstrip(_BLANK)[:1]
    if start == b"[" or (start == b"{" and first.endswith(b"\n") and not _is_object(first)):
        whole = b"".join(ahead) + stream.read()
        document = _document(whole)
        if document is not None:
            yield from (_item(number, value) for number, value in enumerate(document, start=1))
            return
        ahead, stream = [], BytesIO(whole)
    yield from _lines(ahead, stream)


def read_line(number: int, line: str | bytes) -> Record:
    """Read one line, which may be undecoded."""
    if len(line) > LONGEST_LINE:
        longest = f"{LONGEST_LINE >> 20} MiB"
        return Record(number, None, f"longer than {longest}; expected one object a line")
    try:
        return Record(number, parse_object(line))
    except UserError as error:
        return Record(number, None, str(error))


def parse_object(line: str | bytes) -> dict[str, Any]:
    """Parse a line that has to hold one JSON object. Raises UserError otherwise."""
    try:
        value = json.loads(line)
        json.dumps(value, allow_nan=False)  # it comes back, so it has to be writable too
    except json.JSONDecodeError as error:
        where = f"{error.msg.removesuffix(' at')} at column {error.colno}"
        raise UserError(f"not valid JSON, {where}; expected one object a line") from None
    except ValueError as error:  # no text, NaN or infinity, numbers too long to read
        raise UserError(f"not valid JSON, {error}; expected one object a line") from None
    except RecursionError:
        raise UserError("JSON nested too deeply; expected one flat object a line") from None
    if not isinstance(value, dict):
        raise UserError(f"expected an object, got {type_name(value)}")
    return value


def converted(
    records: Iterable[Record], convert: Callable[[dict[str, Any]], dict[str, Any]]
) -> Iterator[Record]:
    """Apply `convert` to every object; one that it refuses by UserError becomes an error."""
    for record in records:
        if record.content is None:
            yield record
            continue
        try:
            yield Record(record.number, convert(record.content), unit=record.unit)
        except UserError as error:
            yield Record(record.number, None, str(error), record.unit)


def type_name(value: object) -> str:
    """Name a JSON value's type in JSON's words."""
    if value == "":
        return "an empty text"
    names = {"dict": "an object", "list": "a list", "str": "text", "NoneType": "null"}
    return names.get(type(value).__name__, repr(value))


def _first_lines(stream: IO[bytes]) -> list[bytes]:
    """Take lines up to the first one that is not blank, which comes last."""
    taken: list[bytes] = []
    while line := stream.readline(LONGEST_LINE + 1):
        taken.append(line)
        if line.strip(_BLANK):
            break
    return taken


def _lines(ahead: list[bytes], stream: IO[bytes]) -> Iterator[Record]:
    number = 0
    while line := ahead.pop(0) if ahead else stream.readline(LONGEST_LINE + 1):
        number += 1
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE + 1)
        if line.strip(_BLANK):
            yield read_line(number, line)


def _document(whole: bytes) -> list[Any] | None:
    """Return the members of the document, None where the input is lines after all."""
    try:
        value = json.loads(whole)
    except (ValueError, RecursionError) as error:
        lines = [line for line in whole.split(b"\n") if line.strip()]
        # Members of a document that was cut off or damaged are indented, or end in a comma.
        if len(lines) == 1 or any(line[:1] == b"{" and _is_object(line) for line in lines):
            return None
        said = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UserError(
            f"the input is neither JSON Lines nor one valid JSON document: {said}"
        ) from None
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else None


def _item(number: int, value: object) -> Record:
    if not isinstance(value, dict):
        return Record(number, None, f"expected an object, got {type_name(value)}", "item")
    try:
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        return Record(number, None, f"not valid JSON, {error}", "item")
    return Record(number, value, unit="item")


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
