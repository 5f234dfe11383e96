"""Fixed panels: every task once, success by task type, steps, redundancy, and paired comparison.

Three pure steps, so that a flow can put its own between them: :func:`play_panel` plays,
``trajevolve.credit.labelling`` verifies the successes, :func:`measure` counts.

Intervals are at 95 %. Success rates: Wilson's score interval (binomial, one episode a task).
Difference of two policies on the same panel: the adjusted Wald interval of Bonett and Price
(2012) for paired proportions, which stays sensible when few tasks differ. Difference in steps: a
percentile bootstrap over tasks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trajevolve.agent.contract import Agent
from trajevolve.config import EnvConfig
from trajevolve.envs.contract import Environment, Task
from trajevolve.errors import UserError
from trajevolve.rollout import Episode, play
from trajevolve.seeds import derive_seed
from trajevolve.trajectory import Trajectory

Z95 = 1.959963984540054
SCHEMA_VERSION = 1
BOOTSTRAP_RESAMPLES = 10_000
#: Episodes alive at once; bounds the memory of caches, not the result.
CONCURRENT = 64


@dataclass(frozen=True)
class EpisodeResult:
    """What one task of the panel contributes.

    Attributes:
        task_id: the task, the key of paired comparison.
        task_type: its row in the table.
        success: solved within the step limit.
        score: graded score in [0, 1].
        steps: T.
        invalid: number of invalid actions.
        redundancy: ρ(τ), share of redundant steps of a verified success; None otherwise.
    """

    task_id: str
    task_type: str
    success: bool
    score: float
    steps: int
    invalid: int
    redundancy: float | None


@dataclass(frozen=True)
class Row:
    """One row of the result table; a rate without episodes behind it is None.

    Attributes:
        tasks: number of episodes.
        successes: how many were solved.
        success: their share.
        success_interval: Wilson's 95 % interval of that share.
        score: mean graded score.
        steps: mean number of steps of all episodes.
        steps_successful: the same over successes.
        redundancy: mean ρ over verified successes.
        invalid_share: invalid actions per action, over all episodes.
    """

    tasks: int
    successes: int
    success: float | None
    success_interval: tuple[float, float]
    score: float | None
    steps: float | None
    steps_successful: float | None
    redundancy: float | None
    invalid_share: float | None


@dataclass(frozen=True)
class Evaluation:
    """A policy on a panel.

    Attributes:
        overall: all tasks.
        types: one row per task type, in alphabetical order.
        episodes: one entry per task, in panel order.
    """

    overall: Row
    types: Mapping[str, Row]
    episodes: tuple[EpisodeResult, ...]

    def summary(self) -> dict[str, Any]:
        """Return the plain mapping that ``evaluate --json`` prints and flows store."""
        return {
            "schema_version": SCHEMA_VERSION,
            "overall": asdict(self.overall),
            "types": {name: asdict(row) for name, row in self.types.items()},
            "episodes": [asdict(episode) for episode in self.episodes],
        }


@dataclass(frozen=True)
class Comparison:
    """Policy b minus policy a on the same tasks.

    Attributes:
        tasks: number of tasks in both.
        only_a: solved by a alone.
        only_b: solved by b alone.
        success_difference: difference of success rates.
        success_interval: 95 % interval of it (Bonett and Price, paired).
        steps_difference: difference of mean steps over all episodes.
        steps_interval: 95 % percentile bootstrap interval of it.
    """

    tasks: int
    only_a: int
    only_b: int
    success_difference: float
    success_interval: tuple[float, float]
    steps_difference: float
    steps_interval: tuple[float, float]


def play_panel(
    tasks: Sequence[Task],
    agent: Agent,
    make_environment: Callable[[], Environment],
    config: EnvConfig,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[Trajectory]:
    """Play every task once, in order.

    Args:
        tasks: the panel; every id must be unique.
        agent: the policy.
        make_environment: makes one environment per concurrent episode.
        config: step limit and reward constants.
        seed: of the policy's sampling; the episode's seed derives from it and the task's id.
        progress: called after each round with (episodes finished, episodes in all).

    Raises:
        UserError: the panel is empty or names a task twice.
    """
    if not tasks:
        raise UserError("the panel has no task; choose another --split or a larger --tasks")
    if len({task.id for task in tasks}) < len(tasks):
        raise UserError("the panel names a task twice; every task is evaluated once")
    episodes = [
        Episode(f"evaluation/{task.id}", task, derive_seed(seed, "evaluation", task.id))
        for task in tasks
    ]
    played: list[Trajectory] = []
    for start in range(0, len(episodes), CONCURRENT):
        batch = episodes[start : start + CONCURRENT]
        before = len(played)

        def told(finished: int, _: int, before: int = before) -> None:
            if progress:
                progress(before + finished, len(episodes))

        played.extend(play(batch, agent, make_environment, config, told))
    return played


def measure(trajectories: Iterable[Trajectory]) -> Evaluation:
    """Count a played panel; redundancy is known for the successes that were verified."""
    episodes = tuple(_result(trajectory) for trajectory in trajectories)
    types = sorted({episode.task_type for episode in episodes})
    return Evaluation(
        overall=_row(episodes),
        types={name: _row([e for e in episodes if e.task_type == name]) for name in types},
        episodes=episodes,
    )


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a binomial share; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    share, z2 = successes / trials, Z95**2
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = (
        Z95
        / (1 + z2 / trials)
        * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    )
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return low, high


def compare(a: Sequence[EpisodeResult], b: Sequence[EpisodeResult], seed: int = 0) -> Comparison:
    """Compare two policies task by task.

    Raises:
        UserError: the two were not evaluated on the same tasks.
    """
    by_id = {episode.task_id: episode for episode in a}
    if not by_id or by_id.keys() != {episode.task_id for episode in b}:
        raise UserError("paired comparison needs two evaluations of the same tasks")
    pairs = [(by_id[episode.task_id], episode) for episode in b]
    only_a = sum(first.success and not second.success for first, second in pairs)
    only_b = sum(second.success and not first.success for first, second in pairs)
    differences = [float(second.steps - first.steps) for first, second in pairs]
    return Comparison(
        tasks=len(pairs),
        only_a=only_a,
        only_b=only_b,
        success_difference=(only_b - only_a) / len(pairs),
        success_interval=paired_interval(only_a, only_b, len(pairs)),
        steps_difference=sum(differences) / len(differences),
        steps_interval=bootstrap_mean(differences, seed),
    )


def paired_interval(only_a: int, only_b: int, tasks: int) -> tuple[float, float]:
    """95 % interval of p_b - p_a from discordant pairs (Bonett and Price, 2012).

    Each discordant share gets one observation added, over tasks + 2.
    """
    first, second = (only_a + 1) / (tasks + 2), (only_b + 1) / (tasks + 2)
    centre = second - first
    half = Z95 * math.sqrt((first + second - centre**2) / (tasks + 2))
    return max(-1.0, centre - half), min(1.0, centre + half)


def bootstrap_mean(
    values: Sequence[float], seed: int, resamples: int = BOOTSTRAP_RESAMPLES
) -> tuple[float, float]:
    """95 % percentile bootstrap interval of the mean of `values`, drawn from `seed`."""
    import numpy as np

    generator = np.random.default_rng(seed)
    array = np.asarray(values, dtype=float)
    means = [generator.choice(array, size=array.size).mean() for _ in range(resamples)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _result(trajectory: Trajectory) -> EpisodeResult:
    return EpisodeResult(
        task_id=trajectory.task_id,
        task_type=trajectory.task_type,
        success=trajectory.success,
        score=trajectory.score,
        steps=len(trajectory),
        invalid=trajectory.invalid_steps,
        redundancy=trajectory.rho if trajectory.verified else None,
    )


def _row(episodes: Sequence[EpisodeResult]) -> Row:
    solved = [episode for episode in episodes if episode.success]
    actions = sum(episode.steps for episode in episodes)
    return Row(
        tasks=len(episodes),
        successes=len(solved),
        success=_mean([float(episode.success) for episode in episodes]),
        success_interval=wilson(len(solved), len(episodes)),
        score=_mean([episode.score for episode in episodes]),
        steps=_mean([float(episode.steps) for episode in episodes]),
        steps_successful=_mean([float(episode.steps) for episode in solved]),
        redundancy=_mean([e.redundancy for e in solved if e.redundancy is not None]),
        invalid_share=sum(e.invalid for e in episodes) / actions if actions else None,
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
