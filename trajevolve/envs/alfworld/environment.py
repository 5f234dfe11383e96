"""ALFWorld behind the environment contract, on the simulator."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

from trajevolve.envs.alfworld.base import KINDS, AlfworldGames
from trajevolve.envs.alfworld.exploration import exploring_steps
from trajevolve.envs.alfworld.games import ENV, Room, ground
from trajevolve.envs.alfworld.simulator import State
from trajevolve.envs.alfworld.texts import NOTHING_HAPPENS
from trajevolve.envs.contract import Observation, Outcome, Spec, Task, Transition
from trajevolve.errors import UserError

_REFUSED = Transition(feasible=False, success=False, done=False)
_MOVED = Transition(feasible=True, success=False, done=False)
_SOLVED = Transition(feasible=True, success=True, done=True)


class AlfworldEnvironment(AlfworldGames):
    """One ALFWorld episode at a time on the symbolic simulator.

    Splits: ``train``, ``valid_seen``, ``valid_unseen`` of the published data, and
    ``generated:train``, ``generated:select``, ``generated:eval``, which need no data. The last two
    are fixed panels (120 and 200 games, the six types in turn, at least 8 receptacles each
    at the named difficulties).

    The episode ends at the first success. Reward is 1 for the step that succeeds, else 0. The old
    verb ``put O in/on R`` is accepted as ``move O to R``.

    :meth:`state_key` leaves out what only the text of ``look`` depends on (from where things on
    the spot were taken), so equal keys mean: the same actions stay feasible and succeed.

    Args:
        data: see :class:`~trajevolve.envs.alfworld.base.AlfworldGames`.
        backend: ``simulator``; ``engine`` makes an
            :class:`~trajevolve.envs.alfworld.engine.EngineEnvironment` instead.
        difficulty: of generated games, see
            :class:`~trajevolve.envs.alfworld.base.AlfworldGames`.
    """

    spec = Spec(
        name=ENV,
        snapshots=True,
        feasibility="admissible",
        exact_states=True,
        step_limit=30,
        kinds=KINDS,
        exploration=True,
    )

    def __new__(
        cls,
        data: str | Path | None = None,
        backend: str = "simulator",
        difficulty: str = "default",
    ) -> Any:
        """Make the environment that plays with `backend`."""
        if backend == "simulator":
            return super().__new__(cls)
        if backend == "engine":
            from trajevolve.envs.alfworld.engine import EngineEnvironment

            return EngineEnvironment(data, difficulty)
        raise UserError(f"backend {backend!r}: expected simulator or engine")

    def __init__(
        self,
        data: str | Path | None = None,
        backend: str = "simulator",
        difficulty: str = "default",
    ) -> None:
        super().__init__(data, difficulty, known=True)
        self._room: Room | None = None
        self._state: State | None = None

    def reset(self, task: Task) -> Observation:
        """Start `task`."""
        self._room = room = ground(task)
        self._state = room.simulator.start
        return Observation(room.narrator.intro(), room.narrator.admissible(self._state))

    def step(self, action: str) -> Outcome:
        """Execute `action`; one that is not possible changes nothing and is answered so."""
        room, state = self._episode()
        operation = room.simulator.operation(self.canonical(action))
        after = None if operation is None else room.simulator.apply(state, operation)
        if operation is None or after is None:
            text, now = NOTHING_HAPPENS, state
        else:
            text, now = room.narrator.feedback(after, operation), after
        self._state = now
        success = room.simulator.solved(now)
        return Outcome(
            observation=Observation(text, room.narrator.admissible(now)),
            feasible=after is not None,
            success=success,
            done=success,
            reward=float(success),
            score=float(success),
        )

    def advance(self, action: str) -> Transition:
        """Execute `action` without making texts."""
        room, state = self._episode()
        simulator = room.simulator
        operation = simulator.operation(action) or simulator.operation(self.canonical(action))
        after = None if operation is None else simulator.apply(state, operation)
        if after is None:
            solved = simulator.solved(state)
            return Transition(feasible=False, success=True, done=True) if solved else _REFUSED
        self._state = after
        return _SOLVED if simulator.solved(after) else _MOVED

    def success(self) -> bool:
        """The goal holds in the current state."""
        room, state = self._episode()
        return room.simulator.solved(state)

    def candidates(self) -> tuple[str, ...]:
        """The admissible commands of the current state."""
        room, state = self._episode()
        return room.narrator.admissible(state)

    def exploring(self, actions: Sequence[str], answers: Sequence[str]) -> tuple[int, ...]:
        """First visits and first openings before object and lamp were seen."""
        return exploring_steps(self._episode()[0].simulator, actions, answers)

    def snapshot(self) -> State:
        """The current state; it is immutable."""
        return self._episode()[1]

    def restore(self, mark: State) -> None:
        """Go back to a state of the same task."""
        self._state = mark

    def state_key(self) -> Hashable:
        """Equal for states in which the same actions are feasible and succeed, now and later."""
        room, state = self._episode()
        return room.simulator.key(state)

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
