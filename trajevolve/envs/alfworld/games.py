"""A game as the rest of the package sees it, and its way into a Task."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass

from trajevolve.envs.alfworld.domain import DOMAIN_HASH, GRAMMAR_HASH
from trajevolve.envs.alfworld.planner import Planner
from trajevolve.envs.alfworld.problem import parse_problem
from trajevolve.envs.alfworld.simulator import Simulator
from trajevolve.envs.alfworld.texts import Narrator
from trajevolve.envs.contract import Task

ENV = "alfworld"


@dataclass(frozen=True)
class CompressedProblem:
    """Payload of a task whose problem travels with it: the PDDL text, deflated."""

    data: bytes

    @classmethod
    def of(cls, text: str) -> CompressedProblem:
        """Compress a ``pddl_problem``."""
        return cls(zlib.compress(text.encode(), 1))

    def text(self) -> str:
        """The ``pddl_problem``."""
        return zlib.decompress(self.data).decode()


def digest_of(sentence: str, problem: str) -> str:
    """Content hash of a game of the known domain and grammar; 32 hex digits."""
    parts = (DOMAIN_HASH, GRAMMAR_HASH, sentence, problem)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def task_of(id_: str, type_: str, sentence: str, problem: str) -> Task:
    """Make the task of a game of the known domain, its problem compressed inside."""
    return Task(
        id=id_,
        env=ENV,
        type=type_,
        text=sentence,
        digest=digest_of(sentence, problem),
        payload=CompressedProblem.of(problem),
    )


@dataclass(frozen=True)
class Room:
    """A grounded game with everything that can be shared by its episodes.

    Attributes:
        simulator: transitions.
        narrator: texts.
        planner: shortest plans.
    """

    simulator: Simulator
    narrator: Narrator
    planner: Planner


_rooms: dict[str, Room] = {}
_KEPT = 256


def ground(task: Task) -> Room:
    """Ground the game of `task`; the last 256 grounded games are kept."""
    room = _rooms.pop(task.digest, None)
    if room is None:
        simulator = Simulator(parse_problem(task.payload.text(), task.id))
        room = Room(simulator, Narrator(simulator, task.text), Planner(simulator))
        if len(_rooms) >= _KEPT:
            del _rooms[next(iter(_rooms))]
    # Re-inserted at the end, so that the oldest unused one is the first.
    _rooms[task.digest] = room
    return room
