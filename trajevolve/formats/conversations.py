"""Conversations: an agent's dialogue with its environment, one trajectory a record.

Two spellings: ``"conversations": [{"from": "human"|"gpt", "value": ...}]``, as the logs of ETO
and AgentGym have it, and ``"messages": [{"role": ..., "content": ...}]`` of chat formats. The
assistant's text marks its action as :func:`~trajevolve.formats.actions.marked_action` reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trajevolve.errors import UserError
from trajevolve.formats.actions import marked_action, whole_action
from trajevolve.formats.records import Record, converted, type_name
from trajevolve.formats.task import task_reference

EXPECTED = '{"conversations": [{"from": ..., "value": ...}, ...]} or "messages" of role and content'

ASSISTANT = frozenset({"gpt", "assistant", "agent", "model"})
OTHERS = frozenset({"human", "user", "system", "developer", "tool", "function", "observation"})
SPELLINGS = (("conversations", "from", "value"), ("messages", "role", "content"))
LONGEST_BARE = 200
"""Characters of an answer that can be an action without any mark."""


def fits(record: Mapping[str, Any]) -> bool:
    """Say whether `record` looks like a conversation."""
    return "actions" not in record and any(key in record for key, _, _ in SPELLINGS)


def convert(records: Iterable[Record], task_key: str | None = None) -> Iterator[Record]:
    """Make rows ``task``, ``actions``, ``turns`` and ``record`` of conversations.

    ``turns`` holds the 0-based position of each action's message, ``record`` the whole record. An
    answer without an action is a step without an action (null), except before the first and after
    the last action ("OK, I understand", "done"), where it is no step. Where no answer marks an
    action and all are one short line, the whole answers are the actions.
    """
    return converted(records, lambda record: _row(record, task_key))


def _row(record: dict[str, Any], task_key: str | None) -> dict[str, Any]:
    answers = _answers(record)
    actions = [(turn, marked_action(text)) for turn, text in answers]
    if all(action is None for _, action in actions):
        if any(len(text) > LONGEST_BARE or "\n" in text.strip() for _, text in answers):
            raise UserError("no answer of the assistant marks its action by Action: or <action>")
        actions = [(turn, whole_action(text)) for turn, text in answers]
    while actions and actions[0][1] is None:
        del actions[0]
    while actions and actions[-1][1] is None:
        del actions[-1]
    if not actions:
        raise UserError("the conversation holds no answer of the assistant")
    return {
        "task": task_reference(record, task_key),
        "actions": [action for _, action in actions],
        "turns": [turn for turn, _ in actions],
        "record": record,
    }


def _answers(record: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return position and text of the assistant's messages."""
    spelling = next((each for each in SPELLINGS if each[0] in record), None)
    if spelling is None:
        raise UserError(f"no conversation; expected {EXPECTED}")
    key, role_key, text_key = spelling
    messages = record[key]
    if not isinstance(messages, list):
        raise UserError(f'"{key}": expected a list of messages, got {type_name(messages)}')
    answers = []
    for turn, message in enumerate(messages):
        where = f'"{key}"[{turn}]'
        if not isinstance(message, Mapping):
            raise UserError(f"{where}: expected a message, got {type_name(message)}")
        role = message.get(role_key)
        if not isinstance(role, str) or role not in ASSISTANT | OTHERS:
            raise UserError(
                f'{where}: "{role_key}" is {"null" if role is None else repr(role)}; '
                f"expected one of {', '.join(sorted(ASSISTANT | OTHERS))}"
            )
        if role in ASSISTANT:
            answers.append((turn, _text(message.get(text_key), f"{where}.{text_key}")))
    return answers


def _text(content: object, where: str) -> str:
    """Return a message's text; chat formats may split it into parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        texts = [text for text in parts if isinstance(text, str)]
        if len(texts) == len(content):
            return "".join(texts)
    raise UserError(f"{where}: expected text, got {type_name(content)}")
