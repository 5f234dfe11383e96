"""CPU cost of ALFWorld: steps with texts, transitions without, plans, games, a pack of games.

Run from the project's root::

    python benchmarks/environment_steps.py [--data DIR]

Without real data the generated games are measured, and the lines that need a split are left out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.games import ground
from trajevolve.envs.alfworld.generator import generate_games
from trajevolve.envs.alfworld.pack import load_pack, write_pack
from trajevolve.envs.contract import Task
from trajevolve.errors import UserError

EPISODES = 128
STEPS = 30
GAMES = 16


def timed(work: Callable[[], int]) -> tuple[float, int]:
    """CPU seconds of `work`, and what it counted."""
    start = time.process_time()
    count = work()
    return time.process_time() - start, count


def walk(env: AlfworldEnvironment, task: Task, rng: np.random.Generator) -> list[str]:
    """The actions of one random episode of at most STEPS steps."""
    observation = env.reset(task)
    actions: list[str] = []
    for _ in range(STEPS):
        options = observation.admissible or ()
        actions.append(options[int(rng.integers(len(options)))])
        outcome = env.step(actions[-1])
        if outcome.done:
            break
        observation = outcome.observation
    return actions


def play(env: AlfworldEnvironment, walks: Sequence[tuple[Task, list[str]]]) -> int:
    """Replay with text and admissible list each step; returns the number of steps."""
    count = 0
    for task, actions in walks:
        env.reset(task)
        for action in actions:
            env.step(action)
        count += len(actions)
    return count


def omit_one(env: AlfworldEnvironment, walks: Sequence[tuple[Task, list[str]]]) -> int:
    """Replay each walk without each of its steps, prefixes shared; returns transitions."""
    count = 0
    for task, actions in walks:
        env.reset(task)
        marks = []
        for action in actions:
            marks.append(env.snapshot())
            env.advance(action)
            count += 1
        for left_out, mark in enumerate(marks):
            env.restore(mark)
            for action in actions[left_out + 1 :]:
                count += 1
                if env.advance(action).done:
                    break
    return count


def measure(title: str, tasks: Sequence[Task]) -> None:
    """Print the figures of `tasks`."""
    env = AlfworldEnvironment()
    first, _ = timed(lambda: len([ground(task) for task in tasks]))
    rng = np.random.default_rng(0)
    walks = [
        (tasks[i % len(tasks)], walk(env, tasks[i % len(tasks)], rng)) for i in range(EPISODES)
    ]
    seconds, steps = timed(lambda: play(env, walks))
    print(f"{title}: first set-up {first / len(tasks) * 1e3:.1f} ms a game")
    print(f"  step with text and admissible list: {steps / seconds:,.0f} a CPU second")
    seconds, moves = timed(lambda: omit_one(env, walks))
    total = seconds + first
    print(f"  advance: {seconds / moves * 1e6:.2f} us")
    print(
        f"  omit-one replays of {EPISODES} walks of {STEPS} steps: {moves:,} transitions, "
        f"{total:.2f} CPU s with the set-up of {len(tasks)} games"
    )
    rooms = [ground(task) for task in tasks]
    seconds, _ = timed(lambda: len([room.planner.plan(room.simulator.start) for room in rooms]))
    print(f"  shortest plan: {seconds / len(rooms) * 1e3:.2f} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="data folder; else $ALFWORLD_DATA, else data/")
    options = parser.parse_args()
    seconds, count = timed(lambda: len(generate_games(120, seed=1)))
    print(f"generate_games: {seconds / count * 1e3:.1f} ms a game, solved by search")
    measure("generated games", generate_games(GAMES, seed=2))
    env = AlfworldEnvironment(options.data)
    try:
        measure("train games", env.tasks("train", GAMES))
    except UserError as error:
        print(f"train games: not measured: {error}")
        return
    seconds, count = timed(lambda: len(AlfworldEnvironment(options.data).tasks("train")))
    print(f"train split: {count} games listed in {seconds:.2f} CPU s")
    train = env.tasks("train")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.parquet"
        write_pack(train, path)
        seconds, count = timed(lambda: len(load_pack(path)))
        print(
            f"  as a pack: {path.stat().st_size / 1e6:.1f} MB, {count} games in {seconds:.2f} CPU s"
        )


if __name__ == "__main__":
    main()
