"""Step records become trajectories, and damage stays with the trajectories it may concern."""

import random
from typing import Any

import pytest

from trajevolve.formats.records import Record
from trajevolve.formats.verl_agent import convert


def step(uid: str, action: str, **fields: Any) -> dict[str, Any]:
    return {"traj_uid": uid, "extra.gamefile": f"game-{uid}", "response": action, **fields}


def tagged(action: str) -> str:
    return f"<think>so</think><action>{action}</action>"


def rows(*steps: dict[str, Any] | None, key: str | None = None) -> list[Any]:
    records = [
        Record(number, content, "" if content else "torn")
        for number, content in enumerate(steps, start=1)
    ]
    return [r.content or f"{r.place}: {r.error}" for r in convert(records, key)]


def test_interleaved_steps_are_gathered():
    found = rows(
        step("a", tagged("go to room 1")),
        step("b", tagged("Look")),
        step("a", tagged("take key")),
        step("b", tagged("x"), active_masks=False),
    )
    assert found == [
        {"task": "game-a", "actions": ["go to room 1", "take key"], "trajectory": "a",
         "steps": [1, 3]},
        {"task": "game-b", "actions": ["look"], "trajectory": "b", "steps": [2]},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "action"),
    [
        # Executed although it was penalised: the thought is missing.
        ({"response": "<action>take key</action>"}, "take key"),
        # Without tags such a rollout executes the last 30 characters.
        (
            {"response": "I do not know at all what I should do now"},
            "ow at all what i should do now",
        ),
        ({"response": None, "output": tagged("look")}, "look"),
        ({"response": None, "action": "Take key"}, "take key"),
        ({"response": "  "}, None),
    ],
)
def test_what_was_executed(fields: dict[str, Any], action: str | None):
    (row,) = rows(step("a", "") | fields)
    assert row["actions"] == [action]


def test_step_numbers_order_the_steps_and_have_to_be_complete():
    steps = [step("a", tagged(f"go to room {n}"), step_id=n) for n in range(6)]
    random.Random(3).shuffle(steps)
    (row,) = rows(*steps)
    assert row["actions"] == [f"go to room {n}" for n in range(6)]
    assert [steps[line - 1]["step_id"] for line in row["steps"]] == list(range(6))
    (error,) = rows(*(each for each in steps if each["step_id"] != 2))
    assert "step numbers are not complete: 5 steps from 0 to 5" in error
    (error,) = rows(*(each for each in steps if each["step_id"] > 1))
    assert "step numbers are not complete: 4 steps from 2 to 5" in error


def test_a_number_that_is_the_same_in_all_is_the_trainers():
    (row,) = rows(*(step("a", tagged(f"go to room {n}"), step=40) for n in range(3)))
    assert row["actions"] == [f"go to room {n}" for n in range(3)]


def test_a_torn_record_takes_along_the_trajectories_it_may_belong_to():
    found = rows(
        step("a", tagged("look")),
        step("b", tagged("look")),
        None,
        step("b", tagged("look")),
        step("c", tagged("look")),
    )
    assert found[0]["trajectory"] == "a" and found[3]["trajectory"] == "c"
    assert found[1] == "line 2: trajectory 'b': line 3 cannot be read and may be a step of it"
    assert found[2] == "line 3: torn"


@pytest.mark.parametrize(
    ("second", "text"),
    [
        ({"extra.gamefile": "other"}, "line 1: trajectory 'a': its steps name 2 different tasks"),
        ({"extra.gamefile": None}, "line 1: trajectory 'a': names no task"),
        ({"response": 5}, "line 1: trajectory 'a': line 2 cannot be read"),
        ({"traj_uid": None}, "line 1: trajectory 'a': line 2 cannot be read"),
    ],
)
def test_a_trajectory_with_a_bad_step_is_an_error(second: dict[str, Any], text: str):
    found = rows(step("a", tagged("look")), step("a", tagged("look")) | second)
    assert found[0].startswith(text)


def test_the_task_can_be_named_by_a_key():
    (row,) = rows(step("a", tagged("look"), info={"where": "there"}), key="info.where")
    assert row["task"] == "there"
