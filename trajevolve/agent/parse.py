"""From a model's answer to an action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Answer = Literal["action", "tagged"]
Compatibility = Literal["strict", "verl_agent_compat"]

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
    thought = _between(text, "think")
    action = _between(text, "action")
    reasoning = thought or ""
    if thought is not None and action:
        return Parsed(action=action.lower(), thought=reasoning)
    fallback = text[-TAIL_CHARACTERS:] if compatibility == "verl_agent_compat" else ""
    return Parsed(action=None, thought=reasoning, fallback=fallback)


def _between(text: str, tag: str) -> str | None:
    """The text between the first opening tag and the next closing one; None without them.

    In time linear in the text: a model may well repeat one tag without end.
    """
    _, opened, rest = text.partition(f"<{tag}>")
    inside, closed, _ = rest.partition(f"</{tag}>")
    return inside.strip() if opened and closed else None


def write_response(action: str, answer: Answer = "tagged", thought: str = "") -> str:
    """Write the answer that says `action`, with the tags the parser wants."""
    if answer == "action":
        return action
    return f"<think>{thought}</think>\n<action>{action}</action>"
