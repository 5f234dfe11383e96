"""How PDDL identifiers become the names of the texts.

All identifiers are sorted in lower case; among those of one base name the last sorted gets number
1, the one before it 2, and so on. Basins carry ``basin`` in their base name.
"""

from __future__ import annotations

from collections import Counter

from trajevolve.envs.alfworld.problem import Problem
from trajevolve.errors import UserError

MOST_RECEPTACLES = 1000
MOST_OBJECTS = 10_000
"""Far beyond any room; texts grow with the square of what is in it."""

_SEPARATOR = "_bar_"
_ABOUT_OBJECTS = (
    "objectType",
    "pickupable",
    "isReceptacleObject",
    "cleanable",
    "heatable",
    "coolable",
    "sliceable",
    "toggleable",
    "inReceptacle",
    "inReceptacleObject",
    "objectAtLocation",
    "isCool",
    "isHot",
    "isClean",
    "isSliced",
    "isToggled",
)
_HOLDING = ("inReceptacleObject", "holds")
_ABOUT_RECEPTACLES = ("receptacleType", "openable", "receptacleAtLocation", "opened")


def names_of(problem: Problem) -> tuple[list[str], list[str], dict[str, str]]:
    """Name everything in `problem`.

    Returns:
        receptacle identifiers and object identifiers in PDDL order (lower case), and
        identifier -> name.
    """
    receptacles = {name.lower() for p in _ABOUT_RECEPTACLES for name in problem.names(p)}
    receptacles |= {fact[1].lower() for fact in problem.pairs("inReceptacle")}
    objects = {name.lower() for p in _ABOUT_OBJECTS for name in problem.names(p)}
    objects |= {fact[1].lower() for p in _HOLDING for fact in problem.pairs(p)}
    if len(receptacles) > MOST_RECEPTACLES or len(objects) > MOST_OBJECTS:
        raise UserError(
            f"{problem.name}: {len(receptacles)} receptacles and {len(objects)} objects; expected "
            f"at most {MOST_RECEPTACLES} and {MOST_OBJECTS}"
        )
    placed = {name.lower() for name in problem.names("receptacleAtLocation")}
    if receptacles - placed or receptacles & objects or not problem.pairs("atLocation"):
        odd = next(iter(sorted((receptacles - placed) | (receptacles & objects))), "the agent")
        raise UserError(
            f"{problem.name}: {odd} has no location or two kinds; use --backend engine to run it"
        )
    ordered = sorted(receptacles | objects)
    left = Counter(_base(name) for name in ordered)
    names: dict[str, str] = {}
    for identifier in ordered:
        base = _base(identifier)
        names[identifier] = f"{base} {left[base]}"
        left[base] -= 1
    return sorted(receptacles), sorted(objects), names


def _base(identifier: str) -> str:
    base, separator, _ = identifier.partition(_SEPARATOR)
    if not separator:
        raise UserError(f"{identifier}: not an ALFWorld name (no '_bar_'); use --backend engine")
    return f"{base}basin" if "basin" in identifier else base
