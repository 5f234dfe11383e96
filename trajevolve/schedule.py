"""Which stages an iteration has, in the order of the algorithm (paper §3, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from trajevolve.config import RunConfig

Stage = Literal[
    "evaluation_before",
    "rollout",
    "verification",
    "labelling",
    "discriminator",
    "evolution",
    "advantages",
    "update",
    "evaluation",
    "evaluation_after",
]
STAGES: tuple[Stage, ...] = get_args(Stage)
"""All of them, in order."""


def stages(config: RunConfig, iteration: int) -> list[Stage]:
    """List the stages of `iteration`, counted from 0.

    Iteration 0 begins with the panel that the untrained policy is measured on; the same panel
    stands alone in iteration K, after the last update.
    """
    if iteration >= config.iterations:
        return ["evaluation_after"] if iteration == config.iterations else []
    named: list[tuple[Stage, bool]] = [
        ("evaluation_before", iteration == 0),
        ("rollout", True),
        ("verification", True),
        ("labelling", config.discriminator.enabled),
        ("discriminator", config.discriminator.enabled),
        ("evolution", evolves(config, iteration)),
        ("advantages", True),
        ("update", True),
        ("evaluation", evaluates(config, iteration)),
    ]
    return [stage for stage, due in named if due]


def all_stages(config: RunConfig) -> Iterator[tuple[int, Stage]]:
    """Iterate over every (iteration, stage) of the run, in order."""
    for iteration in range(config.iterations + 1):
        for stage in stages(config, iteration):
            yield iteration, stage


def evolves(config: RunConfig, iteration: int) -> bool:
    """Every F-th iteration evolves: F-1, 2F-1, … counted from 0."""
    return config.evolution.enabled and (iteration + 1) % config.evolution.every == 0


def evaluates(config: RunConfig, iteration: int) -> bool:
    """Every ``evaluation.every``-th iteration is tried on the selection panel; 0: none."""
    every = config.evaluation.every
    return every > 0 and (iteration + 1) % every == 0
