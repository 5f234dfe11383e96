"""Every stage as a Prefect task.

Each is a few lines over :mod:`trajevolve.stages`. Tasks return references and never trajectories;
the ledger decides whether anything is left to do, so Prefect's cache is off. Stages that train
are not retried: weights may have moved. The others start from an empty folder and may be.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from prefect import Task, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun

from trajevolve import stages
from trajevolve.errors import UserError
from trajevolve.experiment import Experiment, open_experiment
from trajevolve.ledger import Commit
from trajevolve.progress import working

log = logging.getLogger(__name__)


class Reference(TypedDict):
    """What a task hands on: the stage's main output, its rows and its numbers."""

    path: str
    md5: str
    rows: int
    metrics: dict[str, float]


Stage = Callable[[Experiment, int], Commit]
ENDS = {
    "evaluation_before": "evaluation before training",
    "evaluation_after": "evaluation after training",
}


def _as_task(stage: Stage, retries: int) -> Task[[str, int], Reference]:
    """Make a Prefect task of `stage`, called with the run's folder and the iteration."""
    name = stage.__name__

    def run(run_dir: str, iteration: int) -> Reference:
        experiment = open_experiment(Path(run_dir))
        with working(_place(experiment, iteration, name)):
            return _reference(stage(experiment, iteration))

    run.__doc__ = stage.__doc__
    return task(
        name=name,
        task_run_name=f"{name} {{iteration:04d}}",
        cache_policy=NO_CACHE,
        persist_result=False,
        retries=retries,
        retry_delay_seconds=1,
        retry_condition_fn=_worth_retrying if retries else None,
    )(run)


def _place(experiment: Experiment, iteration: int, stage: str) -> str:
    """Say for people which stage of which iteration it is."""
    iterations = experiment.config.iterations
    return ENDS.get(stage, f"iteration {iteration + 1}/{iterations}, {stage}")


def _worth_retrying(task: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """A mistake of the user stays one; of anything else the first try is told about."""
    error = state.result(raise_on_failure=False)
    if isinstance(error, UserError):
        return False
    log.warning("%s: %s: %s; trying once more", run.name, type(error).__name__, error)
    return True


def _reference(commit: Commit) -> Reference:
    main = commit.outputs.get("trajectories") or commit.outputs["checkpoint"]
    return Reference(path=main.path, md5=main.md5, rows=main.rows, metrics=dict(commit.metrics))


rollout = _as_task(stages.rollout, retries=1)
verification = _as_task(stages.verification, retries=1)
labelling = _as_task(stages.labelling, retries=1)
fine_tune_discriminator = _as_task(stages.discriminator, retries=0)
evolution = _as_task(stages.evolution, retries=1)
advantages = _as_task(stages.advantages, retries=1)
update_policy = _as_task(stages.update, retries=0)
evaluation = _as_task(stages.evaluation, retries=1)
evaluation_before = _as_task(stages.evaluation_before, retries=1)
evaluation_after = _as_task(stages.evaluation_after, retries=1)
