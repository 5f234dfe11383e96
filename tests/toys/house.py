"""A house like ALFWorld's: admissible set, snapshots, exact states, alias of one verb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Spec, Task

CHANGING, INFORMATION = Kind.CHANGING, Kind.INFORMATION


@dataclass(frozen=True)
class House:
    """Where things start: place -> things; closed places have to be opened."""

    places: dict[str, tuple[str, ...]]
    closed: tuple[str, ...]
    thing: str
    goal: str  # the place where `thing` has to be; "hand" for holding it


@dataclass(frozen=True)
class State:
    at: str
    opened: frozenset[str]
    things: frozenset[tuple[str, str]]
    hand: str


class HouseEnvironment(Environment):
    """Go, open, close, take, put; look and inventory query."""

    spec = Spec(
        name="house",
        snapshots=True,
        feasibility="admissible",
        exact_states=True,
        kinds={
            **dict.fromkeys(("go", "open", "close", "take", "put"), CHANGING),
            **dict.fromkeys(("look", "inventory", "examine"), INFORMATION),
        },
    )

    def __init__(self) -> None:
        self.executed = 0

    def reset(self, task: Task) -> Observation:
        self.house: House = task.payload
        things = {(t, place) for place, inside in self.house.places.items() for t in inside}
        self.state = State("door", frozenset(), frozenset(things), "")
        return self._observe("you are at the door")

    def step(self, action: str) -> Outcome:
        self.executed += 1
        feasible = action in self._admissible()
        if feasible:
            self._apply(action)
        solved = self.success()
        answer = f"you {action}" if feasible else "nothing happens"
        return Outcome(
            self._observe(answer), feasible, solved, solved, float(solved), float(solved)
        )

    def kind(self, action: str) -> Kind:
        return self.spec.kinds.get(action.split(" ")[0], CHANGING)

    def canonical(self, action: str) -> str:
        return action.strip().lower().replace("place ", "put ", 1)

    def task(self, ref: str) -> Task:
        return next(task for task in self.tasks("all") if task.id == ref)

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        return TASKS[:count]

    def success(self) -> bool:
        state = self.state
        if self.house.goal == "hand":
            return state.hand == self.house.thing
        return (self.house.thing, self.house.goal) in state.things

    def candidates(self) -> Sequence[str]:
        return self._admissible()

    def snapshot(self) -> State:
        return self.state

    def restore(self, mark: State) -> None:
        self.state = mark

    def state_key(self) -> State:
        return self.state

    def _reachable(self) -> bool:
        return self.state.at not in self.house.closed or self.state.at in self.state.opened

    def _admissible(self) -> tuple[str, ...]:
        state, house = self.state, self.house
        actions = [f"go {place}" for place in house.places if place != state.at]
        actions += ["look", "inventory"]
        if state.at in house.places:
            actions.append(f"examine {state.at}")
        if state.at in house.closed:
            actions.append(("close " if state.at in state.opened else "open ") + state.at)
        if state.at in house.places and self._reachable():
            if state.hand:
                actions.append(f"put {state.hand}")
            else:
                actions += [f"take {t}" for t, place in state.things if place == state.at]
        return tuple(sorted(actions))

    def _apply(self, action: str) -> None:
        verb, _, rest = action.partition(" ")
        state = self.state
        if verb == "go":
            self.state = replace(state, at=rest)
        elif verb == "open":
            self.state = replace(state, opened=state.opened | {rest})
        elif verb == "close":
            self.state = replace(state, opened=state.opened - {rest})
        elif verb == "take":
            self.state = replace(state, hand=rest, things=state.things - {(rest, state.at)})
        elif verb == "put":
            self.state = replace(state, hand="", things=state.things | {(rest, state.at)})

    def _observe(self, text: str) -> Observation:
        return Observation(text, self._admissible())


def house_task(
    goal: str, thing: str = "ball", closed: tuple[str, ...] = ("cabinet",), **places: str
) -> Task:
    """Make a task; keywords give the places and the things in them, comma-separated."""
    inside = {place: tuple(filter(None, text.split(","))) for place, text in places.items()}
    house = House(inside, closed, thing, goal)
    name = f"{thing}->{goal}/{sorted(places.items())}/{closed}"
    return Task(name, "house", "fetch", f"get the {thing} to {goal}", name, house)


TASKS = (
    house_task("hand", "clothes", cabinet="clothes", bathroom="", shelf="ball"),
    house_task("shelf", "ball", cabinet="clothes,ball", bathroom="", shelf=""),
)
