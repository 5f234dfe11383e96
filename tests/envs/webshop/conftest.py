"""Shops that the tests visit: a tiny one written by hand, and WebShop's own products."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.webshop.webshop_records import entry, options
from trajevolve.envs.webshop.assembly import assemble
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.generated import Original
from trajevolve.envs.webshop.jsonfile import array_elements, object_entries
from trajevolve.envs.webshop.nouns import word_nouns
from trajevolve.envs.webshop.parts import make_part

DATA = Path(__file__).parents[4] / "shared" / "data" / "webshop"


@pytest.fixture(scope="session")
def data() -> Path:
    if not (DATA / "products.json").is_file():
        pytest.skip("needs real WebShop data in ../shared/data/webshop of the project's root")
    return DATA


@pytest.fixture(scope="session")
def real_shop(data: Path) -> Catalogue:
    """The real products and synthetic instructions, every word of a title taken for a noun."""
    original = Original(
        products=list(array_elements(data / "products.json")),
        annotations=dict(object_entries(data / "items_ins.json")),
        human=False,
    )
    return assemble("real", [make_part(0, original.products, original, word_nouns)])


@pytest.fixture(scope="session")
def tiny() -> Original:
    """Two mugs and a lamp, one instruction for the first mug."""
    return Original(
        products=[
            entry(
                "B000000002",
                "Blue Mug",
                customization_options=options(Color=["Blue", "Red"], Size=["Small", "Red"]),
            ),
            entry("B000000001", "Blue Mug", pricing="$24.49$39.99"),
            entry("B000000003", "Desk Lamp", query="lamps", product_category="Home › Lighting"),
        ],
        annotations={"B000000002": {"attributes": ["dishwasher safe"]}},
        people={
            "B000000002": [
                {
                    "instruction": "i need a mug that is dishwasher safe.",
                    "instruction_attributes": ["dishwasher safe"],
                    "instruction_options": ["blue"],
                }
            ]
        },
    )


@pytest.fixture(scope="session")
def tiny_shop(tiny: Original) -> Catalogue:
    return assemble("tiny", [make_part(0, tiny.products, tiny, word_nouns)])
