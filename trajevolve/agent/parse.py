"""From a model's answer to an action."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Answer = Literal["action", "tagged"]
Compatibility = Literal["strict", "verl_agent_compat"]

_ACTION = re.compile(r"<action>(.*?)</action>", re.DOTALL)
_THINK = re.compile(r"<think>(.*?)</think>", re.DOTALL)
TAIL_CHARACTERS = 30


@dataclass(frozen=True)
class Parsed:
    """What an answer says.

    Attributes:
        action: lower-cased and stripped, None when there is none.
        thought: the text between the think tags, "" without.
        fallback: the tail of a malformed answer, handed to the environment as it is (only with
            ``verl_agent_compat``).
    """

    action: str | None
    thought: str = ""
    fallback: str = ""


def parse_response(
    text: str, answer: Answer = "tagged", compatibility: Compatibility = "strict"
) -> Parsed:
    """Read the action out of `text`.

    ``tagged``: the text between the first ``<action>`` and ``</action>``, and ``<think>`` tags
    have to be there; ``action``: the whole text is the action. Both are lower-cased and stripped.
    """
    if answer == "action":
        return Parsed(action=" ".join(text.lower().split()) or None)
    thought = _THINK.search(text)
    action = _ACTION.search(text)
    reasoning = thought.group(1).strip() if thought else ""
    if thought and action and action.group(1).strip():
        return Parsed(action=action.group(1).strip().lower(), thought=reasoning)
    fallback = text[-TAIL_CHARACTERS:] if compatibility == "verl_agent_compat" else ""
    return Parsed(action=None, thought=reasoning, fallback=fallback)


def write_response(action: str, answer: Answer = "tagged", thought: str = "") -> str:
    """Write the answer that says `action`, with the tags the parser wants."""
    if answer == "action":
        return action
    return f"<think>{thought}</think>\n<action>{action}</action>"
