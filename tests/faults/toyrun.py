"""A toy run without Prefect, begun, gone on with, and compared."""

from __future__ import annotations

from pathlib import Path

from trajevolve.config import RunConfig
from trajevolve.experiment import Experiment
from trajevolve.ledger import Ledger
from trajevolve.record import record_iteration
from trajevolve.schedule import Stage, all_stages
from trajevolve.stages import STAGES
from trajevolve.summary import summarise, write_summary


def go_on(run_dir: Path, config: RunConfig, before: tuple[int, Stage] | None = None) -> None:
    """Do what the training flow does from where the run stands: to its end, or up to `before`."""
    experiment = Experiment(run_dir, config, run_dir.parents[1])
    try:
        point = experiment.next_point()
        first = config.iterations if point is None else point.iteration
        for iteration, stage in all_stages(config):
            if (iteration, stage) == before:
                return
            if iteration >= first:
                STAGES[stage](experiment, iteration)
        for iteration in range(config.iterations + 1):
            record_iteration(experiment, iteration)
        write_summary(experiment.run_dir, summarise(experiment))
    finally:
        experiment.close()


def contents(run_dir: Path) -> dict[tuple[int, str], str]:
    """Content hash of every stage that is done."""
    return {(c.iteration, c.stage): c.content for c in Ledger(run_dir, "").commits()}


def partial_files(run_dir: Path) -> list[Path]:
    """List what a writer that broke off could have left."""
    marks = (".partial", ".unfinished", ".replaced")
    return [path for path in run_dir.rglob("*") if path.name.endswith(marks)]
