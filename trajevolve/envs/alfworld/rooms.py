"""Furnish a fresh room and set a task in it, as a PDDL problem of the published domain.

A room is one of the four kinds of the benchmark. Receptacles, doors, shared locations, objects
lying in two receptacles and the placing of things follow the frequencies of the published games
(:mod:`trajevolve.envs.alfworld.vocabulary`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from trajevolve.envs.alfworld import vocabulary as words
from trajevolve.envs.alfworld.domain import SENTENCES
from trajevolve.envs.alfworld.problem import Fact, Goal, Problem
from trajevolve.errors import UserError

_ROOMS_OF = {
    "pick_and_place_simple": ("kitchen", "living", "bedroom", "bathroom"),
    "look_at_obj_in_light": ("living", "bedroom"),
    "pick_clean_then_place_in_recep": ("kitchen", "bathroom"),
    "pick_heat_then_place_in_recep": ("kitchen",),
    "pick_cool_then_place_in_recep": ("kitchen",),
    "pick_two_obj_and_place": ("kitchen", "living", "bedroom", "bathroom"),
}
_APPLIANCE = {
    "pick_clean_then_place_in_recep": "SinkBasin",
    "pick_heat_then_place_in_recep": "Microwave",
    "pick_cool_then_place_in_recep": "Fridge",
}
_LAMP = "DeskLamp"
_CLUSTERED = frozenset({"Cabinet", "Drawer", "Shelf", "StoveBurner"})
_SHARED_LOCATION = 0.15
_SECOND_RECEPTACLE = 0.02
_ALREADY_COOL = 0.01


@dataclass(frozen=True)
class Difficulty:
    """How large a room is: inclusive ranges of the number of receptacles and of loose objects."""

    name: str
    receptacles: tuple[int, int]
    objects: tuple[int, int]


LEVELS = {
    "easy": Difficulty("easy", (8, 10), (8, 14)),
    "medium": Difficulty("medium", (10, 16), (14, 26)),
    "hard": Difficulty("hard", (16, 30), (26, 45)),
}
_RANGES = re.compile(r"(\d{1,3})-(\d{1,3}),(\d{1,3})-(\d{1,3})")


def difficulty_of(name: str) -> Difficulty:
    """Find a difficulty by name: easy, medium (= default), hard, or ranges ``8-12,10-20``.

    The ranges are those of receptacles and of objects.

    Raises:
        UserError: not one of these forms, or an empty or too small range.
    """
    level = LEVELS.get("medium" if name == "default" else name)
    if level is not None:
        return level
    found = _RANGES.fullmatch(name)
    if found is not None:
        low, high, few, many = map(int, found.groups())
        if 3 <= low <= high <= 60 and 2 <= few <= many <= 100:
            return Difficulty(name, (low, high), (few, many))
    raise UserError(
        f"difficulty {name!r}: expected easy, medium, hard or 'RECEPTACLES,OBJECTS' as in "
        "'8-12,10-20' (3 to 60 receptacles, 2 to 100 objects)"
    )


@dataclass
class _Thing:
    """A receptacle or an object under construction."""

    kind: str
    id: str
    place: int = 0
    door: bool = False


def furnish(rng: np.random.Generator, kind: str, level: Difficulty) -> tuple[Problem, str] | None:
    """Draw one room with a task of type `kind`.

    Returns:
        the problem and its task sentence, or None when the draw did not fit together (no place
        left for a target): draw again.
    """
    room = words.ROOMS[str(rng.choice(_ROOMS_OF[kind]))]
    drawn = _draw_goal(rng, kind, room)
    if drawn is None:
        return None
    target, place = drawn
    required = [_APPLIANCE[kind]] if kind in _APPLIANCE else []
    if kind != "look_at_obj_in_light":
        required.append(place)
    count = int(rng.integers(level.receptacles[0], level.receptacles[1] + 1))
    receptacles = _receptacles(rng, room, required, count)
    builder = _Builder(rng, kind, target, place, receptacles)
    copies = int(rng.integers(2, 5)) if kind == "pick_two_obj_and_place" else _copies(rng)
    wanted = [target] * copies + ([_LAMP] if kind == "look_at_obj_in_light" else [])
    if not all(builder.place(name) for name in wanted):
        return None
    others = sorted(room.objects - {target, place})
    total = int(rng.integers(level.objects[0], level.objects[1] + 1))
    for name in rng.choice(others, size=max(0, total - len(wanted))):
        builder.place(str(name))
    goal = Goal(kind, f"{target}Type", f"{place}Type")
    sentence = SENTENCES[kind][int(rng.integers(2))]
    return (
        builder.problem(goal),
        sentence.format(o=target.lower(), r=place.lower()),
    )


def _copies(rng: np.random.Generator) -> int:
    return int(rng.choice((1, 1, 2, 2, 3)))


def _draw_goal(rng: np.random.Generator, kind: str, room: words.Room) -> tuple[str, str] | None:
    targets = sorted(words.TARGETS[kind] & room.objects)
    target = str(rng.choice(targets))
    if kind == "look_at_obj_in_light":
        return target, _LAMP
    kinds = {**room.always, **room.often}
    places = sorted(name for name in kinds if target in words.HOLDS[name])
    return (target, str(rng.choice(places))) if places else None


def _receptacles(
    rng: np.random.Generator, room: words.Room, required: list[str], count: int
) -> list[str]:
    """Types of `count` receptacles: the required ones, what every such room has, and more."""
    most = {**room.often, **room.always}
    chosen = list(dict.fromkeys(required))
    usual = [name for name in rng.permutation(sorted(room.always)) if name not in chosen]
    chosen += [str(name) for name in usual[: max(0, count - len(chosen))]]
    kinds = sorted(most)
    weights = np.array([most[name] for name in kinds], dtype=float)
    for name in rng.choice(kinds, size=4 * count, p=weights / weights.sum()):
        if len(chosen) >= count:
            break
        # Twice the usual number at most, so that small rooms can still reach a large count.
        if chosen.count(str(name)) < 2 * most[str(name)]:
            chosen.append(str(name))
    return chosen


class _Builder:
    """Collects the things of one room and writes them down as facts."""

    def __init__(
        self,
        rng: np.random.Generator,
        kind: str,
        target: str,
        place: str,
        receptacles: list[str],
    ) -> None:
        self._rng = rng
        self._kind, self._target, self._goal_place = kind, target, place
        self._ids: set[str] = set()
        self._receptacles: list[_Thing] = []
        last: dict[str, int] = {}
        places = 0
        for name in receptacles:
            near = name in _CLUSTERED and name in last and rng.random() < _SHARED_LOCATION
            if not near:
                places += 1
                last[name] = places
            door = rng.random() < words.OPENABLE.get(name, 0.0)
            self._receptacles.append(_Thing(name, self._new_id(name), last[name], door))
        self._places = places
        self._objects: list[_Thing] = []
        self._inside: list[tuple[_Thing, _Thing]] = []
        self._held: dict[str, set[str]] = {}

    def _new_id(self, kind: str) -> str:
        base = kind.removesuffix("Basin")
        while True:
            x, y, z = self._rng.integers(-400, 400, size=3)
            parts = (
                f"_{'minus' if v < 0 else 'plus'}_{abs(v) // 100:02d}_dot_{abs(v) % 100:02d}"
                for v in (int(x), abs(int(y)), int(z))
            )
            name = "_bar_".join((base, *parts)) + (f"_bar_{kind}" if base != kind else "")
            if name not in self._ids:
                self._ids.add(name)
                return name

    def place(self, name: str) -> bool:
        """Lay one object of type `name` somewhere; False when no receptacle may have it."""
        spots, weights = [], []
        for spot in self._receptacles:
            weight = words.FOUND[spot.kind].get(name, 0) + (name in words.HOLDS[spot.kind])
            if weight and not self._forbidden(name, spot):
                spots.append(spot)
                weights.append(weight)
        if not spots:
            return False
        thing = _Thing(name, self._new_id(name))
        share = np.array(weights, dtype=float)
        spot = spots[int(self._rng.choice(len(spots), p=share / share.sum()))]
        self._objects.append(thing)
        self._put(thing, spot)
        if self._rng.random() < _SECOND_RECEPTACLE:
            second = spots[int(self._rng.integers(len(spots)))]
            if second is not spot and not self._forbidden(name, second):
                self._put(thing, second)
        return True

    def _put(self, thing: _Thing, spot: _Thing) -> None:
        self._inside.append((thing, spot))
        self._held.setdefault(thing.kind, set()).add(spot.id)

    def _forbidden(self, name: str, spot: _Thing) -> bool:
        """Putting `name` there would solve the task, or half of it more than once."""
        if name != self._target or spot.kind != self._goal_place:
            return False
        if self._kind == "pick_and_place_simple":
            return True
        return self._kind == "pick_two_obj_and_place" and bool(self._held.get(name))

    def problem(self, goal: Goal) -> Problem:
        """Write the room down as a PDDL problem with `goal`."""
        rng = self._rng
        spots = [
            f"loc_bar_{self._signed(i)}_bar_{self._signed(int(rng.integers(-9, 10)))}"
            f"_bar_{int(rng.integers(4))}_bar_{int(rng.choice((0, 15, 30, 45, 60)))}"
            for i in range(self._places + 1)
        ]
        kinds = sorted({r.kind for r in self._receptacles})
        names = sorted({o.kind for o in self._objects})
        where: dict[str, str] = {o.id: spots[r.place] for o, r in reversed(self._inside)}

        def objects(types: frozenset[str]) -> tuple[Fact, ...]:
            return tuple((o.id,) for o in self._objects if o.kind in types)

        cool = tuple(f for f in objects(words.COOLABLE) if rng.random() < _ALREADY_COOL)
        facts: dict[str, tuple[Fact, ...]] = {
            "receptacleType": tuple((r.id, f"{r.kind}Type") for r in self._receptacles),
            "objectType": tuple((o.id, f"{o.kind}Type") for o in self._objects),
            "canContain": tuple(
                (f"{kind}Type", f"{name}Type")
                for kind in kinds
                for name in names
                if name in words.HOLDS[kind]
            ),
            "pickupable": objects(words.PICKUPABLE),
            "isReceptacleObject": objects(words.CONTAINER_OBJECTS),
            "openable": tuple((r.id,) for r in self._receptacles if r.door),
            "atLocation": (("agent1", spots[0]),),
            "cleanable": objects(words.CLEANABLE),
            "heatable": objects(words.HEATABLE),
            "coolable": objects(words.COOLABLE),
            "isCool": cool,
            "sliceable": objects(words.SLICEABLE),
            "toggleable": objects(words.TOGGLEABLE),
            "inReceptacle": tuple((o.id, r.id) for o, r in self._inside),
            "receptacleAtLocation": tuple((r.id, spots[r.place]) for r in self._receptacles),
            "objectAtLocation": tuple(where.items()),
        }
        name = f"plan_trial_generated_{int(rng.integers(10**9)):09d}"
        return Problem(name, {key: value for key, value in facts.items() if value}, goal)

    @staticmethod
    def _signed(value: int) -> str:
        return str(value) if value >= 0 else f"_minus_{-value}"
