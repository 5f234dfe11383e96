"""Which steps were exploration: their worth shows only afterwards, so credit can spare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trajevolve.config import RunConfig
from trajevolve.envs.contract import Environment
from trajevolve.errors import UserError
from trajevolve.trajectory import Step


def check_exploration(config: RunConfig, env: Environment) -> None:
    """Raise UserError where exploration is to be spared and nothing tells what it is."""
    if config.credit.exploration_neutral and not env.spec.exploration:
        raise UserError(
            f"credit.exploration_neutral: environment {config.env.name!r} does not tell "
            "exploration from other steps (spec.exploration); set it to false"
        )


def with_exploration(env: Environment, steps: Sequence[Step], final: str) -> list[Step]:
    """Return `steps` with ``exploring`` where the environment says that they looked for something.

    Args:
        env: at the end of the episode.
        steps: all of it, in order.
        final: the text after the last.
    """
    if not env.spec.exploration:
        return list(steps)
    executed = [n for n, step in enumerate(steps) if step.executed]
    answers = [*(step.observation for step in steps[1:]), final]
    positions = env.exploring(
        [steps[n].action or "" for n in executed], [answers[n] for n in executed]
    )
    explored = {executed[position] for position in positions}
    return [replace(step, exploring=n in explored) for n, step in enumerate(steps)]
