"""An expert that knows only what a player has seen: explores, finds, prepares, places.

It reads observations and admissible commands, nothing else, and keeps notes. Since its notes come
from what the game answered and not from what it meant to do, anybody may act in between: the next
action is chosen afresh from the notes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from trajevolve.envs.alfworld import vocabulary
from trajevolve.envs.alfworld.domain import read_sentence
from trajevolve.envs.contract import Task
from trajevolve.errors import UserError

_LIST = re.compile(r"\ban? (\w+ \d+)")
_VIEW = re.compile(r"(?:On the|The) (\w+ \d+)(?: is open\. In it)?, you see (.*)\.")
_CLOSED = re.compile(r"The (\w+ \d+) is closed\.")
_ARRIVED = re.compile(r"You arrive at (\w+ \d+)\.")
_PICKED = re.compile(r"You pick up the (\w+ \d+) from the (\w+ \d+)\.")
_MOVED = re.compile(r"You move the (\w+ \d+) to the (\w+ \d+)\.")
_PREPARED = re.compile(r"You (heat|cool|clean) the (\w+ \d+) using the (\w+ \d+)\.")
_LIT = re.compile(r"You turn on the (\w+ \d+)\.")
_TAKE = re.compile(r"take (\w+ \d+) from (\w+ \d+)")
_CARRYING = re.compile(r"You are carrying: a (\w+ \d+)\.")

_PREPARATION = {
    "pick_clean_then_place_in_recep": ("clean", ("sinkbasin",)),
    "pick_heat_then_place_in_recep": ("heat", ("microwave",)),
    "pick_cool_then_place_in_recep": ("cool", ("fridge",)),
}
_FOUND = {
    kind.lower(): {name.lower(): count for name, count in counts.items()}
    for kind, counts in vocabulary.FOUND.items()
}
_HOLDS = {
    kind.lower(): frozenset(name.lower() for name in names)
    for kind, names in vocabulary.HOLDS.items()
}
_UNLIKELY = 0.5
"""Weight, in objects per 1,000 receptacles, of a receptacle type where it was never found."""


def _kind(name: str) -> str:
    return name.partition(" ")[0]


class Searcher:
    """One episode's expert.

    Args:
        task: the task; only its sentence is used.
        rng: draws the order of exploration: likely places tend to come first, not always.
    """

    def __init__(self, task: Task, rng: np.random.Generator) -> None:
        wish = read_sentence(task.text)
        if wish is None:
            raise UserError(
                f"task {task.id}: the searcher does not understand {task.text!r}; expected one of "
                "the published task sentences"
            )
        self._wish = wish
        self._rng = rng
        self._here = ""
        self._held = ""
        self._contents: dict[str, set[str]] = {}
        self._closed: set[str] = set()
        self._done: set[str] = set()
        self._unseen: list[str] = []
        self._places: list[str] = []
        self._lamps: dict[str, str] = {}
        self._lit: set[str] = set()

    def act(self, text: str, admissible: Sequence[str]) -> str:
        """Take note of what was answered to the last action, whoever chose it, and act.

        Args:
            text: the observation; at the start, the intro.
            admissible: the commands that are possible now.

        Returns:
            one of `admissible`.
        """
        self._note(text, admissible)
        available = set(admissible)
        for command in self._wishes():
            if command in available:
                return command
        # Nothing it knows of helps, as when a foreign hand closed a door: see another place.
        moves = [c for c in admissible if c.startswith("go to ")] or list(admissible)
        return moves[int(self._rng.integers(len(moves)))]

    def _note(self, text: str, commands: Sequence[str]) -> None:
        if not self._places:
            seen = {c[6:] for c in commands if c.startswith("go to ")}
            seen |= {c[8:] for c in commands if c.startswith("examine ")}
            self._places = sorted(seen)
            self._unseen = self._order()
        if found := _ARRIVED.search(text):
            self._here = found[1]
        if found := _CLOSED.search(text):
            self._closed.add(found[1])
        if found := _VIEW.search(text):
            self._contents[found[1]] = set(_LIST.findall(found[2]))
            self._closed.discard(found[1])
        if text.startswith("You close the "):
            self._closed.add(text[len("You close the ") : -1])
        if found := _PICKED.search(text):
            self._held = found[1]
            self._contents.get(found[2], set()).discard(found[1])
        if found := _MOVED.search(text):
            self._held = ""
            self._contents.setdefault(found[2], set()).add(found[1])
        if found := _PREPARED.search(text):
            self._prepared(found[1], found[2])
        if found := _LIT.search(text):
            self._lit.add(found[1])
        if found := _CARRYING.search(text):
            self._held = found[1]
        elif "You are not carrying anything." in text:
            self._held = ""
        self._note_commands(commands)

    def _prepared(self, verb: str, name: str) -> None:
        if _PREPARATION.get(self._wish.type, ("", ()))[0] == verb:
            self._done.add(name)
        elif {verb, _PREPARATION.get(self._wish.type, ("", ()))[0]} == {"heat", "cool"}:
            # Heating undoes cooling and the other way round.
            self._done.discard(name)

    def _note_commands(self, commands: Sequence[str]) -> None:
        """Commands show what receptacles beside this one hold, lamps, and what is closed."""
        for command in commands:
            if found := _TAKE.fullmatch(command):
                self._contents.setdefault(found[2], set()).add(found[1])
                self._held = ""
            elif command.startswith("use "):
                self._lamps[command[4:]] = self._here
            elif command.startswith("open "):
                self._closed.add(command[5:])
            elif command.startswith("close "):
                self._closed.discard(command[6:])
        known = set(self._contents)
        self._unseen = [place for place in self._unseen if place not in known]

    def _order(self) -> list[str]:
        """Receptacles by how likely the object is there, shuffled with those odds."""
        weights = np.array(
            [_FOUND.get(_kind(p), {}).get(self._wish.object, 0) + _UNLIKELY for p in self._places]
        )
        # Sorting exponential draws by rate is sampling without replacement with these weights.
        keys = self._rng.exponential(size=len(weights)) / weights
        return [self._places[int(i)] for i in np.argsort(keys)]

    def _wishes(self) -> list[str]:
        """Commands worth trying now, best first; the first admissible one is taken."""
        held, wish = self._held, self._wish
        if held and _kind(held) == wish.object:
            if wish.type == "look_at_obj_in_light":
                return self._to_lamp()
            verb, appliances = _PREPARATION.get(wish.type, ("", ()))
            if verb and held not in self._done:
                return self._to_appliance(verb, held, appliances)
            return self._to_goal(held)
        if held:
            return self._put_down(held)
        return self._fetch()

    def _visit(self, place: str) -> list[str]:
        """Go to `place` and open it."""
        return [f"go to {place}", f"open {place}"]

    def _explore(self) -> list[str]:
        """Look into the next receptacle not yet seen; when all are seen, look again."""
        if not self._unseen:
            for place in self._places:
                self._contents.pop(place, None)
            self._unseen = self._order()
        # What shares this location is opened or examined first: it needs no walk.
        rest = sorted(self._unseen, key=lambda place: place != self._here)
        here = [f"open {place}" for place in rest]
        here += [f"examine {place}" for place in rest if place not in self._closed]
        return [*here, *(f"go to {place}" for place in self._unseen)]

    def _to_lamp(self) -> list[str]:
        lamps = [pair for pair in self._lamps.items() if _kind(pair[0]) == self._wish.place]
        if not lamps:
            return self._explore()
        steps = []
        for name, place in sorted(lamps, key=lambda pair: pair[1] != self._here):
            if name not in self._lit or place == self._here:
                steps.append(f"use {name}")
            steps.append(f"go to {place}")
        return steps

    def _to_appliance(self, verb: str, held: str, kinds: Sequence[str]) -> list[str]:
        places = [place for place in self._places if _kind(place) in kinds]
        now = [f"{verb} {held} with {place}" for place in places]
        return [*now, *(f"go to {place}" for place in places)]

    def _to_goal(self, held: str) -> list[str]:
        """Bring the held object; where two have to meet, to the place of the first."""
        goals = [place for place in self._places if _kind(place) == self._wish.place]
        with_one = [
            place
            for place in goals
            if any(
                _kind(o) == self._wish.object and o != held for o in self._contents.get(place, ())
            )
        ]
        if self._wish.type == "pick_two_obj_and_place" and with_one:
            goals = with_one
        goals = sorted(goals, key=lambda place: (place != self._here, place in self._closed))
        now = [f"move {held} to {place}" for place in goals]
        return [*now, *(step for place in goals for step in (f"open {place}", f"go to {place}"))]

    def _put_down(self, held: str) -> list[str]:
        """Get rid of something else, here if possible."""
        fitting = [p for p in self._places if _kind(held) in _HOLDS.get(_kind(p), ())]
        elsewhere = [place for place in fitting or self._places if place != self._here]
        pick = elsewhere[int(self._rng.integers(len(elsewhere)))] if elsewhere else self._here
        now = [f"move {held} to {place}" for place in self._places]
        return [*now, *(f"open {place}" for place in fitting), f"go to {pick}"]

    def _fetch(self) -> list[str]:
        """Get the next object that still has to be brought."""
        settled = self._settled()
        for place, content in sorted(
            self._contents.items(), key=lambda item: item[0] != self._here
        ):
            for name in sorted(content):
                if _kind(name) == self._wish.object and (name, place) not in settled:
                    return [f"take {name} from {place}", *self._visit(place)]
        return self._explore()

    def _settled(self) -> set[tuple[str, str]]:
        """Objects that lie where they have to end, so far as is known."""
        kinds = self._wish
        if kinds.type == "look_at_obj_in_light":
            return set()
        right = [place for place in self._contents if _kind(place) == kinds.place]
        lying = {
            place: sorted(o for o in self._contents[place] if _kind(o) == kinds.object)
            for place in right
        }
        if kinds.type == "pick_two_obj_and_place":
            # Only one place is filled: the one that has an object already.
            best = max(lying, key=lambda place: len(lying[place]), default="")
            return {(name, best) for name in lying.get(best, [])}
        if kinds.type == "pick_and_place_simple":
            return {(name, place) for place in right for name in lying[place]}
        return {(n, place) for place in right for n in lying[place] if n in self._done}
