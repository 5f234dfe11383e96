"""The reward and its parts: by hand, and against what was logged when people shopped."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.goals import Goal
from trajevolve.envs.webshop.prices import bound_text
from trajevolve.envs.webshop.reward import (
    COLOURS,
    alike,
    colour_of,
    judge,
    option_chosen,
    shared_categories,
    title_score,
    type_reward,
)


@pytest.fixture
def goal(tiny_shop: Catalogue) -> Goal:
    return tiny_shop.goal(0)


def test_right_product_and_option_is_success(tiny_shop: Catalogue, goal: Goal) -> None:
    found = judge(tiny_shop.product("B000000002"), ["blue"], goal)
    assert found.total == 1.0
    assert (found.r_type, found.r_att, found.r_option, found.r_price) == (1.0, 1.0, 1.0, True)
    assert (found.query_match, found.category_match, found.title_score) == (True, True, 1.0)


def test_parts_add_up(tiny_shop: Catalogue, goal: Goal) -> None:
    """One attribute and one option wanted: three parts with the price."""
    assert judge(tiny_shop.product("B000000002"), [], goal).total == pytest.approx(2 / 3)
    other = judge(tiny_shop.product("B000000001"), ["blue"], goal)
    assert (other.r_att, other.r_option) == (0.0, 1.0)
    assert other.total == pytest.approx((1 + other.r_price) / 3)
    # Shares no noun with the title wanted, so it is worth nothing whatever else fits.
    lamp = judge(tiny_shop.product("B000000003"), ["blue"], goal)
    assert (lamp.r_type, lamp.total) == (0.0, 0.0)


def test_price_counts_up_to_the_bound(tiny_shop: Catalogue, goal: Goal) -> None:
    product = tiny_shop.product("B000000002")
    for price, fits in ((goal.bound or 0.0, True), ((goal.bound or 0.0) + 0.01, False)):
        assert judge(replace(product, price=price), ["blue"], goal).r_price is fits
    assert judge(replace(product, price=1e9), ["blue"], replace(goal, bound=None)).r_price


def test_attribute_may_stand_in_a_text(tiny_shop: Catalogue, goal: Goal) -> None:
    plain = replace(tiny_shop.product("B000000002"), attributes=())
    for field, text in (
        ("title", "Mug, Dishwasher Safe"),
        ("bullets", ("x", "is DISHWASHER SAFE")),
        ("description", "dishwasher safe."),
    ):
        assert judge(replace(plain, **{field: text}), [], goal).r_att == 1.0
    assert judge(plain, [], goal).r_att == 0.0


@pytest.mark.parametrize(
    ("same_kind", "score", "expected"),
    [
        *((True, 0.5, 1.0), (False, 0.21, 1.0), (False, 0.2, 0.5), (True, 0.1, 1.0)),
        *((False, 0.1, 0.5), (True, 0.09, 0.1), (False, 0.01, 0.1), (True, 0.0, 0.0)),
    ],
)
def test_type(same_kind: bool, score: float, expected: float) -> None:
    assert type_reward(same_kind, score) == expected


def test_title_score_counts_wanted_repeats() -> None:
    assert title_score(("mug", "mug", "red"), ("mug", "mug", "blue")) == pytest.approx(1 / 3)
    assert title_score(("mug",), ()) == 0.2


def test_categories() -> None:
    assert shared_categories("Home › Kitchen › Mugs", "Kitchen › Home") == 2
    assert shared_categories("Home › Home", "Home") == 1


@pytest.mark.parametrize(
    ("chosen", "wanted", "expected"),
    [
        (["z2-pink"], "pink", True),
        (["dark grey heather"], "charcoal", False),
        (["8"], "8", True),
        (["8.5"], "8", True),  # a dot separates words, and the set {8} is within {8, 5}
        (["38 | 40 | 41 mm"], "40", True),
        (["x-large"], "large", True),
        (["medium"], "large", False),
        ([], "red", False),
    ],
)
def test_options(chosen: list[str], wanted: str, expected: bool) -> None:
    assert option_chosen(chosen, wanted) is expected


def test_first_known_colour_counts() -> None:
    assert colour_of("red and black") == "black"
    assert colour_of("large") == "large"
    assert list(COLOURS) == sorted(COLOURS)


def test_alike_is_rounded_and_blind_to_case_and_signs() -> None:
    assert alike("Machine-Wash", "machine wash")
    assert alike("café", "caf")
    assert not alike("machine wash", "hand wash")
    assert not alike("", "")


def human_episodes(data: Path) -> list[list[dict[str, Any]]]:
    files = sorted((data / "human_trajs").glob("*.jsonl"))
    return [[json.loads(line) for line in file.read_text().splitlines()] for file in files]


def test_logged_rewards(data: Path) -> None:
    """Every logged part that follows from what the log holds: 25 in five episodes."""
    compared = 0
    for episode in human_episodes(data):
        goal, done = episode[-1]["goal"], episode[-1]
        info, bought = done["reward_info"], done["content"]
        assert (bought["price"] <= goal["price_upper"]) == info["r_price"]
        chosen, wanted = bought["options"].values(), goal["goal_options"]
        matched = sum(option_chosen(chosen, option) for option in wanted)
        assert (matched / len(wanted) if wanted else None) == info.get("r_option")
        same_kind = info["query_match"] or info["category_match"]
        assert type_reward(same_kind, info["title_score"]) == info["r_type"]
        attributes = info["r_att"] * len(goal["attributes"])
        parts = len(goal["attributes"]) + len(wanted) + 1
        total = info["r_type"] * (attributes + matched + info["r_price"]) / parts
        assert total == pytest.approx(done["reward"])
        assert goal["instruction_text"].endswith(bound_text(goal["price_upper"]))
        compared += 5
    assert compared == 25


def test_logged_keywords_are_split_on_blanks(data: Path) -> None:
    searches = [page for episode in human_episodes(data) for page in episode if "content" in page]
    for page in searches:
        keywords = page["content"].get("keywords")
        if isinstance(keywords, list):
            assert re.split(" ", " ".join(keywords)) == keywords
