"""Large JSON files, one element at a time: WebShop's products are 5 GB in a single array."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from trajevolve.errors import UserError

CHUNK = 1 << 20
BLANK = " \t\r\n"


def array_elements(path: Path) -> Iterator[Any]:
    """Yield the elements of a file that holds one array.

    Raises:
        UserError: it cannot be read, or is no JSON array.
    """
    reader = _Reader(path)
    reader.expect("[", "an array [...]")
    if reader.peek() != "]":
        yield reader.value()
        while reader.take() == ",":
            yield reader.value()
        reader.step_back()
    reader.expect("]", "',' or ']'")
    reader.end()


def object_entries(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a file that holds one object. Raises UserError likewise."""
    reader = _Reader(path)
    reader.expect("{", "an object {...}")
    if reader.peek() != "}":
        yield reader.entry()
        while reader.take() == ",":
            yield reader.entry()
        reader.step_back()
    reader.expect("}", "',' or '}'")
    reader.end()


class _Reader:
    """A window over the text of the file that grows until the next value is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.decoder = json.JSONDecoder()
        self.text = ""
        self.at = 0
        self.before = 0
        self.more = self._chunks()

    def _chunks(self) -> Iterator[str]:
        decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        try:
            with self.path.open("rb") as stream:
                while chunk := stream.read(CHUNK):
                    yield decode(chunk)
                yield decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise UserError(f"{self.path}: is not UTF-8 text ({error.reason})") from None
        except OSError as error:
            raise UserError(f"{self.path}: cannot be read: {error.strerror}") from None

    def _grow(self) -> bool:
        """Read on, and forget what lies behind. Says whether there was more."""
        added = next(self.more, None)
        if added is None:
            return False
        # One character stays behind the position, for step_back.
        keep = max(self.at - 1, 0)
        self.before += keep
        self.text = self.text[keep:] + added
        self.at -= keep
        return True

    def peek(self) -> str:
        """Return the next character that is no blank, "" at the end."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in BLANK:
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if not self._grow():
                return ""

    def take(self) -> str:
        found = self.peek()
        self.at += len(found)
        return found

    def step_back(self) -> None:
        """Undo a :meth:`take` that did not reach the end of the file."""
        self.at = max(self.at - 1, 0)

    def expect(self, mark: str, named: str) -> None:
        if self.peek() != mark:
            self._fail(f"expected {named}")
        self.take()

    def end(self) -> None:
        if self.peek():
            self._fail("expected the end of the file")

    def entry(self) -> tuple[str, Any]:
        if self.peek() != '"':
            self._fail("expected a key in double quotes")
        key = self.value()
        self.expect(":", "':' after a key")
        return key, self.value()

    def value(self) -> Any:
        if not self.peek():
            self._fail("the file ends where a value should be")
        while True:
            try:
                found, end = self.decoder.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                if not self._grow():
                    self._fail(f"not valid JSON: {error}")
                continue
            if _may_go_on(self.text, end) and self._grow():
                continue
            self.at = end
            return found

    def _fail(self, problem: str) -> NoReturn:
        where = self.before + self.at
        raise UserError(f"{self.path}: character {where}: {problem}; is the file complete?")


def _may_go_on(text: str, end: int) -> bool:
    """Say whether what ends at `end` could be the beginning of a number cut by the window's end.

    ``1`` before ``.5`` or ``e+5`` is read as a number of its own.
    """
    return len(text) - end <= 2 and not text[end:].strip(".eE+-")
