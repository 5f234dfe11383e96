"""Symbolic simulator of one ALFWorld game: a pure transition function on immutable states.

The published domain is grounded by hand: objects and receptacles are small integers, sets of them
are bit masks, and a state is one tuple. It answers like the real engine (TextWorld on Fast
Downward), its oddities included:

* going to a receptacle that shares the agent's location is not possible;
* an object may lie in two receptacles at once, and only leaves the one it is taken from;
* lamps work through closed doors; heating, cooling and cleaning need no open door;
* only the held object can be examined.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from trajevolve.envs.alfworld.naming import names_of
from trajevolve.envs.alfworld.problem import Goal, Problem


class Verb(IntEnum):
    """The thirteen commands; the first ten change the state."""

    GO = 0
    OPEN = 1
    CLOSE = 2
    TAKE = 3
    MOVE = 4
    HEAT = 5
    COOL = 6
    CLEAN = 7
    USE = 8
    SLICE = 9
    EXAMINE_RECEPTACLE = 10
    EXAMINE_OBJECT = 11
    LOOK = 12
    INVENTORY = 13
    HELP = 14


class Operation(NamedTuple):
    """A command with its names resolved; -1 where it has no such argument.

    ``slice O with K`` keeps the knife K in `other`.
    """

    verb: Verb
    object: int = -1
    receptacle: int = -1
    other: int = -1


class State(NamedTuple):
    """Everything that can change. Masks have bit i for object (or receptacle) i.

    Attributes:
        location: index of the agent's location; 0 is the start.
        held: index of the held object, -1 for empty hands.
        opened: mask of open receptacles.
        inside: per receptacle, mask of the objects in it.
        beside: per location, mask of the objects PDDL has there (``objectAtLocation``).
        clean, hot, cool, toggled, sliced: masks of objects.
        taken: per receptacle, mask of the objects taken from it and not put back. Only the text
            of ``look`` depends on it, so it is no part of :meth:`Simulator.key`.
    """

    location: int
    held: int
    opened: int
    inside: tuple[int, ...]
    beside: tuple[int, ...]
    clean: int
    hot: int
    cool: int
    toggled: int
    sliced: int
    taken: tuple[int, ...]


_PREPOSITIONS = {
    "take": ("from", Verb.TAKE),
    "move": ("to", Verb.MOVE),
    "heat": ("with", Verb.HEAT),
    "cool": ("with", Verb.COOL),
    "clean": ("with", Verb.CLEAN),
}
_SINGLE = {"look": Verb.LOOK, "inventory": Verb.INVENTORY, "help": Verb.HELP}


class _Identifiers:
    """PDDL identifiers of one problem and their indices."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.receptacles, self.objects, self.names = names_of(problem)
        self.receptacle = {name: i for i, name in enumerate(self.receptacles)}
        self.object = {name: i for i, name in enumerate(self.objects)}
        where = {a.lower(): b.lower() for a, b in problem.pairs("receptacleAtLocation")}
        self.locations = {problem.pairs("atLocation")[0][1].lower(): 0}
        for name in self.receptacles:
            self.locations.setdefault(where[name], len(self.locations))
        self.place = tuple(self.locations[where[name]] for name in self.receptacles)

    def object_mask(self, predicate: str) -> int:
        names = {name.lower() for name in self._problem.names(predicate)}
        return sum(1 << self.object[name] for name in names)

    def receptacle_mask(self, predicate: str) -> int:
        names = {name.lower() for name in self._problem.names(predicate)}
        return sum(1 << self.receptacle[name] for name in names)

    def types(self, predicate: str, identifiers: list[str]) -> tuple[str, ...]:
        known = {a.lower(): b for a, b in self._problem.pairs(predicate)}
        return tuple(known.get(name, "") for name in identifiers)


def _start(problem: Problem, ids: _Identifiers) -> State:
    """The start state that `problem` describes."""
    inside = [0] * len(ids.receptacles)
    for a, b in problem.pairs("inReceptacle"):
        inside[ids.receptacle[b.lower()]] |= 1 << ids.object[a.lower()]
    beside = [0] * len(ids.locations)
    for a, b in problem.pairs("objectAtLocation"):
        # Locations without a receptacle cannot be reached, so what lies there does not matter.
        if b.lower() in ids.locations:
            beside[ids.locations[b.lower()]] |= 1 << ids.object[a.lower()]
    held = [ids.object[fact[1].lower()] for fact in problem.pairs("holds")]
    return State(
        location=0,
        held=held[0] if held else -1,
        opened=ids.receptacle_mask("opened"),
        inside=tuple(inside),
        beside=tuple(beside),
        clean=ids.object_mask("isClean"),
        hot=ids.object_mask("isHot"),
        cool=ids.object_mask("isCool"),
        toggled=ids.object_mask("isToggled"),
        sliced=ids.object_mask("isSliced"),
        taken=(0,) * len(ids.receptacles),
    )


class Simulator:
    """One grounded game. Immutable but for its caches; may be shared by many episodes.

    Attributes:
        start: the start state.
        goal: the goal.
        receptacles, objects: names in PDDL order (``cabinet 3``, ``mug 1``).
        receptacle_types, object_types: their PDDL types, "" for an object without one.
        place: per receptacle, index of its location.
        at: per location, the receptacles there, in order.
    """

    def __init__(self, problem: Problem) -> None:
        ids = _Identifiers(problem)
        self.goal: Goal = problem.goal
        self.receptacles = tuple(ids.names[i] for i in ids.receptacles)
        self.objects = tuple(ids.names[i] for i in ids.objects)
        self.receptacle_index = {name: i for i, name in enumerate(self.receptacles)}
        self.object_index = {name: i for i, name in enumerate(self.objects)}
        self.receptacle_types = ids.types("receptacleType", ids.receptacles)
        self.object_types = ids.types("objectType", ids.objects)
        self.place = ids.place
        self.at = tuple(
            tuple(r for r, place in enumerate(ids.place) if place == here)
            for here in range(len(ids.locations))
        )
        self._set_properties(problem, ids)
        self.start = _start(problem, ids)
        self.targets = self.of_type(self.goal.object)
        self.lamps = self.of_type(self.goal.place) & self.toggleable
        self.destinations = tuple(
            r for r, kind in enumerate(self.receptacle_types) if kind == self.goal.place
        )
        self._operations: dict[str, Operation | None] = {}

    def _set_properties(self, problem: Problem, ids: _Identifiers) -> None:
        """Turn the facts that never change into masks."""
        self.openable = ids.receptacle_mask("openable")
        self.pickupable = ids.object_mask("pickupable")
        self.heatable = ids.object_mask("heatable")
        self.coolable = ids.object_mask("coolable")
        self.cleanable = ids.object_mask("cleanable")
        self.sliceable = ids.object_mask("sliceable")
        self.toggleable = ids.object_mask("toggleable")
        self.containers = ids.object_mask("isReceptacleObject")
        self.knives = self.of_type("KnifeType") | self.of_type("ButterKnifeType")
        by_kind: dict[str, int] = {}
        for kind, held in problem.pairs("canContain"):
            by_kind[kind] = by_kind.get(kind, 0) | self.of_type(held)
        self.accepts = tuple(by_kind.get(kind, 0) for kind in self.receptacle_types)
        self.microwaves = self._of_kind("MicrowaveType")
        self.fridges = self._of_kind("FridgeType")
        self.sinks = self._of_kind("SinkType") | self._of_kind("SinkBasinType")
        inner = [0] * len(ids.objects)
        for a, b in problem.pairs("inReceptacleObject"):
            inner[ids.object[b.lower()]] |= 1 << ids.object[a.lower()]
        self.inner = tuple(inner)

    def of_type(self, name: str) -> int:
        """Mask of the objects of PDDL type `name`."""
        return sum(1 << i for i, kind in enumerate(self.object_types) if kind == name)

    def _of_kind(self, name: str) -> int:
        return sum(1 << i for i, kind in enumerate(self.receptacle_types) if kind == name)

    def operation(self, command: str) -> Operation | None:
        """Resolve `command`; None when it is no command or names something that is not here."""
        try:
            return self._operations[command]
        except KeyError:
            # Commands come from a model: without a bound the cache could grow for ever.
            if len(self._operations) > 50_000:
                self._operations.clear()
            found = self._operations[command] = self._resolve(command)
            return found

    def _resolve(self, command: str) -> Operation | None:
        words = command.split(" ")
        verb, count = words[0], len(words)
        if count == 1:
            return Operation(_SINGLE[verb]) if verb in _SINGLE else None
        if count == 6 and verb in _PREPOSITIONS:
            preposition, code = _PREPOSITIONS[verb]
            o = self.object_index.get(f"{words[1]} {words[2]}", -1)
            r = self.receptacle_index.get(f"{words[4]} {words[5]}", -1)
            return Operation(code, o, r) if words[3] == preposition and min(o, r) >= 0 else None
        if count == 6 and verb == "slice" and words[3] == "with":
            o = self.object_index.get(f"{words[1]} {words[2]}", -1)
            k = self.object_index.get(f"{words[4]} {words[5]}", -1)
            return Operation(Verb.SLICE, o, -1, k) if min(o, k) >= 0 else None
        name = " ".join(words[-2:])
        r = self.receptacle_index.get(name, -1)
        if count == 4 and words[:2] == ["go", "to"] and r >= 0:
            return Operation(Verb.GO, -1, r)
        if count != 3:
            return None
        if r >= 0 and verb in ("open", "close", "examine"):
            codes = {"open": Verb.OPEN, "close": Verb.CLOSE, "examine": Verb.EXAMINE_RECEPTACLE}
            return Operation(codes[verb], -1, r)
        o = self.object_index.get(name, -1)
        if o >= 0 and verb in ("use", "examine"):
            return Operation(Verb.USE if verb == "use" else Verb.EXAMINE_OBJECT, o)
        return None

    def apply(self, state: State, operation: Operation) -> State | None:
        """Execute `operation`; None when it is not possible in `state`. Queries return `state`."""
        verb, o, r, other = operation
        here, held, opened, inside, beside, clean, hot, cool, toggled, sliced, taken = state
        if verb == Verb.GO:
            there = self.place[r]
            if there == here:
                return None
            return State(
                there, held, opened, inside, beside, clean, hot, cool, toggled, sliced, taken
            )
        if verb >= Verb.EXAMINE_RECEPTACLE:
            if verb == Verb.EXAMINE_RECEPTACLE:
                return state if self.place[r] == here else None
            return state if verb != Verb.EXAMINE_OBJECT or o == held else None
        if verb == Verb.USE:
            if not self.reachable_lamp(state, o):
                return None
            return state._replace(toggled=toggled | 1 << o)
        if verb == Verb.SLICE:
            can = other == held and self.knives >> other & self.sliceable >> o & beside[here] >> o
            return state._replace(sliced=sliced | 1 << o) if can & 1 else None
        if self.place[r] != here:
            return None
        bit = 1 << r
        if verb == Verb.OPEN:
            if not self.openable & bit or opened & bit:
                return None
            return state._replace(opened=opened | bit)
        if verb == Verb.CLOSE:
            return state._replace(opened=opened ^ bit) if self.openable & opened & bit else None
        if verb == Verb.TAKE or verb == Verb.MOVE:
            return self._transfer(state, verb, o, r)
        if o != held:
            return None
        bit, mask = 1 << o, 1 << r
        if verb == Verb.HEAT and self.heatable & bit and self.microwaves & mask:
            return state._replace(hot=hot | bit, cool=cool & ~bit)
        if verb == Verb.COOL and self.coolable & bit and self.fridges & mask:
            return state._replace(cool=cool | bit, hot=hot & ~bit)
        if verb == Verb.CLEAN and self.cleanable & bit and self.sinks & mask:
            return state._replace(clean=clean | bit)
        return None

    def _transfer(self, state: State, verb: Verb, o: int, r: int) -> State | None:
        here, held, opened, inside, beside, clean, hot, cool, toggled, sliced, taken = state
        bit, content = 1 << o, inside[r]
        if self.openable & ~opened & 1 << r:
            return None
        if verb == Verb.TAKE:
            if held >= 0 or not content & self.pickupable & bit:
                return None
            held, content, history, floor = o, content ^ bit, taken[r] | bit, beside[here] & ~bit
        else:
            if held != o or not self.accepts[r] & bit:
                return None
            held, content, history, floor = -1, content | bit, taken[r] & ~bit, beside[here] | bit
        return State(
            here,
            held,
            opened,
            (*inside[:r], content, *inside[r + 1 :]),
            (*beside[:here], floor, *beside[here + 1 :]),
            clean,
            hot,
            cool,
            toggled,
            sliced,
            (*taken[:r], history, *taken[r + 1 :]),
        )

    def reachable_lamp(self, state: State, o: int) -> bool:
        """Object `o` can be switched on here: it lies in some receptacle here, open or not."""
        if not self.toggleable >> o & 1:
            return False
        return any(state.inside[r] >> o & 1 for r in self.at[state.location])

    def usable(self, state: State, r: int) -> bool:
        """Receptacle `r` is open or has no door."""
        return not self.openable & ~state.opened & 1 << r

    def fit(self, state: State) -> int:
        """Mask of the goal's objects that have the property the goal asks for in `state`."""
        kind = self.goal.type
        if kind == "pick_clean_then_place_in_recep":
            return self.targets & self.cleanable & state.clean
        if kind == "pick_heat_then_place_in_recep":
            return self.targets & self.heatable & state.hot
        if kind == "pick_cool_then_place_in_recep":
            return self.targets & self.coolable & state.cool
        return self.targets

    def solved(self, state: State) -> bool:
        """The goal holds in `state`; it is not latched, a later state may lose it again."""
        kind = self.goal.type
        inside = state.inside
        if kind == "look_at_obj_in_light":
            if state.held < 0 or not self.targets >> state.held & 1:
                return False
            lit = self.lamps & state.toggled
            return bool(lit) and any(inside[r] & lit for r in self.at[state.location])
        wanted = self.fit(state)
        if not wanted:
            return False
        if kind == "pick_two_obj_and_place":
            return any((inside[r] & wanted).bit_count() > 1 for r in self.destinations)
        return any(inside[r] & wanted for r in self.destinations)

    @staticmethod
    def key(state: State) -> tuple[object, ...]:
        """All of `state` that later feasibility and the goal can depend on."""
        return tuple(state[:-1])
