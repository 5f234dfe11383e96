"""What the player reads: observations and the list of admissible commands.

Texts repeat much, so they are cached per receptacle and content and joined, never re-made.
"""

from __future__ import annotations

from collections.abc import Iterable

from trajevolve.envs.alfworld.simulator import Operation, Simulator, State, Verb

NOTHING_HAPPENS = "Nothing happens."

HELP = """\
Available commands:
  look:                             look around your current location
  inventory:                        check your current inventory
  go to (receptacle):               move to a receptacle
  open (receptacle):                open a receptacle
  close (receptacle):               close a receptacle
  take (object) from (receptacle):  take an object from a receptacle
  move (object) to (receptacle):  place an object in or on a receptacle
  examine (something):              examine a receptacle or an object
  use (object):                     use an object
  heat (object) with (receptacle):  heat an object using a receptacle
  clean (object) with (receptacle): clean an object using a receptacle
  cool (object) with (receptacle):  cool an object using a receptacle
  slice (object) with (object):     slice an object using a sharp object
"""


def bits(mask: int) -> Iterable[int]:
    """Positions of the set bits, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def listing(names: list[str]) -> str:
    """Join as the game does: ``a``, ``a, and b``, ``a, b, and c``; ``nothing`` for none."""
    if not names:
        return "nothing"
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + ", and " + names[-1]


class Narrator:
    """Texts of one game. Holds caches, so one object serves all episodes of its game."""

    def __init__(self, simulator: Simulator, sentence: str) -> None:
        self._sim = simulator
        self._sentence = sentence
        self._views: dict[tuple[int, int], str] = {}
        self._parts: dict[tuple[object, ...], tuple[str, ...]] = {}
        names = simulator.receptacles
        everywhere = sorted(f"go to {name}" for name in names)
        self._goes = tuple(
            (*(c for c in everywhere if c[6:] not in near), "help", "inventory", "look")
            for near in ({names[r] for r in here} for here in simulator.at)
        )
        self._examines = tuple(tuple(f"examine {names[r]}" for r in here) for here in simulator.at)

    def intro(self) -> str:
        """First observation of an episode."""
        start = self._sim.start
        if self._sim.at[0]:
            room = self._facing(start)
        else:
            seen = listing([f"a {name}" for name in self._sim.receptacles])
            room = f"You are in the middle of a room. Looking quickly around you, you see {seen}."
        return (
            f"-= Welcome to TextWorld, ALFRED! =-\n\n{room}\n\nYour task is to: {self._sentence}."
        )

    def receptacle(self, state: State, r: int) -> str:
        """What `r` shows, also when one arrives there or opens it."""
        sim = self._sim
        if sim.openable & ~state.opened & 1 << r:
            return f"The {sim.receptacles[r]} is closed."
        content = state.inside[r]
        text = self._views.get((r, content))
        if text is None:
            seen = listing([f"a {sim.objects[o]}" for o in bits(content)])
            name = sim.receptacles[r]
            if sim.openable >> r & 1:
                text = f"The {name} is open. In it, you see {seen}."
            else:
                text = f"On the {name}, you see {seen}."
            self._views[r, content] = text
        return text

    def feedback(self, state: State, operation: Operation) -> str:
        """Answer to `operation`, which led to `state`."""
        sim = self._sim
        verb, o, r, other = operation
        if verb == Verb.GO:
            return f"You arrive at {sim.receptacles[r]}. {self.receptacle(state, r)}"
        if verb == Verb.OPEN:
            return f"You open the {sim.receptacles[r]}. {self.receptacle(state, r)}"
        if verb == Verb.CLOSE:
            return f"You close the {sim.receptacles[r]}."
        if verb == Verb.TAKE:
            return f"You pick up the {sim.objects[o]} from the {sim.receptacles[r]}."
        if verb == Verb.MOVE:
            return f"You move the {sim.objects[o]} to the {sim.receptacles[r]}."
        if verb in (Verb.HEAT, Verb.COOL, Verb.CLEAN):
            word = verb.name.lower()
            return f"You {word} the {sim.objects[o]} using the {sim.receptacles[r]}."
        if verb == Verb.USE:
            return f"You turn on the {sim.objects[o]}."
        if verb == Verb.SLICE:
            return f"You sliced the {sim.objects[o]} with the {sim.objects[other]}."
        if verb == Verb.EXAMINE_RECEPTACLE:
            return self.receptacle(state, r)
        if verb == Verb.EXAMINE_OBJECT:
            return self._object(state, o)
        if verb == Verb.INVENTORY:
            if state.held < 0:
                return "You are not carrying anything."
            return f"You are carrying: a {sim.objects[state.held]}."
        if verb == Verb.HELP:
            return HELP
        return self._facing(state)

    def _facing(self, state: State) -> str:
        """Text of ``look``. Away from all receptacles the engine forgets to list them."""
        sim = self._sim
        here = sim.at[state.location]
        if not here:
            return "You are in the middle of a room. Looking quickly around you, you see nothing."
        # Beside a receptacle lie, for the engine, objects taken from it and put down near it.
        floor = state.beside[state.location]
        pairs = sorted((o, r) for r in here for o in bits(floor & state.taken[r]))
        seen = listing([f"a {sim.objects[o]}" for o, _ in pairs])
        near = listing([sim.receptacles[r] for r in here])
        return f"You are facing the {near}. Next to it, you see {seen}."

    def _object(self, state: State, o: int) -> str:
        sim = self._sim
        name = sim.objects[o]
        if sim.containers >> o & 1:
            seen = listing([f"a {sim.objects[i]}" for i in bits(sim.inner[o])])
            return f"This is a normal {name}. In it, you see {seen}."
        clean, hot, cool, toggled, cut = (
            mask >> o & 1
            for mask in (state.clean, state.hot, state.cool, state.toggled, state.sliced)
        )
        words = [] if not (hot or cool) else ["hot" if hot else "cool"]
        words += ["clean"] if clean else []
        if words:
            # The published grammar says "cold" only of things that are neither clean nor cut.
            what = "cold" if words == ["cool"] and not cut else " and ".join(words)
            return f"This is a {what} {'sliced ' if cut else ''}{name}."
        if toggled and sim.toggleable >> o & 1:
            return f"This {name} is on."
        return f"This is a sliced {name}." if cut else f"There's nothing special about {name}."

    def admissible(self, state: State) -> tuple[str, ...]:
        """All commands that are possible in `state`, sorted, each once."""
        sim = self._sim
        location, held = state.location, state.held
        here = sim.at[location]
        contents = tuple([state.inside[r] for r in here])
        if held < 0:
            key: tuple[object, ...] = (location, state.opened & self._doors(location), contents)
        else:
            key = (location, state.opened & self._doors(location), contents, held)
        if held >= 0 and sim.knives >> held & 1:
            key = (*key, state.beside[location] & sim.sliceable)
        parts = self._parts.get(key)
        if parts is None:
            if len(self._parts) > 20_000:
                self._parts.clear()
            parts = self._parts[key] = self._commands(state)
        return parts

    def _doors(self, location: int) -> int:
        return sum(1 << r for r in self._sim.at[location]) & self._sim.openable

    def _commands(self, state: State) -> tuple[str, ...]:
        sim = self._sim
        held, here = state.held, sim.at[state.location]
        rest: list[str] = list(self._examines[state.location])
        for r in here:
            name = sim.receptacles[r]
            if sim.openable >> r & 1:
                rest.append(f"close {name}" if state.opened >> r & 1 else f"open {name}")
            lit = state.inside[r] & sim.toggleable
            rest += [f"use {sim.objects[o]}" for o in bits(lit)]
            if held < 0 and sim.usable(state, r):
                free = state.inside[r] & sim.pickupable
                rest += [f"take {sim.objects[o]} from {name}" for o in bits(free)]
        if held >= 0:
            rest += self._with_held(state, held)
        return tuple(sorted({*rest, *self._goes[state.location]}))

    def _with_held(self, state: State, held: int) -> list[str]:
        """Commands that need something in the hand."""
        sim = self._sim
        name = sim.objects[held]
        found = [f"examine {name}"]
        for r in sim.at[state.location]:
            place = sim.receptacles[r]
            if sim.accepts[r] >> held & 1 and sim.usable(state, r):
                found.append(f"move {name} to {place}")
            for verb, able, places in (
                ("heat", sim.heatable, sim.microwaves),
                ("cool", sim.coolable, sim.fridges),
                ("clean", sim.cleanable, sim.sinks),
            ):
                if able >> held & places >> r & 1:
                    found.append(f"{verb} {name} with {place}")
        if sim.knives >> held & 1:
            cut = state.beside[state.location] & sim.sliceable
            found += [f"slice {sim.objects[o]} with {name}" for o in bits(cut)]
        return found
