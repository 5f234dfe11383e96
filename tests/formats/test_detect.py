"""The format is told by the first object that fits one; the others are held to it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajevolve.errors import UserError
from trajevolve.formats.detect import Format, to_rows
from trajevolve.formats.records import Record

ROW = {"task": "0", "actions": ["look"], "messages": [{"role": "user", "content": "hi"}]}
TALK = {"id": "0", "messages": [{"role": "assistant", "content": "look"}]}
STEP = {"traj_uid": "u", "gamefile": "0", "response": "<action>look</action>"}


def rows(*contents: Any, format: Format = "auto", key: str | None = None) -> list[Record]:
    records = [
        Record(number, content, "" if content is not None else "torn")
        for number, content in enumerate(contents, start=1)
    ]
    return list(to_rows(records, format, key))


@pytest.mark.parametrize("record", [ROW, TALK, STEP, ROW | {"traj_uid": "u", "output": "x"}])
def test_each_format_is_told(record: dict[str, Any]):
    (found,) = rows(record)
    assert found.content and found.content["actions"] == ["look"]


def test_rows_pass_as_they_are_but_for_a_task_key():
    assert rows(ROW)[0].content == ROW
    assert rows(ROW | {"m": {"g": "9"}}, key="m.g")[0].content == ROW | {
        "task": "9",
        "m": {"g": "9"},
    }


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (ROW, TALK, "looks like conversations in an input of rows"),
        (TALK, ROW, "looks like rows in an input of conversations"),
        (TALK, STEP, "looks like verl-agent in an input of conversations"),
        (TALK, {"id": "0"}, "no conversation; expected"),
    ],
)
def test_one_input_holds_one_format(first: Any, second: Any, text: str):
    good, bad = rows(first, second)
    assert good.content
    assert (bad.place, bad.content) == ("line 2", None)
    assert bad.error.startswith(text)


def test_what_comes_before_the_first_fitting_object_stays():
    torn, strange, good = rows(None, {"x": 1}, TALK)
    assert (torn.error, strange.place, bool(good.content)) == ("torn", "line 2", True)
    assert strange.error.startswith("no conversation")


def test_nothing_fits():
    with pytest.raises(UserError, match=r"line 2 is an object with input, score; expected .*rows"):
        rows(None, {"input": 1, "score": 2})
    with pytest.raises(UserError, match="an object with no keys"):
        list(to_rows([Record(1, {})]))
    with pytest.raises(UserError, match="holds no JSON object; line 1: torn; expected"):
        rows(None, None)
    formats: tuple[Format, ...] = ("auto", "rows", "verl-agent", "conversations")
    for name in formats:
        with pytest.raises(UserError, match=r"holds no JSON object; it is empty; expected .*rows"):
            to_rows([], name)


def test_a_format_that_was_named_is_not_guessed():
    (found,) = rows(ROW, format="verl-agent")
    assert found.error.startswith("looks like rows in an input of verl-agent")


LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3) | st.just("Action: a")
NAMES = """task actions conversations messages from value role content traj_uid response output
action step active_masks gamefile meta"""
KEYS = st.sampled_from(NAMES.split())
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
)
CONTENTS = st.lists(st.dictionaries(KEYS, VALUES, max_size=6), max_size=4)


@settings(max_examples=30)
@given(CONTENTS, st.sampled_from(["auto", "rows", "verl-agent", "conversations"]))
def test_whatever_the_objects_hold_is_a_row_or_an_error(contents: Any, format: Format):
    try:
        found = rows(*contents, format=format)
    except UserError:
        assert format == "auto" or not contents
        return
    assert all(bool(record.error) == (record.content is None) for record in found)
    if format in ("verl-agent", "conversations"):
        made = [record.content for record in found if record.content is not None]
        assert all(isinstance(row["task"], str) and row["actions"] for row in made)
