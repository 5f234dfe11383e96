from collections.abc import Sequence

import numpy as np
import pytest

from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.games import task_of
from trajevolve.envs.alfworld.generator import generate_games
from trajevolve.envs.alfworld.searcher import Searcher
from trajevolve.envs.contract import Task
from trajevolve.errors import UserError


def play(task: Task, seed: int, limit: int, noise: float) -> int | None:
    """Steps to success; None past the limit or in a dead end that a foreign hand made."""
    env = AlfworldEnvironment()
    observation = env.reset(task)
    searcher = Searcher(task, np.random.default_rng(seed))
    foreign = np.random.default_rng(seed + 1)
    for step in range(1, limit + 1):
        options: Sequence[str] = observation.admissible or ()
        action = searcher.act(observation.text, options)
        assert action in options
        if foreign.random() < noise:
            action = options[int(foreign.integers(len(options)))]
        outcome = env.step(action)
        if outcome.done:
            return step
        observation = outcome.observation
    return None


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_it_solves_every_generated_game(level: str) -> None:
    steps = [play(task, i, 150, 0.0) for i, task in enumerate(generate_games(90, 21, level))]
    assert None not in steps


def test_it_finds_its_way_back_after_foreign_actions() -> None:
    games = generate_games(90, 22)
    steps = [play(task, i, 400, 0.4) for i, task in enumerate(games)]
    # A random hand may pick up something that fits nowhere: then nobody can go on.
    assert sum(count is None for count in steps) <= 1


def test_it_needs_more_steps_than_the_clairvoyant_planner() -> None:
    env, longer = AlfworldEnvironment(), 0
    for i, task in enumerate(generate_games(30, 23)):
        env.reset(task)
        shortest, found = env.distance(), play(task, i, 150, 0.0)
        assert found is not None and found >= shortest
        longer += found > shortest
    assert longer > 10


def test_the_order_of_exploration_is_drawn_from_the_generator() -> None:
    task = generate_games(1, 24, "hard")[0]
    lengths = {play(task, seed, 150, 0.0) for seed in range(12)}
    assert len(lengths) > 2
    assert play(task, 3, 150, 0.0) == play(task, 3, 150, 0.0)


def test_other_sentences_are_refused() -> None:
    task = task_of("x", "pick_and_place_simple", "tidy up the kitchen", "(define)")
    with pytest.raises(UserError, match="does not understand 'tidy up the kitchen'"):
        Searcher(task, np.random.default_rng(0))
