"""Advantage estimators by name: one file each, one line here."""

from __future__ import annotations

from typing import Protocol

from trajevolve.advantages.grpo import grpo
from trajevolve.advantages.trajevolve import trajevolve
from trajevolve.config import RunConfig
from trajevolve.errors import UserError
from trajevolve.trajectory import Group
from trajevolve.wording import did_you_mean


class Estimator(Protocol):
    """Fill the advantages of one group: a function, or an object that carries fitted state.

    It must set ``rho``, ``shaped_reward`` and ``episode_advantage`` of every member and
    ``step_advantage`` and ``advantage`` of every step, and may read anything else that earlier
    stages wrote (``Step.state_key``, ``Step.reward``, labels). All N + m members take part in
    means and deviations; who is a member was decided before.
    """

    def __call__(self, group: Group, config: RunConfig, /) -> Group:
        """Return `group` with every advantage filled in."""


ESTIMATORS: dict[str, Estimator] = {"grpo": grpo, "trajevolve": trajevolve}
LABELLED = frozenset({"trajevolve"})
"""Methods whose advantages depend on the labels, and so on the weights in ``credit``."""


def estimator(name: str) -> Estimator:
    """Return the estimator called `name` (``RunConfig.method``).

    Raises:
        UserError: there is none of that name.
    """
    if name not in ESTIMATORS:
        hint = did_you_mean(name, ESTIMATORS)
        raise UserError(f"method: {name!r} is unknown; {hint}allowed: {', '.join(ESTIMATORS)}")
    return ESTIMATORS[name]
