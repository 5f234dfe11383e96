"""ALFWorld behind the environment contract, on the simulator."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from pathlib import Path

from trajevolve.envs.alfworld.games import ENV, Room, ground
from trajevolve.envs.alfworld.generator import PANEL, generate_games, panel, regenerate
from trajevolve.envs.alfworld.reader import Library, sample
from trajevolve.envs.alfworld.rooms import difficulty_of
from trajevolve.envs.alfworld.simulator import State, Verb
from trajevolve.envs.alfworld.texts import NOTHING_HAPPENS
from trajevolve.envs.contract import (
    Environment,
    Kind,
    Observation,
    Outcome,
    Spec,
    Task,
    Transition,
)
from trajevolve.errors import UserError

KINDS = {
    "go": Kind.CHANGING,
    "open": Kind.CHANGING,
    "close": Kind.CHANGING,
    "take": Kind.CHANGING,
    "move": Kind.CHANGING,
    "heat": Kind.CHANGING,
    "clean": Kind.CHANGING,
    "cool": Kind.CHANGING,
    "use": Kind.CHANGING,
    "slice": Kind.CHANGING,
    "look": Kind.INFORMATION,
    "inventory": Kind.INFORMATION,
    "examine": Kind.INFORMATION,
    "help": Kind.INFORMATION,
}
GENERATED_TRAIN = 1000
"""Games of ``generated:train`` when no count is asked for; any number can be."""

_PUT = re.compile(r"put (\S+ \S+) (?:in/on|in|on|to) (\S+ \S+)")
_REFUSED = Transition(feasible=False, success=False, done=False)
_MOVED = Transition(feasible=True, success=False, done=False)
_SOLVED = Transition(feasible=True, success=True, done=True)


class AlfworldEnvironment(Environment):
    """One ALFWorld episode at a time on the symbolic simulator.

    Splits: ``train``, ``valid_seen``, ``valid_unseen`` of the published data, and
    ``generated:train``, ``generated:select``, ``generated:eval``, which need no data. The last two
    are fixed panels (120 and 200 games, the six types in turn, at least 8 receptacles each
    at the named difficulties).

    The episode ends at the first success. Reward is 1 for the step that succeeds, else 0.

    :meth:`state_key` leaves out what only the text of ``look`` depends on (from where things on
    the spot were taken), so equal keys mean: the same actions stay feasible and succeed.

    Args:
        data: the data folder; without it ``$ALFWORLD_DATA``, then ``data`` in the working
            directory. Looked at only when a real game is asked for.
        backend: ``simulator``, or ``engine`` for the real TextWorld engine (extra ``alfworld``).
        difficulty: of generated games: easy, medium (= default), hard, or ranges ``8-12,10-20``
            of receptacles and objects.
    """

    spec = Spec(
        name=ENV,
        snapshots=True,
        feasibility="admissible",
        exact_states=True,
        step_limit=30,
        kinds=KINDS,
    )

    def __new__(
        cls,
        data: str | Path | None = None,
        backend: str = "simulator",
        difficulty: str = "default",
    ) -> AlfworldEnvironment:
        """Choose the class that plays with `backend`."""
        if backend == "simulator":
            return super().__new__(cls)
        if backend != "engine":
            raise UserError(f"backend {backend!r}: expected simulator or engine")
        from trajevolve.envs.alfworld.engine import EngineEnvironment

        return super().__new__(EngineEnvironment)

    def __init__(
        self,
        data: str | Path | None = None,
        backend: str = "simulator",
        difficulty: str = "default",
    ) -> None:
        self._library = Library(data)
        self._difficulty = difficulty_of(difficulty)
        self._room: Room | None = None
        self._state: State | None = None

    def task(self, ref: str) -> Task:
        """Find a task: a generated id, a game folder or file, or a path inside the data."""
        made = regenerate(ref)
        return made[0] if made is not None else self._library.task(ref)

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        """List a split. ``generated:train`` makes `count` games from `seed`; the rest is sampled."""
        source, _, stream = split.partition(":")
        if source == "generated" and stream == "train":
            return generate_games(
                GENERATED_TRAIN if count is None else count, seed, self._difficulty, stream="train"
            )
        if source == "generated" and stream in PANEL:
            games = panel(stream, self._difficulty)
            return [games[i] for i in sample(len(games), count, seed, split)]
        if source == "generated":
            raise UserError(
                f"split {split!r}: expected generated:train, generated:select or generated:eval"
            )
        return self._library.tasks(split, count, seed)

    def reset(self, task: Task) -> Observation:
        """Start `task`."""
        self._room = ground(task)
        self._state = self._room.simulator.start
        return Observation(self._room.narrator.intro(), self.candidates())

    def step(self, action: str) -> Outcome:
        """Execute `action`; one that is not possible answers ``Nothing happens.``"""
        room, state = self._episode()
        operation = room.simulator.operation(self.canonical(action))
        after = None if operation is None else room.simulator.apply(state, operation)
        if operation is None or after is None:
            text, success = NOTHING_HAPPENS, room.simulator.solved(state)
        else:
            self._state = after
            text = room.narrator.feedback(after, operation)
            success = room.simulator.solved(after)
        return Outcome(
            observation=Observation(text, room.narrator.admissible(after or state)),
            feasible=after is not None,
            success=success,
            done=success,
            reward=float(success),
            score=float(success),
        )

    def advance(self, action: str) -> Transition:
        """Execute `action` without making texts."""
        room, state = self._room, self._state
        if room is None or state is None:
            self._episode()
            return _REFUSED
        simulator = room.simulator
        operation = simulator.operation(action) or simulator.operation(self.canonical(action))
        after = None if operation is None else simulator.apply(state, operation)
        if operation is None or after is None:
            solved = simulator.solved(state)
            return Transition(feasible=False, success=True, done=True) if solved else _REFUSED
        self._state = after
        if operation.verb in _NEVER_SOLVE and after is state:
            return _MOVED
        return _SOLVED if simulator.solved(after) else _MOVED

    def success(self) -> bool:
        """The goal holds in the current state."""
        room, state = self._episode()
        return room.simulator.solved(state)

    def kind(self, action: str) -> Kind:
        """Look, inventory, examine and help only query; everything else may change the state."""
        verb = action.strip().partition(" ")[0]
        return KINDS.get(verb, Kind.CHANGING)

    def canonical(self, action: str) -> str:
        """Collapse blanks and rewrite ``put O in/on R``, the verb before 0.4, to ``move O to R``."""
        action = " ".join(action.split())
        found = _PUT.fullmatch(action)
        return f"move {found.group(1)} to {found.group(2)}" if found else action

    def candidates(self) -> tuple[str, ...]:
        """The admissible commands of the current state."""
        room, state = self._episode()
        return room.narrator.admissible(state)

    def snapshot(self) -> State:
        """The current state; it is immutable."""
        return self._episode()[1]

    def restore(self, mark: State) -> None:
        """Go back to a state of the same task."""
        self._state = mark

    def state_key(self) -> Hashable:
        """Equal for states in which the same actions are feasible and succeed, now and later."""
        return self._episode()[1][:-1]

    def distance(self) -> float:
        """d(s): length of the shortest plan from the current state, ``inf`` from a dead end."""
        room, state = self._episode()
        return room.planner.distance(state)

    def plan(self) -> list[str] | None:
        """A shortest plan from the current state, None from a dead end. Clairvoyant."""
        room, state = self._episode()
        return room.planner.plan(state)

    def _episode(self) -> tuple[Room, State]:
        if self._room is None or self._state is None:
            raise RuntimeError("reset an environment before using it")
        return self._room, self._state


_NEVER_SOLVE = frozenset(
    {Verb.LOOK, Verb.INVENTORY, Verb.HELP, Verb.EXAMINE_OBJECT, Verb.EXAMINE_RECEPTACLE}
)
