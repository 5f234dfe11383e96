"""After an iteration: tell MLflow, version the shards, drop checkpoints nobody needs.

All of it can be done again: the ledger has the numbers, and what was told already is told once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from trajevolve.experiment import Experiment
from trajevolve.files import write_json
from trajevolve.ledger import Commit
from trajevolve.retention import old_checkpoints
from trajevolve.schedule import stages
from trajevolve.tracker import Dataset


def record_iteration(experiment: Experiment, iteration: int) -> None:
    """Log a finished iteration, add its shards when due, and prune."""
    commits = [experiment.commit(iteration, s) for s in stages(experiment.config, iteration)]
    marker = experiment.ledger.iteration_dir(iteration) / "recorded.json"
    done = [commit.stage for commit in commits]
    if _recorded(marker) != done:
        _track(experiment, iteration, commits)
        version = None
        last = iteration >= experiment.config.iterations
        if last or experiment.versioner.due(iteration):
            experiment.ledger.check_all("trajectories")
            version = experiment.versioner.add(experiment.run_dir / "shards")
        if version is not None:
            experiment.tracker.tag({"dvc": version})
            experiment.note_version(version)
        run = experiment.tracker.run_id
        write_json(marker, {"mlflow_run": run, "dvc": version, "stages": done})
    prune_checkpoints(experiment)


def prune_checkpoints(experiment: Experiment) -> None:
    """Keep the last checkpoints and the best of the policy; the newest is always among them."""
    keep, ledger = experiment.config.checkpoints, experiment.ledger
    for commit in old_checkpoints(ledger, keep.keep_last, keep.keep_best):
        ledger.prune(commit, "checkpoint")


def metrics_of(commit: Commit) -> dict[str, float]:
    """Name the commit's metrics ``stage/name`` and add the stage's wall time."""
    prefix = f"{commit.stage}/"
    named = {
        name if name.startswith(prefix) else prefix + name: value
        for name, value in commit.metrics.items()
    }
    return {**named, f"seconds/{commit.stage}": commit.seconds}


def _recorded(marker: Path) -> list[str] | None:
    """Return the stages told already: a run that is extended adds some to its last iteration.

    None where that is not known; telling again does no harm.
    """
    try:
        return list(json.loads(marker.read_text(encoding="utf-8"))["stages"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _track(experiment: Experiment, iteration: int, commits: list[Commit]) -> None:
    tracker = experiment.tracker
    metrics: dict[str, float] = {}
    for commit in commits:
        metrics |= metrics_of(commit)
    tracker.log_metrics(iteration, metrics, commits[-1].time)
    tracker.log_datasets(iteration, _datasets(experiment, commits))
    sample = experiment.config.tracking.traces_per_iteration
    if sample and "advantages" in stages(experiment.config, iteration):
        tracker.log_trajectories(iteration, experiment.read(iteration, "advantages")[:sample])
    for commit in commits:
        if commit.stage == "update":
            output = commit.outputs["checkpoint"]
            path = str(experiment.ledger.path(output))
            tracker.tag({"checkpoint": path, "checkpoint.md5": output.md5})


def _datasets(experiment: Experiment, commits: list[Commit]) -> Iterator[Dataset]:
    for commit in commits:
        output = commit.outputs.get("trajectories")
        if output is not None:
            path = experiment.ledger.path(output)
            yield Dataset(commit.stage, output.md5, output.rows, path)
