"""From text to index terms, as Lucene's English analyzer makes them.

Words by Unicode's rules (UAX #29, as Lucene's ``StandardTokenizer`` reads them: emoji and signs
such as ™ and ★ are words too), the possessive ``'s`` taken off, lower case, stop words left out,
Porter stems.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from trajevolve.envs.webshop.porter import stem

LONGEST_WORD = 255
"""Longer words are cut into pieces of this many characters."""

_STOPPED = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with"
)
STOP_WORDS = frozenset(_STOPPED.split())

POSSESSIVE = frozenset(mark + s for mark in "'\u2019\uff07" for s in "sS")

# Extended_Pictographic of Unicode 12.1, which Lucene 9 was built with. Later versions took many
# signs out of it (★ among them), so the tables of an installed library will not do.
PICTOGRAPHIC = (
    r"\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u2388"
    r"\u23cf\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2605"
    r"\u2607-\u2612\u2614-\u2685\u2690-\u2705\u2708-\u2712\u2714\u2716\u271d\u2721\u2728\u2733"
    r"\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763-\u2767\u2795-\u2797\u27a1\u27b0"
    r"\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    r"\U0001f000-\U0001f0ff\U0001f10d-\U0001f10f\U0001f12f\U0001f16c-\U0001f171\U0001f17e"
    r"\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f1ad-\U0001f1e5\U0001f201-\U0001f20f"
    r"\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f23c-\U0001f23f\U0001f249-\U0001f3fa"
    r"\U0001f400-\U0001f53d\U0001f546-\U0001f64f\U0001f680-\U0001f6ff\U0001f774-\U0001f77f"
    r"\U0001f7d5-\U0001f7ff\U0001f80c-\U0001f80f\U0001f848-\U0001f84f\U0001f85a-\U0001f85f"
    r"\U0001f888-\U0001f88f\U0001f8ae-\U0001f8ff\U0001f90c-\U0001f93a\U0001f93c-\U0001f945"
    r"\U0001f947-\U0001fffd"
)

# In plain ASCII the rules come down to this: letters, digits and underscores stay together, a
# mark between two letters or between two digits belongs to the word, underscores alone are none.
ASCII_WORD = re.compile(
    r"_*[a-z0-9](?:[a-z0-9_]|(?<=[a-z])[.':](?=[a-z])|(?<=[0-9])[.,;'](?=[0-9]))*",
    re.IGNORECASE | re.ASCII,
)


def terms(text: str) -> list[str]:
    """Return the index terms of `text`, in order, repeated ones repeatedly."""
    return [term for term in map(_term, words(text)) if term]


def words(text: str) -> Iterator[str]:
    """Yield the words of `text` before anything is done to them."""
    pattern = ASCII_WORD if text.isascii() else _unicode_word()
    for word in pattern.findall(text):
        if len(word) <= LONGEST_WORD:
            yield word
        else:
            yield from (word[i : i + LONGEST_WORD] for i in range(0, len(word), LONGEST_WORD))


@lru_cache(maxsize=1 << 18)
def _term(word: str) -> str:
    """Return the term of one word, "" for a stop word."""
    plain = (word[:-2] if word[-2:] in POSSESSIVE else word).lower()
    return "" if plain in STOP_WORDS else stem(plain)


@cache
def _unicode_word() -> Any:
    import regex

    extend = r"[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]*+"
    letter = rf"[\p{{WB=ALetter}}\p{{WB=Hebrew_Letter}}]{extend}"
    digit = rf"\p{{WB=Numeric}}{extend}"
    katakana = rf"\p{{WB=Katakana}}{extend}"
    joiner = rf"\p{{WB=ExtendNumLet}}{extend}"
    in_letters = rf"[\p{{WB=MidLetter}}\p{{WB=MidNumLet}}:']{extend}"
    in_digits = rf"[\p{{WB=MidNum}}\p{{WB=MidNumLet}}']{extend}"
    hebrew = rf"\p{{WB=Hebrew_Letter}}{extend}(?:\"{extend}\p{{WB=Hebrew_Letter}}{extend}|')"
    run = (
        rf"(?:{hebrew}"
        rf"|{digit}(?:(?:(?:{joiner})*|{in_digits}){digit})*"
        rf"|{letter}(?:(?:(?:{joiner})*|{in_letters}){letter})*)+"
    )
    part = rf"(?:{katakana}(?:(?:{joiner})*{katakana})*|{run})"
    word = rf"(?:{joiner})*{part}(?:(?:{joiner})+{part})*(?:{joiner})*"
    flag = r"\p{RI}\p{RI}"
    keycap = r"[0-9#*]\uFE0F?\u20E3"
    emoji = rf"[{PICTOGRAPHIC}]{extend}(?:(?<=\u200D)[{PICTOGRAPHIC}]{extend})*"
    ideograph = rf"[\p{{Han}}\p{{Hiragana}}]{extend}"
    complex_run = r"\p{LB=SA}+"
    return regex.compile("|".join((keycap, flag, emoji, complex_run, ideograph, word)))
