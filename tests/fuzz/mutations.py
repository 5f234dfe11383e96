"""Seeded ways to spoil valid input: bytes, words of text, and values inside JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Rng = np.random.Generator
Mutation = Callable[[Rng, bytes, Sequence[bytes]], bytes]

DEPTH = 100_000
TOKENS: tuple[bytes, ...] = (
    b"\x00",
    b"\n",
    b"\r\n",
    b"\xff\xfe",
    b"\xc3",
    b"\xed\xa0\x80",  # a lone surrogate
    b"\\ud800",
    b"\\u0000",
    b"\x1b[2J",
    "１".encode(),
    "İıß".encode(),  # their case changes length
    "\u202e\u2028\u0301".encode(),
    b"\xef\xbb\xbf",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-1",
    b"0",
    b"9" * 40,
    b"9" * 5000,
    b"0x" + b"f" * 5000,
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'""',
    b"..",
    b"/",
    b"~",
    b"*",
    b"&a [*a]",
    b"!!timestamp x",
    b"!!int ''",
    b"!!python/object/apply:os.getcwd []",
    b"2001-99-99",
    b"$(id)",
    b"%s%n{}",
    b"(",
    b")",
    b"<action>",
    b"</action>",
    b"<think>",
    b"</think>",
    b"_bar_",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**63,
    10**400,
    0.5,
    float("nan"),
    float("inf"),
    "",
    " ",
    "\x00",
    "\ud800",
    "x" * 100_000,
    "a\nb",
    [],
    {},
    [[]],
    {"": None},
    [1, "a", None],
)


def mutate(rng: Rng, data: bytes, others: Sequence[bytes], kinds: Sequence[Mutation]) -> bytes:
    """Spoil `data` in one to four ways drawn from `kinds`; `others` are valid samples."""
    for _ in range(min(4, int(rng.geometric(0.6)))):
        data = kinds[int(rng.integers(len(kinds)))](rng, data, others)
    return data


def flip(rng: Rng, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change single bits."""
    spoiled = bytearray(data)
    for _ in range(int(rng.integers(1, 9)) if data else 0):
        spoiled[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(spoiled)


def overwrite(rng: Rng, data: bytes, others: Sequence[bytes]) -> bytes:
    """Put random bytes over a stretch."""
    start, end = _stretch(rng, data, 64)
    return data[:start] + rng.bytes(end - start) + data[end:]


def truncate(rng: Rng, data: bytes, others: Sequence[bytes]) -> bytes:
    """Cut the end off."""
    return data[: _place(rng, data)]


def delete(rng: Rng, data: bytes, others: Sequence[bytes]) -> bytes:
    """Take a stretch out."""
    start, end = _stretch(rng, data, 256)
    return data[:start] + data[end:]


def repeat(rng: Rng, data: bytes, others: Sequence[bytes]) -> bytes:
    """Write a stretch several times, now and then thousands of times."""
    start, end = _stretch(rng, data, 64)
    times = int(rng.choice((2, 3, 10, 2000), p=(0.5, 0.3, 0.17, 0.03)))
    return data[:start] + data[start:end] * times + data[end:]


def insert(rng: Rng, data: bytes, others: Sequence[bytes]) -> bytes:
    """Put a troublesome token somewhere."""
    place = _place(rng, data)
    return data[:place] + TOKENS[int(rng.integers(len(TOKENS)))] + data[place:]


def swap_word(rng: Rng, data: bytes, others: Sequence[bytes]) -> bytes:
    """Replace a word by another one, by one of another sample, by a token or by nothing."""
    words = data.split(b" ")
    source = others[int(rng.integers(len(others)))].split(b" ")
    places = rng.integers(len(words), size=2)
    choices = (
        words[places[1]],
        source[int(rng.integers(len(source)))],
        TOKENS[int(rng.integers(len(TOKENS)))],
        b"",
    )
    words[places[0]] = choices[int(rng.integers(len(choices)))]
    return b" ".join(words)


def swap_lines(rng: Rng, data: bytes, others: Sequence[bytes]) -> bytes:
    """Exchange a line for one of another sample."""
    lines = data.split(b"\n")
    source = others[int(rng.integers(len(others)))].split(b"\n")
    lines[int(rng.integers(len(lines)))] = source[int(rng.integers(len(source)))]
    return b"\n".join(lines)


def splice(rng: Rng, data: bytes, others: Sequence[bytes]) -> bytes:
    """Go on with the rest of another sample."""
    other = others[int(rng.integers(len(others)))]
    return data[: _place(rng, data)] + other[_place(rng, other) :]


def nest(rng: Rng, data: bytes, others: Sequence[bytes]) -> bytes:
    """Open far more brackets than anybody can follow, rarely; else a few hundred."""
    opening, closing = ((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"- ", b""))[
        int(rng.integers(4))
    ]
    depth = DEPTH if rng.random() < 0.02 else int(rng.integers(1, 1200))
    place = _place(rng, data) if rng.random() < 0.5 else 0
    inner = data[place:] if rng.random() < 0.5 else b"1" + closing * depth
    return data[:place] + opening * depth + inner


def edit_json(rng: Rng, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change, drop, add or exchange a value inside a JSON document; other text stays."""
    try:
        content = json.loads(data)
        other = json.loads(others[int(rng.integers(len(others)))])
        return json.dumps(_edited(rng, content, other)).encode()
    except (ValueError, RecursionError):
        return insert(rng, data, others)


def _edited(rng: Rng, content: Any, other: Any) -> Any:
    if isinstance(content, dict) and content:
        keys = list(content)
        key = keys[int(rng.integers(len(keys)))]
        change = int(rng.integers(5))
        if change == 0:
            return {k: v for k, v in content.items() if k != key}
        if change == 1:
            return {**content, f"{key}s": content[key]}
        value = content[key]
        if change == 2:
            value = _value(rng)
        elif change == 3:
            value = content[keys[int(rng.integers(len(keys)))]]
        else:
            below = other.get(key) if isinstance(other, dict) else other
            value = _edited(rng, value, below)
        return {**content, key: value}
    if isinstance(content, list) and content:
        place = int(rng.integers(len(content)))
        below = other[place % len(other)] if isinstance(other, list) and other else other
        changed = _edited(rng, content[place], below) if rng.random() < 0.7 else _value(rng)
        return [*content[:place], changed, *content[place + 1 :]]
    return other if rng.random() < 0.3 else _value(rng)


def _value(rng: Rng) -> Any:
    return VALUES[int(rng.integers(len(VALUES)))]


def _place(rng: Rng, data: bytes) -> int:
    return int(rng.integers(len(data) + 1))


def _stretch(rng: Rng, data: bytes, longest: int) -> tuple[int, int]:
    start = _place(rng, data)
    return start, min(len(data), start + int(rng.integers(1, longest + 1)))


BINARY: tuple[Mutation, ...] = (flip, flip, overwrite, truncate, delete, repeat, splice, insert)
TEXT: tuple[Mutation, ...] = (*BINARY, swap_word, swap_word, swap_lines, nest)
JSON: tuple[Mutation, ...] = (*TEXT, edit_json, edit_json, edit_json)
