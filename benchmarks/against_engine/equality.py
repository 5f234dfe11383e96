"""The same texts to the simulator and to the engine; every answer has to be equal."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from against_engine import commands
from against_engine.games import GameOnDisk
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.games import ground
from trajevolve.envs.alfworld.texts import NOTHING_HAPPENS
from trajevolve.envs.contract import Environment, Observation, Outcome, Transition
from trajevolve.seeds import derive_seed

PLAN_SHARE = 0.6
"""Share of plan steps in the games that are walked along a plan, every second round."""


@dataclass
class Comparison:
    """What was compared and what differed.

    Attributes:
        games: games by type and origin.
        sent: texts sent, by kind.
        executed: those that could be executed, by kind.
        observations: observations compared, those of resets included.
        commands: entries of the admissible lists compared.
        wins: times that a goal was reached.
        differences: game, texts since its start, what differed.
        engine_seconds: processor time of the engine.
        simulator_seconds: processor time of the simulator.
    """

    games: Counter[str] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    executed: Counter[str] = field(default_factory=Counter)
    observations: int = 0
    commands: int = 0
    wins: int = 0
    differences: list[dict[str, Any]] = field(default_factory=list)
    engine_seconds: float = 0.0
    simulator_seconds: float = 0.0


def compare(
    simulator: AlfworldEnvironment,
    engine: Environment,
    games: Sequence[GameOnDisk],
    actions: int,
    seed: int,
) -> Iterator[Comparison]:
    """Play `games` on both, `actions` texts each; yield the running total after each game.

    A won game is started again. The comparison of a game ends at its first difference, since
    the two would be in different states afterwards.

    Args:
        simulator: the backend that is judged.
        engine: the backend that judges.
        games: game files that both can play.
        actions: texts a game.
        seed: of the texts.
    """
    total = Comparison()
    for number, game in enumerate(games):
        rng = np.random.default_rng(derive_seed("equality", seed, number))
        # Published and generated games take turns by six, so every type and origin has both.
        planned = number // 12 % 2 == 0
        _Pair(simulator, engine, game, total).play(rng, actions, planned)
        total.games[f"{game.type}, {game.origin}"] += 1
        yield total


class _Pair:
    """One game on both backends."""

    def __init__(
        self,
        simulator: AlfworldEnvironment,
        engine: Environment,
        game: GameOnDisk,
        total: Comparison,
    ) -> None:
        self.simulator, self.engine, self.game, self.total = simulator, engine, game, total
        self.task, self.same = simulator.task(str(game.path)), engine.task(str(game.path))
        room = ground(self.task).simulator
        self.names = (*room.receptacles, *room.objects)
        self.sent: list[str] = []

    def play(self, rng: np.random.Generator, actions: int, planned: bool) -> None:
        equal = self._start()
        for _ in range(actions):
            if not equal:
                return
            if planned and rng.random() < PLAN_SHARE:
                kind, text = "plan", (self.simulator.plan() or ["look"])[0]
            else:
                scene = commands.Scene(self.simulator.candidates(), self.names)
                kind, text = commands.draw(rng, scene)
            equal = self._send(kind, text)

    def _start(self) -> bool:
        self.sent = []
        clock = time.process_time()
        found = self.simulator.reset(self.task)
        middle = time.process_time()
        expected = self.engine.reset(self.same)
        self._spend(middle - clock, time.process_time() - middle)
        self._count(expected)
        facts = (self.task.type, self.task.text, self.task.digest)
        if facts != (self.same.type, self.same.text, self.same.digest):
            return self._differ("task", self.same, self.task)
        return found == expected or self._differ("start", asdict(expected), asdict(found))

    def _send(self, kind: str, text: str) -> bool:
        self.sent.append(text)
        mark = self.simulator.snapshot()
        quick = self.simulator.advance(text)
        self.simulator.restore(mark)
        clock = time.process_time()
        found = self.simulator.step(text)
        middle = time.process_time()
        expected = self.engine.step(text)
        self._spend(middle - clock, time.process_time() - middle)
        self._count(expected.observation)
        self.total.sent[kind] += 1
        self.total.executed[kind] += expected.feasible
        self.total.wins += expected.success
        if found != expected:
            return self._differ("step", asdict(expected), asdict(found))
        if quick != _bare(expected):
            return self._differ("advance", asdict(_bare(expected)), asdict(quick))
        # The engine says by its answer, too, whether it did anything.
        if expected.feasible == (expected.observation.text == NOTHING_HAPPENS):
            return self._differ("feasibility", expected.observation.text, expected.feasible)
        return self._start() if expected.done else True

    def _spend(self, simulator: float, engine: float) -> None:
        self.total.simulator_seconds += simulator
        self.total.engine_seconds += engine

    def _count(self, observation: Observation) -> None:
        self.total.observations += 1
        self.total.commands += len(observation.admissible or ())

    def _differ(self, what: str, engine: object, simulator: object) -> bool:
        self.total.differences.append(
            {
                "game": self.game.name,
                "origin": self.game.origin,
                "sent": list(self.sent),
                "what": what,
                "engine": engine,
                "simulator": simulator,
            }
        )
        return False


def _bare(outcome: Outcome) -> Transition:
    return Transition(outcome.feasible, outcome.success, outcome.done)
