"""TrajEvolve against GRPO in the generated shop: method x seed, before and after, same goals.

Both methods start from the built-in policy and sample the same number of episodes of the same goals
in each iteration; what evolution plays again comes on top and is counted. Every run is
measured on all held-out goals before and after. Prefect, MLflow and DVC are left out. A study that
was stopped goes on.

    python benchmarks/webshop_learning.py --folder DIR [--iterations N] [--seeds 0 1 2]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trajevolve.config import RunConfig, load_config
from trajevolve.evaluation import Comparison, EpisodeResult, compare
from trajevolve.experiment import Experiment
from trajevolve.files import write_json
from trajevolve.schedule import all_stages
from trajevolve.stages import STAGES
from trajevolve.summary import summarise

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "records" / "webshop_learning.json"
PARAMS = ROOT / "params.webshop.yaml"
METHODS = ("trajevolve", "grpo")

Ends = tuple[Sequence[EpisodeResult], Sequence[EpisodeResult]]


def configuration(method: str, seed: int, iterations: int | None) -> RunConfig:
    """Read params.webshop.yaml, with one thread and without anything that reports elsewhere."""
    length = [] if iterations is None else [f"iterations={iterations}"]
    return load_config(
        PARAMS,
        [
            *length,
            f"method={method}",
            f"seed={seed}",
            "threads=1",
            "tracking.enabled=false",
            "versioning.enabled=false",
        ],
    )


def run(folder: Path, config: RunConfig) -> tuple[dict[str, Any], Ends]:
    """Train one cell, or go on with it; return its summary and the episodes of both ends."""
    experiment = Experiment(folder, config)
    cpu = time.process_time()
    try:
        for iteration, stage in all_stages(config):
            if not experiment.ledger.is_committed(iteration, stage):
                commit = STAGES[stage](experiment, iteration)
                if stage in ("rollout", "evaluation_before", "evaluation_after"):
                    success = commit.metrics["success"]
                    print(f"{folder.name}: {iteration} {stage}: success {success:.3f}", flush=True)
        summary = summarise(experiment)
        before = _episodes(experiment, 0, "evaluation_before")
        after = _episodes(experiment, config.iterations, "evaluation_after")
    finally:
        experiment.close()
    return summary | {"cpu_s": round(time.process_time() - cpu)}, (before, after)


def _episodes(experiment: Experiment, iteration: int, stage: Any) -> list[EpisodeResult]:
    path = experiment.ledger.sound(experiment.commit(iteration, stage), "evaluation")
    return [EpisodeResult(**row) for row in json.loads(path.read_text())["episodes"]]


def pooled(pairs: Iterable[tuple[Sequence[EpisodeResult], Sequence[EpisodeResult]]]) -> Comparison:
    """Compare b with a over all seeds: each goal counts once a seed."""
    left: list[EpisodeResult] = []
    right: list[EpisodeResult] = []
    for number, (a, b) in enumerate(pairs):
        for episodes, all_of_them in ((a, left), (b, right)):
            all_of_them += [replace(e, task_id=f"{number}/{e.task_id}") for e in episodes]
    return compare(left, right, seed=0)


def main() -> None:
    """Run the cells one after the other, print and record what they came to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the runs lie")
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    cells: dict[str, list[dict[str, Any]]] = {method: [] for method in METHODS}
    ends: dict[str, list[Ends]] = {method: [] for method in METHODS}
    for seed in arguments.seeds:
        for method in METHODS:
            config = configuration(method, seed, arguments.iterations)
            summary, episodes = run(arguments.folder / f"{method}-{seed}", config)
            cells[method].append(summary)
            ends[method].append(episodes)
            print(json.dumps({k: summary[k] for k in ("before", "after", "gain", "interval")}))
    content = {
        "config": configuration("trajevolve", 0, arguments.iterations).model_dump(mode="json"),
        "cells": cells,
        "gain": {method: asdict(pooled(ends[method])) for method in METHODS},
        "trajevolve_minus_grpo": asdict(
            pooled((b[1], a[1]) for a, b in zip(*ends.values(), strict=True))
        ),
        "versions": {name: version(name) for name in ("trajevolve", "numpy", "torch")},
    }
    write_json(RECORD, content)
    print(json.dumps(content["gain"] | {"difference": content["trajevolve_minus_grpo"]}, indent=2))


if __name__ == "__main__":
    main()
