"""A building like a long ScienceWorld task: replay only, by answer, steps that take time."""

from __future__ import annotations

import time
from collections.abc import Sequence

from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Spec, Task

FREE = ("look around", "inventory")


class HallsEnvironment(Environment):
    """Carry things, one from each room along a row, to the last room; a clock rings at the end.

    Rooms 0 … n-1 lie in a row with doors between them. ``go N`` needs the door, ``open N`` fails
    softly when it is open already, ``take N`` and ``drop N`` move the thing of room N, and
    ``finish`` in the last room ends the episode: a success when everything needed is at hand.
    """

    spec = Spec(
        name="halls",
        snapshots=False,
        feasibility="answer",
        kinds={
            **dict.fromkeys(("open", "go", "take", "drop", "finish"), Kind.CHANGING),
            **dict.fromkeys(("look", "inventory", "read"), Kind.INFORMATION),
        },
    )

    def __init__(self, step_s: float = 0.0, reset_s: float = 0.0) -> None:
        self.step_s, self.reset_s = step_s, reset_s
        self.executed = self.resets = 0

    def reset(self, task: Task) -> Observation:
        self.rooms, self.needed = task.payload
        self.resets += 1
        time.sleep(self.reset_s)
        self.room, self.opened = 0, set[int]()
        self.held, self.where = set[int](), {room: room for room in range(self.rooms)}
        self.solved = self.ended = False
        return Observation("room 0", None)

    def step(self, action: str) -> Outcome:
        assert not self.ended
        self.executed += 1
        time.sleep(self.step_s)
        feasible, ticks = self._apply(action)
        score = float(self.solved)
        text = f"room {self.room}"
        return Outcome(
            Observation(text, None), feasible, self.solved, self.ended, score, score, ticks
        )

    def kind(self, action: str) -> Kind:
        return self.spec.kinds.get(action.split(" ")[0], Kind.CHANGING)

    def task(self, ref: str) -> Task:
        """``4:0,2`` has four rooms, and needs the things of rooms 0 and 2."""
        rooms, _, needed = ref.partition(":")
        things = frozenset(int(each) for each in needed.split(",") if each)
        return Task(ref, "halls", "carry", ref, ref, (int(rooms), things))

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        return tuple(self.task(ref) for ref in ("3:0", "3:1", "4:0,2"))[:count]

    def _apply(self, action: str) -> tuple[bool, bool]:
        """Feasible, ticks."""
        if action in FREE:
            return True, False
        if action == "finish" and self.room == self.rooms - 1:
            self.ended, self.solved = True, self.held >= self.needed
            return True, True
        verb, _, number = action.partition(" ")
        if not number.isdigit() or int(number) >= self.rooms:
            return False, False
        return self._with(verb, int(number))

    def _with(self, verb: str, number: int) -> tuple[bool, bool]:
        door = min(self.room, number)
        near = abs(self.room - number) == 1
        if verb == "open" and near:
            soft = door in self.opened
            self.opened.add(door)
            return not soft, True
        if verb == "go" and near and door in self.opened:
            self.room = number
            return True, True
        if verb == "read" and self.where[number] == self.room:
            return True, True
        if verb == "take" and number not in self.held and self.where[number] == self.room:
            self.held.add(number)
            return True, True
        if verb == "drop" and number in self.held:
            self.held.discard(number)
            self.where[number] = self.room
            return True, True
        return False, False


def gold(task: Task) -> list[str]:
    """Plan the task: walk along the row, taking what is needed."""
    rooms, needed = task.payload
    plan: list[str] = []
    for room in range(rooms):
        plan += [f"take {room}"] if room in needed else []
        plan += [f"open {room + 1}", f"go {room + 1}"] if room + 1 < rooms else []
    return [*plan, "finish"]


def made_clumsy(task: Task, clumsiness: Sequence[tuple[int, int]]) -> list[str]:
    """Put detours into the plan: pairs of where (modulo the length) and of which sort (0 to 5)."""
    actions = gold(task)
    for place, sort in clumsiness:
        place %= len(actions)
        gone = [action for action in actions[:place] if action.startswith("go")]
        room = int(gone[-1].removeprefix("go ")) if gone else 0
        back = [f"open {room - 1}", f"go {room - 1}", f"go {room}"] if room else ["inventory"]
        detours = [
            ["look around"],
            back,
            [f"open {room + 1}"],
            [f"drop {room}", f"take {room}"],
            ["dance"],
            [f"read {room}"],
        ]
        actions[place:place] = detours[sort]
    return actions
