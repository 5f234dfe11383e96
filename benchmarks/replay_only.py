"""Verification where replay is the only snapshot: ScienceWorld, on one and on two Java processes.

A 10-step and a 39-step solution of the benchmark, made clumsy, are verified three ways: by naive
replay (a reset and the whole sequence for every trial, written apart from the package), and by the
package with one environment object and with two. The last two alternate, and with them what the
machine allows at all: the sequence replayed as often by one object as by two that share nothing.
What the schedule alone allows is measured too, with objects that give the recorded answers, each
after the same time, and so take no processor from each other. Then the successes of small rollouts
are verified, as training does it, by one object and by two: groups of either task, and of others.

A young Java process compiles what it executes on another core, so that one alone already takes
most of two cores; `--warm-up` verifications come first.

    python benchmarks/replay_only.py [--repeats 3] [--output docs/records/replay_only.json]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

from scienceworld_pool import java_cpu_s

from trajevolve.config import CreditConfig, EnvConfig
from trajevolve.credit.lots import verify_lots
from trajevolve.credit.replay import ReplayGraph
from trajevolve.credit.verification import Verification, verify_on
from trajevolve.deadline import Deadline
from trajevolve.envs.contract import Environment, Kind, Task
from trajevolve.envs.registry import make_env
from trajevolve.envs.scienceworld.clumsy import Clumsiness, ClumsyFollower, gold
from trajevolve.files import write_json
from trajevolve.rollout import Episode, play
from trajevolve.trajectory import Trajectory

TASKS = {"boil/0": 39, "find-living-thing/0": 10}
"""Tasks and the lengths of their solutions. The long one first: it warms the processes up."""
ROLLOUTS = (
    ("find-living-thing/0",),
    ("boil/0",),
    ("find-living-thing/97", "find-non-living-thing/104", "find-animal/93", "find-plant/36"),
)
"""Tasks of each rollout."""
GROUP_SIZE = 3
APART_STEPS = 400
"""Actions of the measurement of what the machine allows, about."""
SLIPS = Clumsiness(careful_share=1.0, careful=(0.3, 0.3))


STEP_S, RESET_S = 0.012, 0.084
"""What a step and a reset take where only the schedule counts: as in a process that is warm."""

Answers = dict[tuple[str, ...], Any]


class Recording:
    """An environment whose answers are kept, by all actions since the reset."""

    def __init__(self, env: Environment, answers: Answers) -> None:
        self._env, self._answers = env, answers
        self._past: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)

    def reset(self, task: Task) -> Any:
        """Start anew."""
        self._past = ()
        return self._env.reset(task)

    def advance(self, action: str) -> Any:
        """Execute and keep."""
        self._past += (action,)
        self._answers[self._past] = self._env.advance(action)
        return self._answers[self._past]


class Steady(Recording):
    """Gives the kept answers, each after the same time."""

    def reset(self, task: Task) -> Any:
        """Start anew."""
        self._past = ()
        time.sleep(RESET_S)

    def success(self) -> bool:
        """No start is a success."""
        return False

    def advance(self, action: str) -> Any:
        """Wait and look up."""
        self._past += (action,)
        time.sleep(STEP_S)
        return self._answers[self._past]


class Naive:
    """Cumulative mode, backward, by reset and replay alone.

    Attributes:
        resets: of the environment.
        steps: actions executed.
    """

    def __init__(self, env: Environment, task: Task, actions: Sequence[str]) -> None:
        self.env, self.task, self.actions = env, task, actions
        self.resets = self.steps = 0
        self.soft: set[int] = set()

    def labels(self) -> list[int]:
        """Return y_1 … y_T of a trajectory that succeeds."""
        kept = self._base()
        current = list(kept)
        shrinking = True
        while shrinking:
            shrinking = False
            for t in reversed(kept):
                if t not in current or self._informs(t):
                    continue
                executed = self._replay([p for p in current if p != t])
                if executed is not None:
                    current, shrinking = executed, True
        return [
            int(t in current or (t in kept and self._informs(t))) for t in range(len(self.actions))
        ]

    def _base(self) -> list[int]:
        """Replay the trajectory; return the steps that did something or failed softly."""
        self._reset()
        kept = []
        for position, action in enumerate(self.actions):
            made = self._advance(action)
            if made.feasible or made.costs_step:
                kept.append(position)
            if made.costs_step and not made.feasible:
                self.soft.add(position)
        assert made.success, "the trajectory does not succeed"
        return kept

    def _replay(self, positions: Sequence[int]) -> list[int] | None:
        """Return what was executed if that succeeds, else None.

        A soft failure that was none in the original has spent time: it is left out and the
        replay starts over.
        """
        self._reset()
        executed: list[int] = []
        for position in positions:
            made = self._advance(self.actions[position])
            if not made.feasible and made.costs_step and position not in self.soft:
                return self._replay([p for p in positions if p != position])
            if made.feasible or made.costs_step:
                executed.append(position)
            if made.success or made.done:
                return executed if made.success else None
        return None

    def _informs(self, position: int) -> bool:
        return self.env.kind(self.actions[position]) == Kind.INFORMATION

    def _reset(self) -> None:
        self.resets += 1
        self.env.reset(self.task)

    def _advance(self, action: str) -> Any:
        self.steps += 1
        return self.env.advance(action)


def clumsy(env: Environment, task: Task, count: int) -> list[Trajectory]:
    """Make the solution of a task clumsy, with the first `count` seeds that succeed."""
    limit = EnvConfig(name="scienceworld", step_limit=3 * len(gold(env, task)))
    agent = ClumsyFollower(SLIPS, gold)
    made: list[Trajectory] = []
    for seed in range(100):
        made += play([Episode(f"{task.id}#{seed}", task, seed)], agent, lambda: env, limit)
        made = [trajectory for trajectory in made if trajectory.success]
        if len(made) == count:
            return made
    raise AssertionError(f"{task.id}: too few seeds succeed")


def record(ref: str, length: int) -> tuple[Task, list[str]]:
    """Make the solution of a task clumsy."""
    env = make_env("scienceworld")
    task = env.task(ref)
    assert len(gold(env, task)) == length, f"{ref}: another solution than expected"
    (played,) = clumsy(env, task, 1)
    env.close()
    return task, [action for action in played.actions if action is not None]


@contextmanager
def started(task: Task, count: int) -> Iterator[list[Environment]]:
    """Make `count` environment objects that have their Java processes."""
    environments = [make_env("scienceworld") for _ in range(count)]
    for each in environments:
        each.reset(task)
    yield environments
    for each in environments:
        each.close()


def alternating(repeats: int) -> Iterator[int]:
    """Yield one and two objects, `repeats` times each, neither always first."""
    for repeat in range(repeats):
        yield from (1, 2) if repeat % 2 == 0 else (2, 1)


def verified(task: Task, actions: Sequence[str], count: int) -> tuple[Verification, dict[str, Any]]:
    """Verify with `count` environment objects."""
    with started(task, count) as environments:
        env, *beside = environments
        began, before = time.monotonic(), _cpu_s(env)
        graph = ReplayGraph(env, task, beside=beside)
        result = verify_on(graph, actions)
        wall = time.monotonic() - began
        busy = (_cpu_s(env) - before) / wall
    return result, {
        "wall_s": wall,
        "cores_busy": round(busy, 2),
        "steps": result.transitions,
        "resets": graph.resets,
    }


def replayed_apart(task: Task, actions: Sequence[str], count: int) -> float:
    """Replay the sequence, an even number of times, dealt out to `count` objects; in seconds."""
    times = 2 * max(1, APART_STEPS // (2 * len(actions))) // count

    def replays(env: Environment) -> None:
        for _ in range(times):
            env.reset(task)
            for action in actions:
                env.advance(action)

    with started(task, count) as environments:
        began = time.monotonic()
        threads = [threading.Thread(target=replays, args=(env,)) for env in environments]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.monotonic() - began


def scheduled(task: Task, actions: Sequence[str], count: int) -> float:
    """Verify with `count` objects that do not compete for the processor; in seconds."""
    answers: Answers = {}
    with started(task, count) as environments:
        for kind in (Recording, Steady):
            env, *beside = [cast(Environment, kind(each, answers)) for each in environments]
            began = time.monotonic()
            verify_on(ReplayGraph(env, task, beside=beside), actions)
        return time.monotonic() - began


def _cpu_s(env: Any) -> float:
    """Processor time of this process and the Java processes so far."""
    return time.process_time() + java_cpu_s(env)


def measure(ref: str, length: int, repeats: int, warm_up: int) -> dict[str, Any]:
    """Verify one path in all ways."""
    task, actions = record(ref, length)
    for _ in range(warm_up):
        verified(task, actions, 2)
    with started(task, 1) as (env,):
        naive = Naive(env, task, actions)
        began = time.monotonic()
        expected = naive.labels()
        naive_s = time.monotonic() - began
    runs: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
    apart: dict[int, list[float]] = {1: [], 2: []}
    for count in alternating(repeats):
        result, cost = verified(task, actions, count)
        assert list(result.labels or ()) == expected, f"{ref}: labels differ on {count}"
        runs[count].append(cost)
        apart[count].append(replayed_apart(task, actions, count))
        print(ref, count, cost, f"apart {apart[count][-1]:.1f}", flush=True)
    schedule = {count: scheduled(task, actions, count) for count in (1, 2)}
    print(ref, "schedule", schedule, flush=True)
    wall = {count: statistics.median(run["wall_s"] for run in made) for count, made in runs.items()}
    machine = {count: statistics.median(seconds) for count, seconds in apart.items()}
    return {
        "solution": length,
        "steps": len(actions),
        "redundant": expected.count(0),
        "replays": result.replays,
        "naive": {"wall_s": round(naive_s, 1), "steps": naive.steps, "resets": naive.resets},
        **{
            f"{count}_processes": {**made[0], "wall_s": round(wall[count], 1)}
            for count, made in runs.items()
        },
        "steps_over_naive": {
            str(count): round(made[0]["steps"] / naive.steps, 3) for count, made in runs.items()
        },
        "wall_two_over_one": round(wall[2] / wall[1], 3),
        "wall_two_over_naive": round(wall[2] / naive_s, 3),
        "machine_two_over_one": round(machine[2] / machine[1], 3),
        "schedule_two_over_one": round(schedule[2] / schedule[1], 3),
        "labels_equal": True,
    }


def measure_rollout(refs: Sequence[str], repeats: int) -> dict[str, Any]:
    """Verify the successes of a rollout with one environment object and with two."""
    env = make_env("scienceworld")
    tasks = [env.task(ref) for ref in refs]
    trajectories = [each for task in tasks for each in clumsy(env, task, GROUP_SIZE)]
    env.close()
    wall: dict[int, list[float]] = {1: [], 2: []}
    labels = set()
    tasks_by_id = {task.id: task for task in tasks}
    for count in alternating(repeats):
        with started(tasks[0], count) as environments:
            began = time.monotonic()
            verdicts = verify_lots(
                environments, tasks_by_id, trajectories, CreditConfig(), Deadline(None)
            )
            made = sorted(verdicts, key=itemgetter(0))
            wall[count].append(time.monotonic() - began)
        labels.add(tuple(v.verification.labels for _, v in made if v.verification is not None))
        print("rollout", *refs, count, round(wall[count][-1], 1), flush=True)
    assert [len(each) for each in labels] == [len(trajectories)], "labels differ or are missing"
    one, two = (statistics.median(wall[count]) for count in (1, 2))
    return {
        "tasks": list(refs),
        "trajectories": len(trajectories),
        "steps": sum(map(len, trajectories)),
        "wall_s": {"1": round(one, 1), "2": round(two, 1)},
        "wall_two_over_one": round(two / one, 3),
    }


def main() -> None:
    """Measure and print, or write a record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=10)
    parser.add_argument("--only", choices=sorted(TASKS))
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    chosen = {ref: n for ref, n in TASKS.items() if arguments.only in (None, ref)}
    found = {
        "machine": {"cpus": os.cpu_count(), "python": platform.python_version()},
        "simplifications": "easy",
        "warm_up": arguments.warm_up,
        "paths": {
            ref: measure(ref, length, arguments.repeats, arguments.warm_up)
            for ref, length in chosen.items()
        },
        "rollouts": [
            measure_rollout(refs, arguments.repeats)
            for refs in ROLLOUTS
            if arguments.only in (None, *refs)
        ],
    }
    print(json.dumps(found, indent=2))
    if arguments.output is not None:
        write_json(arguments.output, found)


if __name__ == "__main__":
    main()
