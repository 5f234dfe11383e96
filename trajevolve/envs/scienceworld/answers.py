"""What the simulator's answers mean: done, not understood, ambiguous, or failed."""

from __future__ import annotations

import re

UNKNOWN = "No known action matches that input."
"""The answer to what cannot be executed; it takes no time."""

_AMBIGUOUS = "Ambiguous request: Please enter the number"
_MULTIPLE = "Ambiguous request: Multiple"
_CHOICE = re.compile(r"(\d+):\t(.*)")

_SOFT = re.compile(
    r"(?:"
    r"I'm not sure (?:what that means|how to .*)"
    r"|It'?s not clear how .*"
    r"|.* is already (?:open|closed|activated|deactivated|connected.*)"
    r"|.* is not (?:something that can be activated|closeable|openable|move?able|open|edible"
    r"|a container|passable|currently passable|locked)"
    r"|.* is in is not movable"
    r"|.* is locked"
    r"|.* isn't open(?:, so you can't see inside)?"
    r"|.* appears broken, and can't be activated or deactivated"
    r"|.* can't be (?:connected to itself|poured out.*|moved there.*)"
    r"|Connections must specify .*"
    r"|You must disconnect entire objects .*"
    r"|You can't (?:dunk|move|pick up|pour) .*"
    r"|.* does not contain any liquids to dunk into"
    r"|The liquids in .* aren't able to move"
    r"|That is already flushing"
    r"|The door doesn't appear to go anywhere"
    r"|.* is empty, so there's nothing to pour"
    r"|That object (?:already appears|does not appear) to be in the inventory"
    r"|That thing doesn't appear to have a temperature that the thermometer can read"
    r"|Unknown action\..*"
    r"|<?ERROR.*"
    r")\.?"
)


def failed_softly(answer: str) -> bool:
    """Say whether an answer tells that nothing came of an action, though time passed."""
    text = answer.strip()
    return text.startswith(_MULTIPLE) or _SOFT.fullmatch(text) is not None


def choices(answer: str) -> tuple[tuple[str, str], ...]:
    """List number and action of an ambiguity's choices; none where nothing is ambiguous.

    The simulator takes the next input as the answer, so that one must follow at once.
    """
    if not answer.startswith(_AMBIGUOUS):
        return ()
    found = (_CHOICE.fullmatch(line) for line in answer.splitlines())
    return tuple((each[1], each[2].strip()) for each in found if each)


def ambiguous(answer: str) -> bool:
    """Say whether the simulator waits for a choice."""
    return answer.startswith(_AMBIGUOUS)


def choose(action: str, offered: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    """Choose what `action` says word for word, else the first: number and action.

    The order is the simulator's and the same in every process.
    """
    exact = [each for each in offered if each[1].lower() == action.lower()]
    return (exact or offered)[0]
