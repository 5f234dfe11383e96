"""A small shop from a seed: what the environment plays where no data were downloaded.

Products, attributes and instructions have the form of WebShop's own files and go the same way into
a catalogue.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from trajevolve.envs.webshop.analysis import words
from trajevolve.envs.webshop.assembly import assemble
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.lexicon import ADJECTIVES, BRANDS, LINES, Line
from trajevolve.envs.webshop.parts import make_part
from trajevolve.files import make_folder, write_json
from trajevolve.seeds import derive_seed

PRODUCTS = 480
INSTRUCTIONS = 3
"""Of each product, by different people as it were."""

ASIN_SIGNS = tuple("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")

REQUESTS = (
    "i am looking for {noun} that are {attributes}{options}.",
    "i need {attributes} {noun}{options}.",
    "i want to buy {noun}, {attributes}{options}.",
    "find me {noun} for {use}. they should be {attributes}{options}.",
    "please get me {attributes} {noun}{options}.",
)

_NOUNS = frozenset(
    word.lower()
    for text in (*BRANDS, *(noun for line in LINES for noun in line.nouns))
    for word in words(text)
)


@dataclass
class Original:
    """Generated files in WebShop's own form, before they are made a catalogue.

    Attributes:
        products: as in ``items_shuffle.json``.
        annotations: as in ``items_ins_v2.json``, by asin.
        people: as in ``items_human_ins.json``, by asin.
        human: people's instructions become goals.
    """

    products: list[dict[str, Any]] = field(default_factory=list)
    annotations: dict[str, dict[str, Any]] = field(default_factory=dict)
    people: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    human: bool = True

    def attributes(self, asin: str) -> Mapping[str, Any]:
        """Return the annotation of a product, {} without one."""
        return self.annotations.get(asin, {})

    def instructions(self, asin: str) -> Sequence[Mapping[str, Any]]:
        """Return people's instructions for a product, () without any."""
        return self.people.get(asin, ())

    def write(self, folder: Path) -> None:
        """Write the three files that ``trajevolve webshop prepare`` reads."""
        make_folder(folder)
        write_json(folder / "items_ins.json", self.annotations)
        write_json(folder / "items_human_ins.json", self.people)
        lines = ",\n".join(json.dumps(product) for product in self.products)
        (folder / "items_shuffle.json").write_text(f"[{lines}]\n", encoding="utf-8")


@cache
def generated_catalogue(count: int = PRODUCTS, seed: int = 0) -> Catalogue:
    """Return the shop of `count` products from `seed`, made once a process."""
    original = generate(count, seed)
    part = make_part(0, original.products, original, lexicon_nouns)
    return assemble("the generated shop", [part])


def generate(count: int, seed: int) -> Original:
    """Make `count` products of all lines in turn, with their instructions."""
    original = Original()
    while len(original.products) < count:
        number = len(original.products)
        rng = np.random.default_rng(derive_seed("webshop generated", seed, number))
        line = LINES[number % len(LINES)]
        asin = "G" + "".join(rng.choice(ASIN_SIGNS, 9))
        chosen = _pick(rng, line.attributes, int(rng.integers(3, 6)))
        noun, use = str(rng.choice(line.nouns)), str(rng.choice(line.uses))
        options = _options(rng, line)
        original.products.append(_product(rng, asin, line, noun, use, chosen, options))
        asked = _pick(rng, chosen, 2)
        original.annotations[asin] = {
            "attributes": chosen,
            "instruction": f"Find me {', '.join(asked)} {line.query}",
            "instruction_attributes": asked,
        }
        original.people[asin] = [
            _request(rng, asin, noun, use, chosen, options) for _ in range(INSTRUCTIONS)
        ]
    return original


def lexicon_nouns(titles: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Find the nouns of generated titles: names of brands and of things."""
    for title in titles:
        found = (word.lower() for word in words(title))
        yield tuple(word for word in found if word in _NOUNS)


def _pick(rng: np.random.Generator, items: Sequence[str], count: int) -> list[str]:
    places = rng.choice(len(items), min(count, len(items)), replace=False)
    return [items[place] for place in sorted(places.tolist())]


def _options(rng: np.random.Generator, line: Line) -> dict[str, list[str]]:
    return {
        name: _pick(rng, values, int(rng.integers(2, min(7, len(values)) + 1)))
        for name, values in line.options
    }


def _product(
    rng: np.random.Generator,
    asin: str,
    line: Line,
    noun: str,
    use: str,
    attributes: list[str],
    options: dict[str, list[str]],
) -> dict[str, Any]:
    brand, adjective = str(rng.choice(BRANDS)), str(rng.choice(ADJECTIVES))
    shown = _pick(rng, attributes, 2)
    title = f"{brand} {adjective} {noun} for {use}, {shown[0].title()} and {shown[1].title()}"
    praise = ", ".join(attributes[:-1]) + " and " + attributes[-1]
    return {
        "asin": asin,
        "name": title,
        "category": line.department,
        "query": line.query,
        "product_category": " › ".join(line.tree),
        "pricing": _pricing(rng, line),
        "full_description": (
            f"The {adjective.lower()} choice for {use.lower()}: {noun.lower()} by {brand}. "
            f"Your new favourite is {praise}. Made to last and shipped within two days."
        ),
        "small_description": [
            *(
                f"{attribute.upper()} - {noun.lower()} by {brand}: {attribute}"
                for attribute in shown
            ),
            f"MADE FOR {use.upper()} - tested by people who know",
            f"SERVICE - write to {brand} at any time",
        ],
        "customization_options": {
            name.title(): [{"value": value} for value in values] for name, values in options.items()
        },
    }


def _pricing(rng: np.random.Generator, line: Line) -> str:
    """Draw a price as the original files have it: mostly one, sometimes a range or none."""
    low, high = (round(float(price), 2) for price in np.sort(rng.uniform(*line.prices, 2)))
    kind = rng.random()
    if kind < 0.05:
        return ""
    return f"${low:.2f}" if kind < 0.7 else f"${low:.2f}${high:.2f}"


def _request(
    rng: np.random.Generator,
    asin: str,
    noun: str,
    use: str,
    attributes: list[str],
    options: dict[str, list[str]],
) -> dict[str, Any]:
    asked = _pick(rng, attributes, int(rng.integers(1, 3)))
    names = _pick(rng, list(options), int(rng.integers(0, len(options) + 1)))
    wanted = {name: str(rng.choice(options[name])) for name in names}
    said = " and ".join(f"{value} {name}" for name, value in wanted.items())
    text = str(rng.choice(REQUESTS)).format(
        noun=noun.lower(),
        use=use.lower(),
        attributes=" and ".join(asked),
        options=f" in {said}" if said else "",
    )
    return {
        "asin": asin,
        "instruction": text,
        "instruction_attributes": asked,
        "instruction_options": list(wanted.values()),
    }
