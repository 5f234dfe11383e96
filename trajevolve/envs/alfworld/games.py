"""A game as the rest of the package sees it, and its way into a Task."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass

from trajevolve.envs.alfworld.domain import DOMAIN_HASH, GRAMMAR_HASH, sha256
from trajevolve.envs.alfworld.gamefile import Texts
from trajevolve.envs.alfworld.planner import Planner
from trajevolve.envs.alfworld.problem import parse_problem
from trajevolve.envs.alfworld.simulator import Simulator
from trajevolve.envs.alfworld.texts import Narrator
from trajevolve.envs.contract import Task

ENV = "alfworld"


@dataclass(frozen=True)
class CompressedProblem:
    """Payload of a task whose problem travels with it.

    Attributes:
        data: the PDDL text, deflated.
        texts: domain and grammar of a game that is not of the published ones, else None.
    """

    data: bytes
    texts: Texts | None = None

    @classmethod
    def of(cls, text: str, texts: Texts | None = None) -> CompressedProblem:
        """Compress a ``pddl_problem``."""
        return cls(zlib.compress(text.encode(), 1), texts)

    def text(self) -> str:
        """The ``pddl_problem``."""
        return zlib.decompress(self.data).decode()


def digest_of(sentence: str, problem: str, texts: Texts | None = None) -> str:
    """Content hash of a game, 32 hex digits; without `texts`, of the published domain."""
    hashes = (DOMAIN_HASH, GRAMMAR_HASH)
    if texts is not None:
        hashes = (sha256(texts.domain), sha256(texts.grammar))
    parts = (*hashes, sentence, problem)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def task_of(id_: str, type_: str, sentence: str, problem: str, texts: Texts | None = None) -> Task:
    """Make the task of a game, its problem compressed inside."""
    return Task(
        id=id_,
        env=ENV,
        type=type_,
        text=sentence,
        digest=digest_of(sentence, problem, texts),
        payload=CompressedProblem.of(problem, texts),
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
