"""Processor time of hindsight verification: one iteration of the paper's ALFWorld setting.

128 successful trajectories of up to 30 steps, 8 on each of 16 fresh games, cumulative mode, one
core, the first-time set-up of the games included. The trajectories follow a shortest plan and
slip all the time; they are recorded in another process, so that nothing is warm here.

    python benchmarks/verification.py [--mode independent] [--json]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from trajevolve.config import CreditConfig
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.trajectory import Step, Trajectory

GAMES, GROUP_SIZE, LIMIT, SLIPS = 16, 8, 30, 0.7


def record(seed: int) -> list[list[list[str]]]:
    """Record `GROUP_SIZE` clumsy successes on each game as lists of actions."""
    env = AlfworldEnvironment()
    rng = np.random.default_rng(seed)
    groups = []
    for task in env.tasks("generated:train", GAMES, seed):
        group: list[list[str]] = []
        while len(group) < GROUP_SIZE:
            env.reset(task)
            actions: list[str] = []
            while len(actions) < LIMIT and not env.success():
                if rng.random() < SLIPS:
                    options = [*env.candidates(), "take the moon"]
                    action = options[int(rng.integers(len(options)))]
                else:
                    action = (env.plan() or ["look"])[0]
                actions.append(action)
                env.advance(action)
            if env.success():
                group.append(actions)
        groups.append(group)
    return groups


def as_trajectory(task_id: str, number: int, actions: list[str]) -> Trajectory:
    """Wrap recorded actions; validity is left to verification, by replay."""
    steps = tuple(Step("", None, action, action, True) for action in actions)
    return Trajectory(f"{task_id}/{number}", task_id, "", "", 0, steps, True, 1.0, 10.0)


def main() -> None:
    """Record, verify, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=("cumulative", "independent"), default="cumulative")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        groups = pool.submit(record, arguments.seed).result()
    env = AlfworldEnvironment()
    tasks = env.tasks("generated:train", GAMES, arguments.seed)
    trajectories = [
        as_trajectory(task.id, number, actions)
        for task, group in zip(tasks, groups, strict=True)
        for number, actions in enumerate(group)
    ]
    started = time.process_time()
    by_id = {task.id: task for task in tasks}
    _, stats = verify_trajectories(env, by_id, trajectories, CreditConfig(mode=arguments.mode))
    figures = {
        "trajectories": stats.verified,
        "steps": stats.steps,
        "redundant_share": round(stats.redundant_steps / stats.steps, 3),
        "transitions": stats.transitions,
        "cpu_seconds": round(time.process_time() - started, 3),
        "mode": arguments.mode,
    }
    if arguments.json:
        print(json.dumps(figures))
    else:
        print(*(f"{name:16} {value}" for name, value in figures.items()), sep="\n")


if __name__ == "__main__":
    main()
