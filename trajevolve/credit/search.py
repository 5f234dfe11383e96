"""Which steps were search: their worth shows only afterwards, so credit can leave them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trajevolve.config import RunConfig
from trajevolve.envs.contract import Environment
from trajevolve.errors import UserError
from trajevolve.trajectory import Step


def check_search(config: RunConfig, env: Environment) -> None:
    """Raise UserError where ``credit.exploration_neutral`` is on and nothing tells a search."""
    if config.credit.exploration_neutral and not env.spec.search:
        raise UserError(
            f"credit.exploration_neutral: environment {config.env.name!r} does not tell search "
            "from other steps (spec.search); set it to false"
        )


def with_searches(env: Environment, steps: Sequence[Step], final: str) -> list[Step]:
    """Return `steps` with ``search`` where the environment says that they looked for something.

    Args:
        env: at the end of the episode.
        steps: all of it, in order.
        final: the text after the last.
    """
    if not env.spec.search:
        return list(steps)
    executed = [n for n, step in enumerate(steps) if step.valid and step.action is not None]
    answers = [*(step.observation for step in steps[1:]), final]
    positions = env.searching(
        [steps[n].action or "" for n in executed], [answers[n] for n in executed]
    )
    searched = {executed[position] for position in positions}
    return [replace(step, search=True) if n in searched else step for n, step in enumerate(steps)]
