"""The real TextWorld engine behind the same contract: slow, and the judge of the simulator.

It needs the extra ``alfworld`` (a C++ build of Fast Downward) and plays any game file, those that
the simulator refuses included. It has no snapshots: replay starts from reset. It is not
thread-safe: use processes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trajevolve.envs.alfworld.base import KINDS, AlfworldGames
from trajevolve.envs.alfworld.domain import fill_grammar
from trajevolve.envs.alfworld.export import published_texts
from trajevolve.envs.alfworld.games import ENV
from trajevolve.envs.contract import Observation, Outcome, Spec, Task
from trajevolve.errors import UserError


class EngineEnvironment(AlfworldGames):
    """One episode at a time in TextWorld. Arguments as for the simulator's environment.

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
    )

    def __init__(self, data: str | Path | None = None, difficulty: str = "default") -> None:
        super().__init__(data, difficulty, known=False)
        self._data = data
        self._engine = _start_engine()
        self._loaded = ""
        self._admissible: tuple[str, ...] = ()
        self._won = False

    def reset(self, task: Task) -> Observation:
        """Start `task`. The first time it costs the engine seconds, later less."""
        if self._loaded != task.digest:
            self._engine.load(self._game(task))
            self._loaded = task.digest
        return self._see(self._engine.reset())

    def step(self, action: str) -> Outcome:
        """Execute `action`; one that is not admissible changes nothing and is answered so."""
        command = self.canonical(action)
        feasible = command in self._admissible
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
        return self._won

    def candidates(self) -> tuple[str, ...]:
        """The admissible commands of the current state."""
        return self._admissible

    def close(self) -> None:
        """End the engine's episode."""
        self._engine.close()

    def _see(self, state: Any) -> Observation:
        self._admissible = tuple(state["admissible_commands"])
        self._won = bool(state["won"])
        return Observation(str(state.feedback), self._admissible)

    def _game(self, task: Task) -> dict[str, object]:
        """The fields of a game file, the texts that tasks leave out filled in."""
        texts = task.payload.texts or published_texts(self._data)
        if texts is None:
            raise UserError(
                f"task {task.id}: the engine needs the published domain and grammar; name a data "
                "folder with at least one published game (--data), or install alfworld"
            )
        return {
            "pddl_domain": texts.domain,
            "grammar": fill_grammar(texts.grammar, task.text),
            "pddl_problem": task.payload.text(),
            "solvable": True,
            "walkthrough": None,
        }


def _start_engine() -> Any:
    try:
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
        from textworld import EnvInfos
        from textworld.envs.pddl import PddlEnv

        infos = EnvInfos(admissible_commands=True, won=True, feedback=True)
        return AlfredDemangler(PddlEnv(infos), shuffle=False)
    except ImportError as error:
        raise UserError(
            f"backend engine: {error.name or error} is not installed; run "
            "'make install EXTRAS=alfworld' (builds C++, needs cmake and g++, about 5 minutes)"
        ) from None
