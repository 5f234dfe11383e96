"""Shortest plans on the simulator: the clairvoyant expert and the oracle d(state).

A* on the real transition function with two reductions that keep it exact:

* only steps that can serve the goal are tried: fetch a target, prepare it, bring it, or get rid of
  something else that is in the hand;
* of receptacles that differ in nothing that matters (same types, same doors, no target inside)
  one location is kept.

Opening is left to the moment when the open door is used, which never costs a step. The tests
compare the lengths with plain breadth-first search.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator

from trajevolve.envs.alfworld.simulator import Operation, Simulator, State, Verb
from trajevolve.envs.alfworld.texts import bits

_PREPARATION = {
    "pick_clean_then_place_in_recep": Verb.CLEAN,
    "pick_heat_then_place_in_recep": Verb.HEAT,
    "pick_cool_then_place_in_recep": Verb.COOL,
}


class Planner:
    """Shortest plans of one game, with a memory of the distances found."""

    def __init__(self, simulator: Simulator) -> None:
        self._sim = simulator
        kind = simulator.goal.type
        self._look = kind == "look_at_obj_in_light"
        self._two = kind == "pick_two_obj_and_place"
        self._preparation = _PREPARATION.get(kind)
        able, places = {
            Verb.CLEAN: (simulator.cleanable, simulator.sinks),
            Verb.HEAT: (simulator.heatable, simulator.microwaves),
            Verb.COOL: (simulator.coolable, simulator.fridges),
        }.get(self._preparation or Verb.HELP, (0, 0))
        self._able = able
        self._appliances = tuple(bits(places))
        self._destinations = tuple(
            r for r in simulator.destinations if simulator.accepts[r] & simulator.targets
        )
        self._distances: dict[tuple[object, ...], float] = {}
        self._carries: dict[tuple[int, int, bool], float] = {}

    def plan(self, state: State) -> list[str] | None:
        """Shortest list of commands from `state` to success; None from a dead end."""
        found = self._search(state)
        self._distances[self._sim.key(state)] = math.inf if found is None else len(found)
        return None if found is None else [command_of(self._sim, step) for step in found]

    def distance(self, state: State) -> float:
        """d(state): length of the shortest plan to success, ``inf`` from a dead end."""
        key = self._sim.key(state)
        if key not in self._distances:
            found = self._search(state)
            if len(self._distances) > 20_000:
                self._distances.clear()
            self._distances[key] = math.inf if found is None else len(found)
        return self._distances[key]

    def _search(self, start: State) -> list[Operation] | None:
        sim = self._sim
        if sim.solved(start):
            return []
        kept = self._locations(start)
        if math.isinf(self._bound(start)) or self._stuck(start):
            return None
        best = {start: 0}
        came: dict[State, tuple[State, Operation]] = {}
        queue = [(self._bound(start), 0, 0, start)]
        count = 0
        while queue:
            _, cost, _, state = heapq.heappop(queue)
            cost = -cost
            if cost > best[state]:
                continue
            if sim.solved(state):
                return _trace(came, state)
            for step in self._steps(state, kept):
                after = sim.apply(state, step)
                if after is None or best.get(after, math.inf) <= cost + 1:
                    continue
                bound = self._bound(after)
                if math.isinf(bound):
                    continue
                best[after] = cost + 1
                came[after] = (state, step)
                count += 1
                # On equal totals the deeper state first: it is nearer to the end.
                heapq.heappush(queue, (cost + 1 + bound, -cost - 1, count, after))
        return None

    def _locations(self, state: State) -> tuple[int, ...]:
        """Locations to plan with: the present one, and one of each set of equivalent ones."""
        sim = self._sim
        matter = sim.targets | sim.lamps
        seen: set[tuple[object, ...]] = set()
        kept = []
        order = [state.location, *(p for p in range(len(sim.at)) if p != state.location)]
        for here in order:
            signature = tuple(
                sorted(
                    (sim.receptacle_types[r], sim.usable(state, r), state.inside[r] & matter)
                    for r in sim.at[here]
                )
            )
            if signature and signature not in seen:
                seen.add(signature)
                kept.append(here)
        return tuple(kept)

    def _stuck(self, state: State) -> bool:
        """Something useless is in the hand and nothing in the room takes it."""
        held = state.held
        if held < 0 or self._serves(state, held):
            return False
        return not any(accepted >> held & 1 for accepted in self._sim.accepts)

    def _serves(self, state: State, o: int) -> bool:
        """Object `o`, once in the hand, can be made to satisfy the goal."""
        if not self._sim.targets >> o & 1:
            return False
        if self._preparation is None or self._sim.fit(state) >> o & 1:
            return True
        return bool(self._able >> o & 1 and self._appliances)

    def _already_placed(self, state: State, o: int) -> bool:
        return any(state.inside[r] >> o & 1 for r in self._sim.destinations)

    def _steps(self, state: State, kept: tuple[int, ...]) -> Iterator[Operation]:
        """Steps that can belong to a shortest plan."""
        held = state.held
        if held < 0:
            yield from self._fetch(state, kept)
        elif self._serves(state, held):
            yield from self._use(state, kept, held)
            # Another target may be nearer to the end: prepared, or in its place as well as here.
            raw = self._preparation is not None and not self._sim.fit(state) >> held & 1
            if raw or (self._two and self._already_placed(state, held)):
                yield from self._drop(state, kept, held)
        else:
            yield from self._drop(state, kept, held)

    def _approach(
        self, state: State, kept: tuple[int, ...], wanted: int, at_place: bool = False
    ) -> Iterator[Operation]:
        """Go to, and open where one is, the receptacles of mask `wanted`."""
        sim = self._sim
        for here in kept:
            hits = [r for r in sim.at[here] if wanted >> r & 1]
            if hits and here != state.location:
                yield Operation(Verb.GO, -1, hits[0])
            elif not at_place:
                yield from (Operation(Verb.OPEN, -1, r) for r in hits if not sim.usable(state, r))

    def _fetch(self, state: State, kept: tuple[int, ...]) -> Iterator[Operation]:
        sim = self._sim
        wanted = sim.targets & sim.pickupable
        sources = 0
        for here in kept:
            for r in sim.at[here]:
                content = state.inside[r] & wanted
                if content:
                    sources |= 1 << r
                    if here == state.location and sim.usable(state, r):
                        yield from (Operation(Verb.TAKE, o, r) for o in bits(content))
        yield from self._approach(state, kept, sources)

    def _use(self, state: State, kept: tuple[int, ...], held: int) -> Iterator[Operation]:
        sim = self._sim
        if self._look:
            lamps = sum(1 << r for r, content in enumerate(state.inside) if content & sim.lamps)
            for r in sim.at[state.location]:
                for o in bits(state.inside[r] & sim.lamps & ~state.toggled):
                    yield Operation(Verb.USE, o)
            yield from self._approach(state, kept, lamps, at_place=True)
            return
        if self._preparation is not None and not sim.fit(state) >> held & 1:
            for r in self._appliances:
                if sim.place[r] == state.location:
                    yield Operation(self._preparation, held, r)
            places = sum(1 << r for r in self._appliances)
            yield from self._approach(state, kept, places, at_place=True)
            return
        goals = sum(1 << r for r in self._destinations)
        for r in self._destinations:
            if sim.place[r] == state.location and sim.usable(state, r):
                yield Operation(Verb.MOVE, held, r)
        yield from self._approach(state, kept, goals)

    def _drop(self, state: State, kept: tuple[int, ...], held: int) -> Iterator[Operation]:
        sim = self._sim
        takers = sum(1 << r for r, accepted in enumerate(sim.accepts) if accepted >> held & 1)
        for r in sim.at[state.location]:
            if takers >> r & 1 and sim.usable(state, r):
                yield Operation(Verb.MOVE, held, r)
        yield from self._approach(state, kept, takers)

    def _bound(self, state: State) -> float:
        """Lower bound of d(state): each object's own errand, shared doors counted once."""
        if self._sim.solved(state):
            return 0
        if self._two:
            return min((self._bound_two(state, r) for r in self._destinations), default=math.inf)
        sim, held = self._sim, state.held
        fit = sim.fit(state)
        best = math.inf
        if held >= 0 and self._serves(state, held):
            best = self._finish(state, held, -1, state.location, fit)
        for r, content in enumerate(state.inside):
            for o in bits(content & sim.targets & sim.pickupable):
                if self._serves(state, o):
                    rest = self._finish(state, o, r, sim.place[r], fit)
                    best = min(best, self._reach(state, r) + rest)
        return best

    def _finish(self, state: State, o: int, source: int, here: int, fit: int) -> float:
        """Steps from holding target `o`, just taken from `source`, at `here` to the end."""
        there = (r for r in self._sim.destinations if r != source)
        if not self._look and any(state.inside[r] >> o & 1 for r in there):
            # It lay in two receptacles and still lies in the right one: preparing it is enough.
            places = (self._sim.place[r] for r in self._appliances)
            return min(((place != here) + 1 for place in places), default=math.inf)
        # The door of the source stays open, and the source may be the destination as well.
        opened = state.opened if source < 0 else state.opened | 1 << source
        return self._carry(state, opened, here, bool(fit >> o & 1))

    def _reach(self, state: State, r: int) -> int:
        """Steps to get a target out of `r` into an empty hand, at least."""
        sim = self._sim
        away = sim.place[r] != state.location
        return (state.held >= 0) + away + (not sim.usable(state, r)) + 1

    def _carry(self, state: State, opened: int, here: int, fit: bool) -> float:
        """Steps from holding a target at `here` to the end, exactly."""
        sim = self._sim
        if self._look:
            lit = state.toggled
            return min(
                (
                    (sim.place[r] != here) + (not lit >> o & 1)
                    for r, content in enumerate(state.inside)
                    for o in bits(content & sim.lamps)
                ),
                default=math.inf,
            )
        key = (opened, here, fit)
        if key not in self._carries:
            if fit or self._preparation is None:
                costs: list[float] = [
                    (sim.place[r] != here) + bool(sim.openable & ~opened & 1 << r) + 1
                    for r in self._destinations
                ]
            else:
                costs = [
                    (sim.place[r] != here) + 1 + self._carry(state, opened, sim.place[r], True)
                    for r in self._appliances
                ]
            self._carries[key] = min(costs, default=math.inf)
        return self._carries[key]

    def _bound_two(self, state: State, r: int) -> float:
        """Lower bound where two targets have to meet in receptacle `r`."""
        sim, held = self._sim, state.held
        goal, targets = sim.place[r], sim.targets
        need = 2 - (state.inside[r] & targets).bit_count()
        closed = int(not sim.usable(state, r))
        first = second = math.inf
        for s, content in enumerate(state.inside):
            movable = content & targets & sim.pickupable & ~state.inside[r]
            if movable:
                away = sim.place[s] != goal
                first = min(first, self._reach(state, s) + away + 1)
                second = min(second, 2 * away + 2)
        if held >= 0 and targets >> held & 1 and not state.inside[r] >> held & 1:
            first = (goal != state.location) + 1
        return closed + first + (second if need == 2 else 0)


def _trace(came: dict[State, tuple[State, Operation]], state: State) -> list[Operation]:
    steps = []
    while state in came:
        state, step = came[state]
        steps.append(step)
    return steps[::-1]


def command_of(simulator: Simulator, step: Operation) -> str:
    """Write `step` as the command that performs it."""
    verb, o, r, other = step
    word = verb.name.lower()
    if verb == Verb.GO:
        return f"go to {simulator.receptacles[r]}"
    if verb in (Verb.TAKE, Verb.MOVE, Verb.HEAT, Verb.COOL, Verb.CLEAN):
        link = {Verb.TAKE: "from", Verb.MOVE: "to"}.get(verb, "with")
        return f"{word} {simulator.objects[o]} {link} {simulator.receptacles[r]}"
    if verb == Verb.SLICE:
        return f"slice {simulator.objects[o]} with {simulator.objects[other]}"
    if verb in (Verb.OPEN, Verb.CLOSE, Verb.EXAMINE_RECEPTACLE):
        return f"{word.split('_')[0]} {simulator.receptacles[r]}"
    if verb in (Verb.USE, Verb.EXAMINE_OBJECT):
        return f"{word.split('_')[0]} {simulator.objects[o]}"
    return word
