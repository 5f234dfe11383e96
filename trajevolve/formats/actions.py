"""The action in what an agent answered, by the conventions that recorded answers follow."""

from __future__ import annotations

import re

from trajevolve.agent.parse import parse_response
from trajevolve.errors import UserError

# At the start of a line first: a thought may well mention an action.
_LINE = re.compile(r"^[ \t]*action[ \t]*:\s*(\S.*)", re.IGNORECASE | re.MULTILINE)
_INLINE = re.compile(r"\baction[ \t]*:\s*(\S.*)", re.IGNORECASE)


def marked_action(text: str) -> str | None:
    """Return the action that `text` marks, lower-cased and stripped; None where it marks none.

    ``<action>…</action>`` as :func:`~trajevolve.agent.parse.parse_response` reads it, with or
    without a thought before it (what counts is what was executed, not whether it was penalised);
    else the rest of the line after ``Action:`` (ReAct: Yao et al. 2023, arXiv:2210.03629).

    Raises:
        UserError: several different ``Action:``, so that it is not known which was executed.
    """
    tagged = parse_response("<think></think>" + text).action
    if tagged is not None:
        return tagged
    found = _LINE.findall(text) or _INLINE.findall(text)
    actions = {whole_action(each) for each in found}
    if len(actions) > 1:
        raise UserError(
            f"an answer holds {len(actions)} different actions; which one was executed is not known"
        )
    return actions.pop() if actions else None


def whole_action(text: str) -> str | None:
    """Take the whole answer as the action, None where it is blank."""
    return parse_response(text, answer="action").action
