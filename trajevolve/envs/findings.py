"""What a check can come to besides passing, and how two answers are compared."""

from __future__ import annotations

from trajevolve.envs.contract import Outcome


class Broken(Exception):
    """The environment breaks its contract; the text says how and what to do."""


class Inapplicable(Exception):
    """The environment does not offer what the check looks at."""


def differ(one: Outcome, two: Outcome) -> str:
    """Name the first part in which two answers differ, "" when they are equal."""
    if one.observation.text != two.observation.text:
        return "text"
    if one.observation != two.observation:
        return "admissible set"
    for trait in ("feasible", "success", "done", "reward", "score", "costs_step"):
        if getattr(one, trait) != getattr(two, trait):
            return trait
    return ""
