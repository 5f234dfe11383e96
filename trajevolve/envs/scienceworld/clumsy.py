"""Solutions made clumsy on purpose: the benchmark's own, interrupted by things that lead nowhere.

Their episodes warm up the built-in policy and show what verification finds. A slip leaves the way
on open: who wanders off comes back, and what was picked up is put down again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.agent.clumsiness import Slips, one_of
from trajevolve.agent.contract import Turn
from trajevolve.envs.contract import Environment, Task
from trajevolve.envs.scienceworld.simplifications import EASY

ROOMS = (
    "art studio", "bathroom", "bedroom", "foundry", "greenhouse", "hallway", "kitchen",
    "living room", "outside", "workshop",
)  # fmt: skip
COLOURS = ("red", "green", "blue", "orange", "purple", "yellow")
KINDS = ("query", "wander", "fumble", "door", "wait", "mistake", "confuse")
_PLACE = re.compile(r"You move to the ([a-z ]+)\.|(?:room|location) is called the ([a-z ]+)\.")
_TAKEN = re.compile(r"You move the .* to the inventory\.")
_BOX = re.compile(rf"\b({'|'.join(COLOURS)}) box$")
_WAYS = re.compile("door|inventory|agent|air")


@dataclass(frozen=True)
class Clumsiness(Slips):
    """How often and how a follower slips.

    Attributes:
        query: relative frequency of looking at something, or around.
        wander: of going to a room next door and back.
        fumble: of picking something up and putting it down again.
        door: of closing a door and opening it again.
        wait: of waiting.
        mistake: of naming another box, where something goes into one.
        confuse: of an action that is not possible here.
    """

    careful: tuple[float, float] = (0.0, 0.15)
    careless: tuple[float, float] = (0.3, 0.65)
    query: float = 0.35
    wander: float = 0.2
    fumble: float = 0.15
    door: float = 0.05
    wait: float = 0.05
    mistake: float = 0.4
    confuse: float = 0.15


@dataclass
class _Walk:
    """One episode: what is left of the solution, and what has been begun beside it."""

    rng: np.random.Generator
    level: float
    left: list[str]
    begun: list[str] = field(default_factory=list)
    room: str = ""
    picking: str = ""


class ClumsyFollower(ScriptedAgent):
    """Follows the benchmark's solutions, interrupted by slips.

    Slips are drawn from the seed of the episode's first turn.
    """

    def __init__(
        self,
        clumsiness: Clumsiness = Clumsiness(),
        solution: Callable[[Environment, Task], Sequence[str]] | None = None,
    ) -> None:
        """Follow `solution`, else :func:`solve`."""
        self.clumsiness = clumsiness
        self.solution = solution or solve
        self._walks: dict[int, _Walk] = {}

    def choose(self, turn: Turn) -> str:
        """Return the next action of the solution, or of a slip."""
        walk = self._walks.get(turn.slot) or self._begin(turn)
        said = turn.observation.text
        if place := _PLACE.search(said):
            walk.room = place[1] or place[2]
        if walk.picking:
            if _TAKEN.search(said):
                walk.begun.append(f"put down {walk.picking}")
            walk.picking = ""
        if walk.begun:
            return walk.begun.pop(0)
        if walk.left and walk.rng.random() < walk.level:
            slip = self._slip(walk, turn.environment.objects())
            if slip:
                return slip
        return walk.left.pop(0) if walk.left else "wait1"

    def release(self, slots: Iterable[int]) -> None:
        """Forget finished episodes."""
        for slot in slots:
            self._walks.pop(slot, None)

    def _begin(self, turn: Turn) -> _Walk:
        rng = np.random.default_rng(turn.seed)
        solution = self.solution(turn.environment, turn.task)
        walk = self._walks[turn.slot] = _Walk(rng, self.clumsiness.draw(rng), list(solution))
        return walk

    def _slip(self, walk: _Walk, things: Sequence[str]) -> str:
        """Begin a slip: return its first action, "" where nothing of the kind is possible."""
        kind, rng = self.clumsiness.slip(KINDS, walk.rng), walk.rng
        exits = [room for room in ROOMS if room in things and room != walk.room]
        ahead = " ".join(walk.left)
        aside = [t for t in things if t not in ROOMS and t not in ahead and not _WAYS.search(t)]
        if kind == "wait":
            return "wait1"
        if kind == "query":
            thing = one_of(aside, rng)
            queries = ["look around", "inventory", f"look at {thing}", f"examine {thing}"]
            return one_of(queries if thing else queries[:2], rng)
        if kind == "wander" and walk.room and exits:
            walk.begun.append(f"go to {walk.room}")
            return f"go to {one_of(exits, rng)}"
        if kind == "door" and exits:
            door = one_of(exits, rng)
            walk.begun.append(f"open door to {door}")
            return f"close door to {door}"
        if kind == "fumble" and aside:
            walk.picking = one_of(aside, rng)
            return f"pick up {walk.picking}"
        if kind == "mistake":
            return _another_box(walk.left[0], rng)
        if kind == "confuse":
            return _confused(walk, exits, aside)
        return ""


def gold(environment: Environment, task: Task) -> Sequence[str]:
    """Return the benchmark's solution of `task`. Raises TypeError where there is none."""
    solutions = getattr(environment, "gold", None)  # importing the environment takes its extra
    if solutions is None:
        raise TypeError(f"{environment.spec.name} has no solutions")
    return tuple(solutions(task))


def solve(environment: Environment, task: Task) -> Sequence[str]:
    """Return the benchmark's solution of `task` without opening doors that are open anyway."""
    open_anyway = (
        task.payload.simplifications == EASY or "openDoors" in task.payload.simplifications
    )
    return [
        action
        for action in gold(environment, task)
        if not (open_anyway and action.startswith("open door"))
    ]


def _another_box(action: str, rng: np.random.Generator) -> str:
    """Return `action` with a box of another colour; "" where it has none."""
    found = _BOX.search(action)
    others = [colour for colour in COLOURS if found and colour != found[1]]
    return _BOX.sub(f"{one_of(others, rng)} box", action) if found else ""


def _confused(walk: _Walk, exits: Sequence[str], aside: Sequence[str]) -> str:
    """Go where no door leads, or do with a thing what cannot be done."""
    far = [room for room in ROOMS if room not in exits and room != walk.room]
    thing = one_of(aside, walk.rng) or "box"
    wrong = [f"go to {one_of(far, walk.rng)}", f"take {thing}", f"open {thing}", "put down box"]
    return one_of(wrong, walk.rng)
