"""``summary.json``: what a finished run came to, in one page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from trajevolve.evaluation import EpisodeResult, compare
from trajevolve.experiment import Experiment
from trajevolve.files import write_json
from trajevolve.ledger import Commit
from trajevolve.manifest import load_manifest
from trajevolve.schedule import Stage
from trajevolve.selection import best_updates
from trajevolve.trajectory import Strategy

SCHEMA_VERSION = 1
# What the two ends of a run are compared on, from the overall row of their evaluations.
MEASURES = ("success", "success_interval", "score", "steps", "steps_successful", "redundancy")


def write_summary(run_dir: Path, summary: Mapping[str, Any]) -> Path:
    """Write ``summary.json`` of a run and return its path."""
    path = run_dir / "summary.json"
    write_json(path, summary)
    return path


def summarise(experiment: Experiment) -> dict[str, Any]:
    """Compare the two ends of a run whose stages are all committed; add up what lies between."""
    config, ledger = experiment.config, experiment.ledger
    last = config.iterations
    first_stage: Stage = "evaluation_before" if last > 0 else "evaluation_after"
    after = _evaluation(experiment, experiment.commit(last, "evaluation_after"))
    before = _evaluation(experiment, experiment.commit(0, first_stage))
    comparison = compare(_episodes(before), _episodes(after), seed=0)
    manifest = load_manifest(experiment.run_dir)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": experiment.run_dir.name,
        "method": config.method,
        "seed": config.seed,
        "iterations": last,
        "panel": config.evaluation.panel,
        "before": _measures(before),
        "after": _measures(after),
        "gain": comparison.success_difference,
        "interval": list(comparison.success_interval),
        "steps_per_success": {
            "before": before["overall"]["steps_successful"],
            "after": after["overall"]["steps_successful"],
        },
        "difference": asdict(comparison),
        "updates_of_result": best_updates(ledger, last),
        "evolution": evolution_totals(ledger.commits("evolution")),
        "seconds": seconds_by_stage(ledger.commits()),
        "config_digest": manifest.config_digest,
        "data": dict(manifest.data),
        "mlflow_run": manifest.mlflow_run,
        "paths": _paths(experiment),
    }


def evolution_totals(commits: Iterable[Commit]) -> dict[str, dict[str, int]]:
    """Add up, per strategy, the evolved trajectories attempted, successful and used."""
    totals: Counter[str] = Counter()
    for commit in commits:
        totals.update({name: int(value) for name, value in commit.metrics.items()})
    return {
        strategy: {
            outcome: totals[f"evolution/{strategy}/{outcome}"]
            for outcome in ("attempted", "succeeded", "used")
        }
        for strategy in get_args(Strategy)
    }


def seconds_by_stage(commits: Iterable[Commit]) -> dict[str, float]:
    """Add up the wall time of each stage."""
    seconds: dict[str, float] = {}
    for commit in commits:
        seconds[commit.stage] = round(seconds.get(commit.stage, 0.0) + commit.seconds, 3)
    return seconds


def _evaluation(experiment: Experiment, commit: Commit) -> dict[str, Any]:
    path = experiment.ledger.sound(commit, "evaluation")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _episodes(evaluation: Mapping[str, Any]) -> list[EpisodeResult]:
    return [EpisodeResult(**episode) for episode in evaluation["episodes"]]


def _measures(evaluation: Mapping[str, Any]) -> dict[str, Any]:
    row = evaluation["overall"]
    return {
        "tasks": row["tasks"],
        **{name: row[name] for name in MEASURES},
        "success_by_type": {name: of["success"] for name, of in evaluation["types"].items()},
    }


def _paths(experiment: Experiment) -> dict[str, str]:
    """Where things lie, relative to the run's folder."""
    paths = {"manifest": "manifest.json", "shards": "shards"}
    updates = best_updates(experiment.ledger, experiment.config.iterations)
    if updates > 0:
        paths["model"] = experiment.commit(updates - 1, "update").outputs["checkpoint"].path
    return paths
