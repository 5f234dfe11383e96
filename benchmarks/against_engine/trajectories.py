"""Redundant successes of the clumsy expert, invalid actions among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from against_engine.games import GameOnDisk
from trajevolve.config import EnvConfig
from trajevolve.envs.alfworld.clumsy import Clumsiness, ClumsyExpert
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.contract import Task
from trajevolve.rollout import Episode, play
from trajevolve.seeds import derive_seed

LIMIT = 30
SLIPPING = Clumsiness(careful_share=0.0, careless=(0.3, 0.8), confuse=0.12)


@dataclass(frozen=True)
class Success:
    """One successful trajectory.

    Attributes:
        game: its game.
        task: the same for the simulator.
        actions: what the agent did, up to the success.
    """

    game: GameOnDisk
    task: Task
    actions: tuple[str, ...]


def clumsy_successes(
    games: Sequence[GameOnDisk], each: int, attempts: int, seed: int
) -> list[Success]:
    """Play `attempts` episodes a game and keep `each` different successes, the longest first.

    The others come at even distances down the list by length. A game that the agent does not
    solve so often gives fewer.
    """
    environment = AlfworldEnvironment()
    found: list[Success] = []
    for number, game in enumerate(games):
        task = environment.task(str(game.path))
        episodes = [
            Episode(str(attempt), task, derive_seed("labels", seed, number, attempt))
            for attempt in range(attempts)
        ]
        played = play(
            episodes, ClumsyExpert(SLIPPING), AlfworldEnvironment, EnvConfig(step_limit=LIMIT)
        )
        texts = {
            tuple(step.action or "" for step in trajectory.steps)
            for trajectory in played
            if trajectory.success
        }
        ordered = sorted(texts, key=lambda actions: (-len(actions), actions))
        places = range(0, len(ordered), max(1, len(ordered) // (2 * each)))[:each]
        found += [Success(game, task, ordered[place]) for place in places]
    return found
