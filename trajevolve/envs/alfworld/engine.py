"""The real TextWorld engine behind the same contract: slow, and the judge of the simulator.

It needs the extra ``alfworld`` (a C++ build of Fast Downward) and plays any game file, those that
the simulator refuses included. It has no snapshots: replay starts from reset. It is not
thread-safe: use processes.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trajevolve.envs.alfworld.base import KINDS, AlfworldGames
from trajevolve.envs.alfworld.domain import fill_grammar, speaks_put
from trajevolve.envs.alfworld.exploration import exploring_steps
from trajevolve.envs.alfworld.export import published_texts
from trajevolve.envs.alfworld.gamefile import Texts
from trajevolve.envs.alfworld.games import ENV, ground
from trajevolve.envs.contract import Observation, Outcome, Spec, Task
from trajevolve.errors import UserError

_MOVE = re.compile(r"move (\S+ \S+) to (\S+ \S+)")
_DATA = "ALFWORLD_DATA"


class EngineEnvironment(AlfworldGames):
    """One episode at a time in TextWorld. Arguments as for the simulator's environment.

    Games of releases before 0.4 keep their verb ``put O in/on R``; ``move O to R`` is then the
    alias.

    Raises:
        UserError: the engine is not installed.
    """

    spec = Spec(
        name=ENV,
        snapshots=False,
        feasibility="admissible",
        exact_states=False,
        step_limit=30,
        kinds=KINDS,
        exploration=True,
    )

    def __init__(self, data: str | Path | None = None, difficulty: str = "default") -> None:
        super().__init__(data, difficulty, known=False)
        self._data = data
        self._engine = _start_engine()
        self._published: Texts | None = None
        self._loaded = ""
        self._task: Task | None = None
        self._puts = False
        self._admissible: tuple[str, ...] | None = None
        self._won = False

    def reset(self, task: Task) -> Observation:
        """Start `task`: about half a second of processor time, twice that for another game.

        Raises:
            UserError: the engine cannot read the game, or lacks the published texts.
        """
        self._admissible = None
        self._task = task
        try:
            with _contained():
                if self._loaded != task.digest:
                    self._load(task)
                state = self._engine.reset()
        except UserError:
            raise
        # Fast Downward's parser ends the process on some mistakes (SystemExit), and answers others
        # with whatever exception comes up in it: all mean a game that it cannot read.
        except (Exception, SystemExit) as error:
            self._loaded = ""
            said = " ".join(f"{type(error).__name__}: {error}".split())
            raise UserError(
                f"task {task.id}: TextWorld cannot read the game ({said[:200]}); is its file whole?"
            ) from error
        return self._see(state)

    def step(self, action: str) -> Outcome:
        """Execute `action`; one that is not admissible changes nothing and is answered so."""
        command = self.canonical(action)
        feasible = command in self.candidates()
        state, _, _ = self._engine.step(command)
        observation = self._see(state)
        return Outcome(
            observation=observation,
            feasible=feasible,
            success=self._won,
            done=self._won,
            reward=float(self._won),
            score=float(self._won),
        )

    def success(self) -> bool:
        """The goal holds in the current state."""
        self.candidates()
        return self._won

    def candidates(self) -> tuple[str, ...]:
        """The admissible commands of the current state."""
        if self._admissible is None:
            raise RuntimeError("reset an environment before using it")
        return self._admissible

    def canonical(self, action: str) -> str:
        """Rewrite ``put`` to ``move``, or the other way in a game whose verb is ``put``."""
        action = super().canonical(action)
        found = _MOVE.fullmatch(action) if self._puts else None
        return f"put {found.group(1)} in/on {found.group(2)}" if found else action

    def exploring(self, actions: Sequence[str], answers: Sequence[str]) -> tuple[int, ...]:
        """As in the simulator; none in games that it does not know."""
        if self._task is None:
            raise RuntimeError("reset an environment before using it")
        try:
            simulator = ground(self._task).simulator
        except UserError:
            return ()
        return exploring_steps(simulator, actions, answers)

    def close(self) -> None:
        """End the engine's episode."""
        self._engine.close()

    def _see(self, state: Any) -> Observation:
        self._admissible = tuple(state["admissible_commands"])
        self._won = bool(state["won"])
        return Observation(str(state.feedback), self._admissible)

    def _load(self, task: Task) -> None:
        """Give the engine the fields of a game file, filled in where the task leaves them out."""
        texts = task.payload.texts or self._published or published_texts(self._data)
        if texts is None:
            raise UserError(
                f"task {task.id}: the engine needs the published domain and grammar; name a data "
                "folder with at least one published game (--data), or install alfworld"
            )
        if task.payload.texts is None:
            self._published = texts
        self._loaded = ""
        self._engine.load(
            {
                "pddl_domain": texts.domain,
                "grammar": fill_grammar(texts.grammar, task.text),
                "pddl_problem": task.payload.text(),
                "solvable": True,
                "walkthrough": None,
            }
        )
        self._loaded = task.digest
        self._puts = speaks_put(texts.grammar)


def _start_engine() -> Any:
    try:
        with _contained():
            from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
            from textworld import EnvInfos
            from textworld.envs.pddl import PddlEnv

            infos = EnvInfos(admissible_commands=True, won=True, feedback=True)
            return AlfredDemangler(PddlEnv(infos), shuffle=False)
    except ImportError as error:
        # TextWorld without Fast Downward raises an ImportError that names no module.
        raise UserError(
            f"backend engine: {error.name or 'fast_downward'} is not installed; run "
            "'make install EXTRAS=alfworld' (builds C++, needs cmake and g++, about 5 minutes)"
        ) from None


@contextmanager
def _contained() -> Iterator[None]:
    """Undo what the engine does to the process.

    Its translator replaces ``sys.argv``, and importing alfworld sets ``ALFWORLD_DATA``, which
    would change where this package looks for games.
    """
    arguments, data = sys.argv, os.environ.get(_DATA)
    try:
        yield
    finally:
        sys.argv = arguments
        if data is None:
            os.environ.pop(_DATA, None)
        else:
            os.environ[_DATA] = data
