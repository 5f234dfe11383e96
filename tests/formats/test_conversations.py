"""Conversations in both spellings, and the answers whose action cannot be told."""

from typing import Any

import pytest

from trajevolve.formats.conversations import convert
from trajevolve.formats.records import Record

REACT = ["OK", "Thought: a key?\nAction: Take  Key", "hm", "Thought: on. Action: go to room 2"]


def turns(*answers: Any, roles: tuple[str, str] = ("human", "gpt")) -> list[dict[str, Any]]:
    messages = []
    for answer in answers:
        messages += [{"from": roles[0], "value": "seen"}, {"from": roles[1], "value": answer}]
    return messages


def chat(*answers: Any) -> list[dict[str, Any]]:
    names = {"human": "user", "gpt": "assistant"}
    return [{"role": names[m["from"]], "content": m["value"]} for m in turns(*answers)]


def one(record: dict[str, Any], key: str | None = None) -> Record:
    (found,) = convert([Record(3, record)], key)
    return found


@pytest.mark.parametrize("spell", [turns, chat])
def test_actions_of_react_answers(spell: Any):
    record = {
        "game_file": "train/a/b/game.tw-pddl",
        "conversations" if spell is turns else "messages": spell(*REACT, "All done."),
    }
    row = one(record).content
    assert row == {
        "task": "train/a/b/game.tw-pddl",
        "actions": ["take key", None, "go to room 2"],  # "OK" and "All done." are no steps
        "turns": [3, 5, 7],
        "record": record,
    }


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("<think>x</think>\n<action>Go To room 1</action>", "go to room 1"),
        ("<action> look </action>", "look"),
        ("Thought: my last Action: open chest failed.\nAction: go to room 1", "go to room 1"),
        ("Action:\nlook", "look"),
        ("ACTION: click[Buy Now]", "click[buy now]"),
        ("Action: look\nAction: look", "look"),
        ([{"type": "text", "text": "Action: "}, {"type": "text", "text": "look"}], "look"),
    ],
)
def test_ways_to_mark_an_action(answer: Any, action: str):
    row = one({"task_id": "0", "messages": chat(answer)}).content
    assert row and row["actions"] == [action]


def test_short_answers_without_any_mark_are_actions():
    row = one({"task_id": "0", "messages": chat("take key", "", "look")}).content
    assert row and (row["actions"], row["turns"]) == (["take key", None, "look"], [1, 3, 5])


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        (None, '"messages": expected a list of messages, got null'),
        ([], "the conversation holds no answer"),
        (["hi"], '"messages"[0]: expected a message, got text'),
        ([{"content": "hi"}], '"messages"[0]: "role" is null; expected one of'),
        ([{"role": "ghost", "content": "hi"}], '"messages"[0]: "role" is \'ghost\''),
        ([{"role": ["a"], "content": "hi"}], '"messages"[0]: "role" is [\'a\']'),
        (chat(None), '"messages"[1].content: expected text, got null'),
        (chat([{"type": "image"}]), '"messages"[1].content: expected text, got a list'),
        (chat("I would\nrather not"), "no answer of the assistant marks its action"),
        (chat("Action: look\nAction: take key"), "an answer holds 2 different actions"),
    ],
)
def test_what_cannot_be_converted_is_an_error(messages: Any, text: str):
    found = one({"task_id": "0", "messages": messages})
    assert (found.content, found.place) == (None, "line 3")
    assert found.error.startswith(text)


@pytest.mark.parametrize(
    ("fields", "key", "task"),
    [
        ({"id": 7, "game_file": "g"}, None, "g"),
        ({"id": "g", "task": "put a mug on a desk"}, None, "g"),
        ({"id": 7, "meta": {"gamefile": "g"}}, None, "g"),
        ({"item_id": 7}, None, "7"),
        ({"extra.gamefile": "g", "task": "a sentence"}, None, "g"),
        ({"a": {"b": {"c": "g"}}, "id": "other"}, "a.b.c", "g"),
        ({"a.b": "g", "a": {"b": "h"}}, "a.b", "g"),
        ({"id": 7}, "id", "7"),
        ({"id": 7}, None, "names no task: none of game_file"),
        ({"id": "g"}, "a.b", "--task-key a.b: expected a path or id there, got null"),
        ({"id": True, "task": " "}, None, "names no task"),
    ],
)
def test_where_the_task_stands(fields: dict[str, Any], key: str | None, task: str):
    found = one({**fields, "messages": chat("look")}, key)
    assert found.content["task"] == task if found.content else found.error.startswith(task)
