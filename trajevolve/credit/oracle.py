"""Reference labels for failures, where the length of the shortest plan can be computed.

Let d be the length of the shortest plan to success. A step is redundant when the trajectory without
it and its dependents ends no further from success than with it. On successes d = 0 and this is
hindsight verification of single steps. The oracle is clairvoyant: it knows where the object is, so
searching in the wrong place counts as redundant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from trajevolve.credit.units import cut
from trajevolve.deadline import Deadline
from trajevolve.envs.contract import Environment, Task
from trajevolve.problems import Problem, reason_of
from trajevolve.trajectory import Trajectory

Distance = Callable[[Environment], float]


def distance_of(env: Environment) -> Distance | None:
    """Return how `env` computes the shortest plan's length, None where it cannot."""
    found: Distance | None = getattr(type(env), "distance", None)
    return found


def label_failures(
    env: Environment,
    tasks_by_id: Mapping[str, Task],
    failures: Sequence[Trajectory],
    distance: Distance,
    timeout_s: float | None = None,
) -> tuple[dict[str, tuple[int, ...]], tuple[Problem, ...]]:
    """Label each of `failures`; whatever the environment does in one, the others are labelled.

    Args:
        env: one environment for all.
        tasks_by_id: their tasks.
        failures: the trajectories.
        distance: as in :func:`oracle_labels`.
        timeout_s: longest time from one distance to the next (to twice that), with a replay
            between them at most; None: for ever.

    Returns:
        trajectory id -> labels, and a problem for each one without.
    """
    found: dict[str, tuple[int, ...]] = {}
    problems: list[Problem] = []
    measured = 0

    def counting(at: Environment) -> float:
        nonlocal measured
        measured += 1
        return distance(at)

    with Deadline(timeout_s) as deadline:
        for failure in failures:
            task = tasks_by_id[failure.task_id]
            label = partial(oracle_labels, env, task, failure, counting)
            try:
                found[failure.id] = deadline.within(label, lambda: measured)
            except Exception as error:
                problems.append(Problem(failure.id, failure.task_id, reason_of(error)))
    return found, tuple(problems)


def oracle_labels(
    env: Environment, task: Task, trajectory: Trajectory, distance: Distance
) -> tuple[int, ...]:
    """Label every step of a failed `trajectory`: 1 necessary, 0 redundant.

    The trajectory is cut before its first dead end; the step that leads there and all later ones
    are errors, 0. Invalid steps are 0, information steps 1, as in hindsight verification.

    Args:
        env: an environment to replay it in.
        task: its task instance.
        trajectory: the failure.
        distance: number of actions of the shortest plan from the current state, ``math.inf`` at
            a dead end.
    """
    actions = [step.action or "" for step in trajectory.steps]
    executed = [t for t, step in enumerate(trajectory.steps) if step.executed]
    alive, end = _until_dead_end(env, task, [actions[t] for t in executed], distance)
    positions = executed[:alive]
    units = cut(env, positions, actions)
    labels = [0] * len(trajectory)
    for position in units.information:
        labels[position] = 1
    for unit in units.changing:
        rest = [actions[t] for t in positions if t not in unit]
        if _distance_after(env, task, rest, distance) > end:
            for position in unit:
                labels[position] = 1
    return tuple(labels)


def _until_dead_end(
    env: Environment, task: Task, actions: Sequence[str], distance: Distance
) -> tuple[int, float]:
    """Return how many actions come before the first dead end, and the distance after them."""
    env.reset(task)
    nearest = distance(env)
    for number, action in enumerate(actions):
        env.advance(action)
        after = distance(env)
        if math.isinf(after):
            return number, nearest
        nearest = after
    return len(actions), nearest


def _distance_after(
    env: Environment, task: Task, actions: Sequence[str], distance: Distance
) -> float:
    """Execute what is feasible of `actions` and measure where that ends."""
    env.reset(task)
    for action in actions:
        transition = env.advance(action)
        if transition.success:
            return 0.0
        if transition.done:
            break
    return distance(env)
