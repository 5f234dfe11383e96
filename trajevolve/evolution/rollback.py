"""Error rollback: back to before the worst decision, then the policy again (paper §3.4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from trajevolve.deadline import Deadline
from trajevolve.envs.contract import Environment, Kind, Task
from trajevolve.evolution.recording import Recording, record
from trajevolve.trajectory import Trajectory


def error_step(trajectory: Trajectory) -> int | None:
    """Return t_err: the changing step with ŷ = 0 and the lowest p̂, the earliest on ties.

    None where the discriminator found no redundant step (or is not trained): nothing to roll
    back to.
    """
    suspects = [
        (step.probability, t)
        for t, step in enumerate(trajectory.steps)
        if step.valid
        and step.kind == Kind.CHANGING
        and step.predicted == 0
        and step.probability is not None
    ]
    return min(suspects)[1] if suspects else None


def oracle_error_step(
    trajectory: Trajectory,
    task: Task,
    env: Environment,
    distance: Callable[[Environment], float],
    deadline: Deadline | None = None,
) -> int | None:
    """Return the step taken where the shortest plan to success was first at its shortest.

    An upper bound for :func:`error_step` that separates the discriminator's error from the
    strategy's value. None where the last state of the trajectory is the nearest one.

    Args:
        trajectory: a failure.
        task: its task instance.
        env: an environment to replay it in; whatever it raises is passed on.
        distance: number of actions of the shortest plan from the current state; infinite at a
            dead end.
        deadline: watches each call of `env` and `distance`; None: nobody does.
    """
    within = (deadline or Deadline(None)).within
    within(partial(env.reset, task))
    distances = [within(partial(distance, env))]
    for step in trajectory.steps:
        if step.valid and step.action is not None:
            within(partial(env.advance, step.action))
        distances.append(within(partial(distance, env)))
    nearest = distances.index(min(distances))
    return nearest if nearest < len(trajectory) else None


def roll_back(parent: Trajectory, t_err: int) -> Recording:
    """Record the steps of `parent` before `t_err`; the policy decides again from there."""
    kept = tuple(record(step) for step in parent.steps[:t_err])
    return Recording(kept, t_err=t_err, resample=True)
