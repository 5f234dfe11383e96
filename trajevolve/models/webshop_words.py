"""Tokens for the generated shop: asins, and what its products are made of, as one token each.

Kinds of product, uses, attributes and option values are what instructions and titles have in
common; brands, prices and the buttons that every page has say nothing about them and are dropped,
and so is the instruction on every page but the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.generated import generated_catalogue
from trajevolve.envs.webshop.lexicon import ADJECTIVES, BRANDS, LINES
from trajevolve.envs.webshop.pages import item_page, join, results_page, tab_page
from trajevolve.envs.webshop.session import BACK, BUY, NEXT, PREV, TABS
from trajevolve.models.tokenizer import Reading, build_tokenizer

_ASIDE = (
    "i am looking for that are need want to buy find me they should be please get and a an sep "
    "total results webshop instruction"
)
_SEARCH, _CLICK, _CLOSE = "search[", "click[", "]"


@cache
def reading() -> Reading:
    """Make the patterns, which name every phrase of the lexicon."""
    brands, adjectives = (_any_of(name.lower() for name in names) for names in (BRANDS, ADJECTIVES))
    # A longer phrase goes before one that it begins with: `x-large` is not `x`.
    phrases = _any_of(sorted(set(_phrases()), key=lambda phrase: (-len(phrase), phrase)))
    aside = _any_of(_ASIDE.split())
    signs = _any_of((_SEARCH, _CLICK, _CLOSE))
    return Reading(
        dropped=(
            r"instruction: \[sep\] .*? \[sep\] back to search",
            r", and price lower than [0-9.]+ dollars",
            r"\[sep\] (?:price: )?\$[0-9.]+(?: to \$[0-9.]+)?",
            r"\[sep\] rating: .*$",
            r"\[sep\] (?:next >|< prev|search$)",
            r"\(total results: [0-9]+\)",
            rf"\[sep\] {brands} {adjectives} ",
            r"made to last and shipped within two days",
            r"service - write to [a-z]+ at any time",
            r"\[sep\]",
        ),
        pieces=rf"{signs}|(?<![a-z0-9]){phrases}(?![a-z0-9])"
        rf"|(?<![a-z0-9])(?!{aside}(?![a-z0-9]))[a-z0-9]+",
        joined=(("[ ", "["), (" ]", "]")),
    )


def webshop_tokenizer() -> Any:
    """Build the tokenizer from the lexicon and the texts of the generated shop."""
    shop = generated_catalogue()
    asins = asins_of(shop)
    words = {_SEARCH, _CLICK, _CLOSE, *_phrases()}
    for text in _texts(shop):
        words.update(reading().split(text))
    return build_tokenizer(reading(), [*sorted(words.difference(asins)), *asins])


def asins_of(shop: Catalogue) -> list[str]:
    """Asins as actions have them, in ascending order."""
    return sorted(asin.lower() for asin in shop.products.column("asin"))


def _phrases() -> Iterator[str]:
    for line in LINES:
        yield from (text.lower() for text in (*line.nouns, *line.uses, *line.attributes))
        for group, values in line.options:
            yield group
            yield from values
    yield from (BACK, NEXT, PREV, BUY, *TABS)


def _texts(shop: Catalogue) -> Iterator[str]:
    """Every kind of page with every product, and all instructions."""
    for row in range(len(shop.products)):
        product = shop.product(shop.listing(row).asin)
        yield join(results_page("", 1, 1, [shop.listing(row)]))
        yield join(item_page("", product))
        yield from (join(tab_page("", product, tab)) for tab in TABS)
    yield from (
        record["instruction"] for record in map(shop.records.record, range(len(shop.records)))
    )
    yield " ".join(f"page {number}" for number in range(1, 21))


def _any_of(texts: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, texts))})"
