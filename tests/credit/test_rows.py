"""Recorded rows of any agent: the contract of ``trajevolve verify``."""

import json

import pytest
from toys.house import HouseEnvironment
from toys.shop import ShopEnvironment

from trajevolve.credit.rows import verify_rows
from trajevolve.errors import UserError

HOUSE = HouseEnvironment()
SHELF = HOUSE.tasks("all")[1]  # the ball, from the closed cabinet to the shelf


def rows(*lines, env=HOUSE, **options):
    return list(verify_rows([json.dumps(line) for line in lines], env, **options))


def test_rows_come_back_in_order_with_what_was_found():
    actions = ["go bathroom", "go cabinet", "open cabinet", "Take ball", None, "look"]
    actions += ["go shelf", "place ball"]
    good, failed = rows(
        {"task": SHELF.id, "actions": actions, "agent": "mine"},
        {"task": SHELF.id, "actions": ["look"]},
    )
    assert good == {
        "task": SHELF.id,
        "actions": actions,
        "agent": "mine",
        "env": "house",
        "success": True,
        "labels": [0, 1, 1, 1, 0, 1, 1, 1],
        "dependents": [[], [2, 3, 7], [3, 7], [7], [], [], [], []],
        "minimal": ["go cabinet", "open cabinet", "take ball", "look", "go shelf", "put ball"],
        "transitions": good["transitions"],
    }
    assert failed == {
        "task": SHELF.id,
        "actions": ["look"],
        "env": "house",
        "success": False,
        "labels": None,
        "dependents": None,
        "minimal": None,
        "transitions": 1,
    }
    json.dumps([good, failed])


def test_mode_and_order_reach_the_search():
    actions = ["go cabinet", "open cabinet", "go bathroom", "go cabinet", "take ball", "go shelf"]
    actions += ["put ball"]
    row = {"task": SHELF.id, "actions": actions}
    assert rows(row, mode="independent")[0]["labels"] == [1, 1, 0, 0, 1, 1, 1]
    forward = rows(row, order="forward", loop_prepass=False)[0]
    assert forward["labels"] == [1, 1, 0, 0, 1, 1, 1]
    with pytest.raises(UserError, match="mode 'x'"):
        rows(row, mode="x")


def test_a_goal_number_needs_no_quotes():
    actions = ["search[mug]", "click[m1]", "click[red]", "click[buy now]"]
    assert rows({"task": 0, "actions": actions}, env=ShopEnvironment())[0]["labels"] == [1] * 4


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{", "line 1: not valid JSON, Expecting property name"),
        ("[1]", "line 1: expected an object"),
        ('{"actions": []}', 'line 1: "task" is missing'),
        ('{"task": "x"}', 'line 1: "actions" is missing'),
        ('{"task": "x", "actions": "go"}', 'line 1: "actions": expected a list of texts, got text'),
        ('{"task": "x", "actions": ["go", 1]}', 'line 1: "actions"[1]: expected a list of texts'),
        ('{"task": "x", "actions": [false]}', 'line 1: "actions"[0]: expected a list of texts'),
        ('{"task": null, "actions": []}', 'line 1: "task": expected a path or id as text'),
        ('{"task": true, "actions": []}', 'line 1: "task": expected a path or id as text'),
        ('{"task": "x", "actions": []}', "line 1: the environment failed: StopIteration"),
        (b'{"task": "\xff"}', "line 1: not valid JSON"),
        ("[" * 100_000, "line 1: JSON nested too deeply"),
    ],
)
def test_an_unreadable_row_becomes_an_error_in_its_place(line, text):
    good = json.dumps({"task": SHELF.id, "actions": []})
    bad, after = verify_rows([line, "\n", good], HOUSE)
    assert list(bad) == ["error"]
    assert bad["error"].startswith(text)
    assert after["success"] is False


def test_no_step_limit():
    wandering = ["go bathroom", "go shelf"] * 100
    finish = ["go cabinet", "open cabinet", "take ball", "go shelf", "put ball"]
    (row,) = rows({"task": SHELF.id, "actions": wandering + finish})
    assert row["labels"] == [0] * 200 + [1] * 5
