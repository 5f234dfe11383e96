"""One game's PDDL problem as data: its facts and its goal, read and written.

Only what the published problems contain is understood: ground facts of known predicates and one
of six goal formulas. Anything else is refused by name, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from trajevolve.errors import UserError

Fact = tuple[str, ...]

_SIGNATURES: dict[str, tuple[str, ...]] = {
    "receptacleType": ("receptacle", "rtype"),
    "objectType": ("object", "otype"),
    "canContain": ("rtype", "otype"),
    "openable": ("receptacle",),
    "opened": ("receptacle",),
    "atLocation": ("agent", "location"),
    "receptacleAtLocation": ("receptacle", "location"),
    "objectAtLocation": ("object", "location"),
    "inReceptacle": ("object", "receptacle"),
    "inReceptacleObject": ("object", "object"),
    "holds": ("agent", "object"),
    "holdsAny": ("agent",),
    **dict.fromkeys(
        ("pickupable", "cleanable", "heatable", "coolable", "sliceable", "toggleable"),
        ("object",),
    ),
    **dict.fromkeys(("isClean", "isHot", "isCool", "isSliced", "isToggled", "isOn"), ("object",)),
    "isReceptacleObject": ("object",),
}
"""Known predicate -> PDDL types of its arguments."""

_CONSTANTS = {
    "KnifeType": "otype",
    "ButterKnifeType": "otype",
    "SinkType": "otype",
    "SinkBasinType": "rtype",
    "MicrowaveType": "rtype",
    "FridgeType": "rtype",
}
"""Types that the domain's actions name without declaring them, so every problem has to.

A sink is an object in the published games (its basin is the receptacle), although the domain asks
whether a receptacle is one. A name is declared once: a second declaration, of another kind even,
is an error to the real engine.
"""

MOST_FACTS = 50_000
"""More than twenty times what the largest published problem states."""

_FACT = re.compile(r"\(\s*(\w+)\s+([^\s()]+)(?:\s+([^\s()]+))?\s*\)")

_PROPERTIES = {"clean": "cleanable", "heat": "heatable", "cool": "coolable"}
_RESULTS = {"clean": "isClean", "heat": "isHot", "cool": "isCool"}


@dataclass(frozen=True)
class Goal:
    """What has to hold at the end.

    Attributes:
        type: task type.
        object: PDDL type of the object, ``MugType``.
        place: PDDL type of the receptacle, or of the lamp in look_at_obj_in_light.
    """

    type: str
    object: str
    place: str


@dataclass(frozen=True)
class Problem:
    """A problem as PDDL states it: predicate -> argument tuples in the written order, and the goal.

    Identifiers keep their case; PDDL ignores it, so readers of this class compare lower case.
    """

    name: str
    facts: Mapping[str, tuple[Fact, ...]]
    goal: Goal

    def pairs(self, predicate: str) -> tuple[Fact, ...]:
        """Arguments of all facts of `predicate`; () where it does not occur."""
        return self.facts.get(predicate, ())

    def names(self, predicate: str) -> frozenset[str]:
        """First arguments of all facts of `predicate`."""
        return frozenset(fact[0] for fact in self.pairs(predicate))


def parse_problem(text: str, where: str) -> Problem:
    """Read a ``pddl_problem``.

    Args:
        text: the PDDL text.
        where: file or task named in errors.

    Raises:
        UserError: a section is missing, or a predicate or the goal is not one of the known ones.
    """
    start, end = text.find("(:init"), text.find("(:goal")
    if start < 0 or end < start:
        raise UserError(f"{where}: field 'pddl_problem' lacks (:init or (:goal; is the file whole?")
    init = text[start + len("(:init") : end]
    found: dict[str, list[Fact]] = {}
    count = 0
    for predicate, first, second in _FACT.findall(init):
        count += 1
        fact = (first, second) if second else (first,)
        found.setdefault(predicate, []).append(fact)
    if count != init.count("("):
        raise UserError(
            f"{where}: (:init holds something other than plain facts; use --backend engine"
        )
    unknown = sorted(found.keys() - _SIGNATURES.keys())
    if unknown:
        raise UserError(
            f"{where}: unknown predicate {unknown[0]!r} in (:init; use --backend engine"
        )
    _check_facts(found, where)
    name = re.search(r"\(problem\s+([^\s()]+)", text)
    return Problem(
        name=name.group(1) if name else "",
        facts={predicate: tuple(facts) for predicate, facts in found.items()},
        goal=parse_goal(text, where),
    )


def _check_facts(found: Mapping[str, list[Fact]], where: str) -> None:
    """Refuse facts with too few or too many arguments, and far too many facts."""
    if sum(map(len, found.values())) > MOST_FACTS:
        raise UserError(f"{where}: (:init states more than {MOST_FACTS} facts; is it one game?")
    for predicate, facts in found.items():
        arguments = _SIGNATURES[predicate]
        odd = next((fact for fact in facts if len(fact) != len(arguments)), None)
        if odd is not None:
            raise UserError(
                f"{where}: ({predicate} {' '.join(odd)}) in (:init; expected {len(arguments)} "
                f"arguments: {', '.join(arguments)}"
            )


def goal_text(goal: Goal) -> str:
    """Write the goal formula of `goal` in the published form."""
    if goal.type == "look_at_obj_in_light":
        return (
            "(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) "
            f"(and (objectType ?ot {goal.place}) (toggleable ?ot) (isToggled ?ot) "
            "(receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r) ) ) "
            "(exists (?o - object ?a - agent) "
            f"(and (objectType ?o {goal.object}) (holds ?a ?o) ) ) )"
        )
    if goal.type == "pick_two_obj_and_place":
        return (
            "(and (exists (?r - receptacle) (exists (?o1 - object) "
            f"(and (objectType ?o1 {goal.object}) (receptacleType ?r {goal.place}) "
            "(inReceptacle ?o1 ?r) (exists (?o2 - object) "
            f"(and (not (= ?o1 ?o2)) (objectType ?o2 {goal.object}) "
            f"(receptacleType ?r {goal.place}) (inReceptacle ?o2 ?r) ) ) ) ) ) )"
        )
    if goal.type == "pick_and_place_simple":
        return (
            "(and (exists (?r - receptacle) (exists (?o - object) (and (inReceptacle ?o ?r) "
            f"(objectType ?o {goal.object}) (receptacleType ?r {goal.place}) ) ) ) )"
        )
    verb = goal.type.split("_")[1]
    return (
        f"(and (exists (?r - receptacle) (exists (?o - object) (and ({_PROPERTIES[verb]} ?o) "
        f"(objectType ?o {goal.object}) (receptacleType ?r {goal.place}) "
        f"({_RESULTS[verb]} ?o) (inReceptacle ?o ?r) ) ) ) )"
    )


def _goal_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The six published formulas as patterns: groups o and r are the two types."""
    patterns = []
    for name in (
        "pick_and_place_simple",
        "look_at_obj_in_light",
        "pick_clean_then_place_in_recep",
        "pick_heat_then_place_in_recep",
        "pick_cool_then_place_in_recep",
        "pick_two_obj_and_place",
    ):
        pattern = re.escape(goal_text(Goal(name, "OBJECT", "PLACE"))).replace(r"\ ", " ")
        for group, mark in (("o", "OBJECT"), ("r", "PLACE")):
            first, *rest = pattern.split(mark)
            pattern = first + rf"(?P<{group}>\w+)" + rf"(?P={group})".join(rest)
        patterns.append((name, re.compile(pattern)))
    return tuple(patterns)


_GOALS = _goal_patterns()


def parse_goal(problem: str, where: str) -> Goal:
    """Read the goal of a ``pddl_problem`` without the rest of it.

    Raises:
        UserError: it has none, or one that is none of the six published kinds.
    """
    start = problem.rfind("(:goal")
    if start < 0:
        raise UserError(f"{where}: field 'pddl_problem' has no (:goal; is the file whole?")
    formula = " ".join(problem[start + len("(:goal") :].split())
    for name, pattern in _GOALS:
        found = pattern.match(formula)
        if found and set(formula[found.end() :]) <= {")", " "}:
            return Goal(name, found["o"], found["r"])
    raise UserError(
        f"{where}: the goal is none of the six published kinds; use --backend engine to run it"
    )


def render_problem(problem: Problem) -> str:
    """Write `problem` as PDDL text that the published domain accepts."""
    kinds: dict[str, dict[str, None]] = {
        key: {} for key in ("agent", "object", "otype", "rtype", "receptacle", "location")
    }
    kinds["rtype" if problem.goal.type != "look_at_obj_in_light" else "otype"][
        problem.goal.place
    ] = None
    kinds["otype"][problem.goal.object] = None
    lines = []
    for predicate, facts in problem.facts.items():
        for fact in facts:
            for kind, argument in zip(_SIGNATURES[predicate], fact, strict=True):
                kinds[kind][argument] = None
            lines.append(f"        ({predicate} {' '.join(fact)})")
    used = {name.lower() for names in kinds.values() for name in names}
    for name, kind in _CONSTANTS.items():
        if name.lower() not in used:
            kinds[kind][name] = None
    declared = [f"        {name} - {kind}" for kind, names in kinds.items() for name in names]
    parts = (
        f"\n(define (problem {problem.name})\n(:domain alfred)\n(:objects",
        *declared,
        "        )\n\n(:init",
        *lines,
        f"        )\n\n        (:goal\n             {goal_text(problem.goal)}\n        )\n    )\n",
    )
    return "\n".join(parts)
