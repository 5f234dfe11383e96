"""Kinds of actions, and what templates and things make."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajevolve.envs.contract import Kind
from trajevolve.envs.scienceworld.actions import MOST_CANDIDATES, fill, instantiate, kind_of, nearby

TEMPLATES = (
    "go OBJ", "inventory", "look around", "move OBJ to OBJ", "open OBJ", "pick up OBJ",
    "pour OBJ in OBJ", "use OBJ on OBJ", "wait1",
)  # fmt: skip
THINGS = ("cup", "door to hallway", "freezer", "kitchen", "metal pot", "stove", "thermometer")


@pytest.mark.parametrize(
    "action",
    [
        "look around", "inventory", "task", "look at stove", "look in freezer", "examine cup",
        "read recipe in inventory", "use thermometer on stove",
        "use thermometer in inventory on water in metal pot",
    ],
)  # fmt: skip
def test_queries(action):
    assert kind_of(action) == Kind.INFORMATION


@pytest.mark.parametrize(
    "action",
    [
        "open freezer", "use lighter on stove", "wait", "focus on thermometer", "look", "task now",
        "use thermometer", "reset task", "xyzzy", "", "0",
    ],
)  # fmt: skip
def test_everything_else_may_change_the_state(action):
    assert kind_of(action) == Kind.CHANGING


def test_few_things_are_combined_completely():
    made = instantiate(TEMPLATES, THINGS)
    assert len(made) == len(set(made)) == 3 + 3 * 7 + 3 * 7 * 7
    assert {"inventory", "open freezer", "move cup to stove", "use stove on cup"} <= set(made)


@given(st.integers(0, 90))
def test_candidates_are_bounded_and_hold_every_single_argument(count):
    things = [f"thing {n}" for n in range(count)]
    made = instantiate(TEMPLATES, things)
    assert len(made) <= MOST_CANDIDATES
    assert {fill("open OBJ", (thing,)) for thing in things} <= set(made)
    assert bool(count) == any("move thing" in each for each in made)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("open frezer", "open freezer"),
        ("pick up metalpot", "pick up metal pot"),
        ("use thermomter on stov", "use thermometer on stove"),
        ("pour cup in metal pots", "pour cup in metal pot"),
        ("look arround", "look around"),
    ],
)
def test_what_was_meant_is_among_what_is_near(wrong, meant):
    found = nearby(wrong, TEMPLATES, THINGS)
    assert meant in found and len(found) < 200


def test_nothing_in_sight_leaves_the_plain_actions():
    assert nearby("open door", TEMPLATES, ()) == ("inventory", "look around", "wait1")
    assert instantiate(TEMPLATES, ()) == ("inventory", "look around", "wait1")
