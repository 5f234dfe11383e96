"""Kinds of actions, and the actions that templates and things in sight make."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from rapidfuzz.distance import Levenshtein

from trajevolve.envs.contract import Kind

KINDS = {
    **dict.fromkeys(
        (
            "open", "close", "go", "teleport", "pick up", "put down", "move", "pour", "dunk",
            "mix", "activate", "deactivate", "connect", "disconnect", "use", "eat", "flush",
            "wait", "wait1", "focus on", "reset task",
        ),
        Kind.CHANGING,
    ),
    **dict.fromkeys(
        ("look around", "inventory", "task", "look at", "examine", "look in", "read",
         "use thermometer on"),
        Kind.INFORMATION,
    ),
}  # fmt: skip
"""Verbs by what they can do. The first three queries are free, the other ones take a tick."""

_INFORMATION = re.compile(
    r"look around|inventory|task|(?:look at|look in|examine|read) .+"
    r"|use thermometer(?: in (?:your )?inventory)? on .+"
)
_SLOT = "OBJ"

MOST_CANDIDATES = 4000
"""Bound of the instantiated actions that are listed."""
NEAREST = 4
"""Things tried for each argument of a wrong action."""


def kind_of(action: str) -> Kind:
    """Queries leave everything but the clock as it is; unknown verbs count as changing."""
    found = _INFORMATION.fullmatch(action.strip().lower())
    return Kind.INFORMATION if found else Kind.CHANGING


def instantiate(templates: Sequence[str], things: Sequence[str]) -> tuple[str, ...]:
    """Fill templates with things, those with fewer arguments first.

    Where the pairs of two-argument templates are too many, evenly spaced ones stand for them.
    """
    plain = [each for each in templates if _SLOT not in each]
    single = [
        fill(each, (thing,)) for each in templates if each.count(_SLOT) == 1 for thing in things
    ]
    double = [each for each in templates if each.count(_SLOT) == 2]
    room = max(MOST_CANDIDATES - len(plain) - len(single), 0)
    pairs = len(double) * len(things) ** 2
    every = max(-(-pairs // room), 1) if room else pairs + 1
    made = (
        fill(template, pair)
        for place, (template, *pair) in enumerate(product(double, things, things))
        if place % every == 0
    )
    return tuple(dict.fromkeys((*plain, *single, *made)))


def nearby(action: str, templates: Sequence[str], things: Sequence[str]) -> tuple[str, ...]:
    """List the actions that a wrong `action` may have meant.

    Each template is matched against `action`; its arguments are filled with the things whose names
    are nearest to the words that stand in their places.
    """
    found: list[str] = []
    for template in templates:
        arguments = _arguments(action, template)
        choices = [_nearest(words, things) for words in arguments]
        found += [fill(template, chosen) for chosen in product(*choices)]
    return tuple(dict.fromkeys(found))


def fill(template: str, things: Sequence[str]) -> str:
    """Put things into the places of a template."""
    for thing in things:
        template = template.replace(_SLOT, thing, 1)
    return template


def _arguments(action: str, template: str) -> list[str]:
    """Cut the words of `action` that stand where the template has its arguments.

    A joining word of the template (``pour OBJ in OBJ``) is where the words are cut; without it,
    every word may belong to either.
    """
    count = template.count(_SLOT)
    verb = template.split(f" {_SLOT}")[0] if count else template
    words = action.split()
    rest = " ".join(words[len(verb.split()) :]) or action
    if count < 2:
        return [rest] * count
    joint = template.split(_SLOT)[1]
    before, cut, after = rest.partition(joint)
    return [before, after] if cut else [rest, rest]


def _nearest(words: str, things: Sequence[str]) -> list[str]:
    ranked = sorted(things, key=lambda thing: Levenshtein.normalized_distance(words, thing))
    return ranked[:NEAREST]
