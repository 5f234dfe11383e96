"""Goals, their numbers and splits: the same everywhere, and never in two splits."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs.webshop.webshop_records import entry, options
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.generated import Original, generated_catalogue
from trajevolve.envs.webshop.goals import human_records, make_goal, shuffled, synthetic_records
from trajevolve.envs.webshop.products import parse_product
from trajevolve.envs.webshop.splits import content_hash, cut
from trajevolve.errors import UserError

MUG = parse_product(
    entry("B01", "x", customization_options=options(size=["s", "m", "l"], color=["red", "blue"]))
)
WISH = {"instruction": "Find me mugs", "instruction_attributes": ["dishwasher safe"]}


def test_synthetic_goals_are_all_combinations() -> None:
    (record,) = synthetic_records(7, MUG, WISH)
    assert (record["row"], record["combinations"]) == (7, 6)
    goals = [make_goal(0, record, number, MUG) for number in range(6)]
    tail = f", and price lower than {record['bound']:.2f} dollars"
    assert goals[0].instruction == f"Find me mugs with color: red, and size: s{tail}"
    assert [dict(goal.options) for goal in goals] == [
        {"color": color, "size": size} for color in ("red", "blue") for size in ("s", "m", "l")
    ]
    assert len({goal.digest for goal in goals}) == 6


def test_products_without_instruction_have_no_goal() -> None:
    assert not list(synthetic_records(0, MUG, {}))
    assert not list(synthetic_records(0, MUG, WISH | {"instruction_attributes": []}))
    assert not list(synthetic_records(0, MUG, WISH | {"instruction": None}))


def test_human_goals() -> None:
    said = [
        {"instruction": "a mug.", "instruction_attributes": ["a"], "instruction_options": ["red"]},
        {"instruction": "no attribute", "instruction_attributes": []},
    ]
    (record,) = human_records(0, MUG, said)
    goal = make_goal(3, record, 0, MUG)
    assert goal.instruction == f"a mug, and price lower than {record['bound']:.2f} dollars"
    assert goal.options == (("", "red"),)
    with pytest.raises(UserError, match="no 'instruction'"):
        list(human_records(0, MUG, [{"instruction_attributes": ["a"]}]))


def test_without_bound_nothing_is_said_of_the_price() -> None:
    dear = parse_product(entry("B02", "x", pricing="$985.00"))
    (record,) = synthetic_records(0, dear, WISH)
    assert record["bound"] is None
    assert make_goal(0, record, 0, dear).instruction == "Find me mugs"


def test_order_is_webshops() -> None:
    """The first places of ``random.seed(233); random.shuffle(list(range(12087)))``."""
    order = shuffled(12_087)
    assert order[:5].tolist() == [8655, 10304, 6940, 2750, 3667]
    assert sorted(order.tolist()) == list(range(12_087))


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (12_087, (500, 1000, 10_587)),
        (3000, (500, 1000, 1500)),
        (2999, (299, 299, 2401)),
        (1, (0, 0, 1)),
    ],
)
def test_sizes(count: int, sizes: tuple[int, int, int]) -> None:
    parts = cut(np.arange(count, dtype=np.uint64))
    assert tuple(len(parts[name].numbers) for name in ("test", "dev", "train")) == sizes
    assert sum(part.left_out for part in parts.values()) == 0


@settings(deadline=None)
@given(st.lists(st.integers(0, 40), min_size=20, max_size=60))
def test_splits_share_no_content(digests: list[int]) -> None:
    array = np.array(digests, np.uint64)
    parts = cut(array)
    contents = [set(array[part.numbers].tolist()) for part in parts.values()]
    assert sum(map(len, contents)) == len(set(digests))
    for part in parts.values():
        assert part.sha256 == content_hash(array[part.numbers])
    kept = sum(len(part.numbers) + part.left_out for part in parts.values())
    assert kept == len(digests)


def test_real_splits_are_disjoint(real_shop: Catalogue) -> None:
    digests = {
        name: Counter(real_shop.goal(int(number)).digest for number in numbers[:400])
        for name, numbers in real_shop.splits.items()
    }
    assert not digests["test"].keys() & digests["train"].keys()
    assert not digests["test"].keys() & digests["dev"].keys()
    assert not digests["dev"].keys() & digests["train"].keys()


def test_generated_goals_can_be_reached() -> None:
    """The product wanted is affordable, and found by the words of its title."""
    shop = generated_catalogue()
    for number in range(0, shop.goals, 60):
        goal = shop.goal(number)
        product = shop.product(goal.asin)
        assert goal.bound is None or product.price <= goal.bound
        values = {value for _, group in product.options for value in group}
        assert {value for _, value in goal.options} <= values
        found = [shop.listing(row).asin for row in shop.hits(product.title.lower())]
        assert goal.asin in found[:10]


PRINT = """
import hashlib
from trajevolve.envs.webshop.generated import generated_catalogue
shop = generated_catalogue()
text = "".join(repr((g, shop.product(g.asin))) for g in map(shop.goal, range(shop.goals)))
print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_all_processes_have_the_same_goals() -> None:
    root = Path(__file__).parents[3]
    printed = {
        subprocess.run(
            [sys.executable, "-c", PRINT],
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": str(root)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in (1, 2)
    }
    assert len(printed) == 1


def test_original_files_are_a_catalogue_too(tiny: Original, tiny_shop: Catalogue) -> None:
    assert tiny_shop.goals == 1
    assert tiny_shop.goal(0).asin == tiny.products[0]["asin"]
    with pytest.raises(UserError, match=r"split 'valid': tiny has dev, test, train"):
        tiny_shop.split("valid")
    with pytest.raises(IndexError):
        tiny_shop.goal(1)
    with pytest.raises(KeyError):
        tiny_shop.product("B000000009")
