"""Reference labels for failures, where the length of the shortest plan can be computed.

Let d be the length of the shortest plan to success. A step is redundant when the trajectory without
it and its dependents ends no further from success than with it. On successes d = 0 and this is
hindsight verification of single steps. The oracle is clairvoyant: it knows where the object is, so
searching in the wrong place counts as redundant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from trajevolve.credit.units import cut
from trajevolve.envs.contract import Environment, Task
from trajevolve.trajectory import Trajectory

Distance = Callable[[Environment], float]


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
    executed = [t for t, step in enumerate(trajectory.steps) if step.valid and step.action]
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
