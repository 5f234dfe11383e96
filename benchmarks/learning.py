"""Does it learn? Variants of a configuration against each other: variant x seed, on the same tasks.

All variants start from the built-in policy and sample the same number of episodes of the same tasks
in each iteration; what evolution plays again comes on top and is counted. Every run is measured on
the reported panel before and after, and at more temperatures where the study names some. Prefect,
MLflow and DVC are left out. A study that was stopped goes on.

    python benchmarks/learning.py alfworld|webshop --folder DIR [--seeds 0 1 2] [--jobs N]
                                  [--variants NAME …] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trajevolve.config import RunConfig, load_config
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.evaluation import Comparison, EpisodeResult, compare, measure, play_panel
from trajevolve.experiment import Experiment
from trajevolve.files import write_json
from trajevolve.schedule import all_stages
from trajevolve.selection import best_updates
from trajevolve.stages import STAGES
from trajevolve.summary import summarise

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "docs" / "records"
QUIET = ("threads=1", "tracking.enabled=false", "versioning.enabled=false")
GRPO = ("method=grpo",)


@dataclass(frozen=True)
class Study:
    """What is compared.

    Attributes:
        params: configuration of all cells.
        record: where the result goes.
        variants: name -> settings over the configuration; the first is compared with the others.
        temperatures: at which both ends are measured beside ``evaluation.temperature``.
    """

    params: str
    record: str
    variants: Mapping[str, Sequence[str]] = field(
        default_factory=lambda: {"trajevolve": (), "grpo": GRPO}
    )
    temperatures: Sequence[float] = ()


STUDIES = {
    "webshop": Study("params.webshop.yaml", "webshop_learning.json"),
    "alfworld": Study(
        "params.yaml",
        "alfworld_learning.json",
        {
            "trajevolve": (),
            "grpo": GRPO,
            "centred": ("credit.invalid_advantage=null",),
            "signed": ("credit.step_advantage=signed", "credit.invalid_advantage=null"),
        },
        temperatures=(0.4,),
    ),
}

Ends = tuple[Sequence[EpisodeResult], Sequence[EpisodeResult]]


@dataclass(frozen=True)
class Cell:
    """One run of a study: its folder, its configuration, and where else it is measured."""

    folder: Path
    config: RunConfig
    temperatures: Sequence[float]


def run(cell: Cell) -> tuple[dict[str, Any], dict[str, Ends]]:
    """Train one cell, or go on with it.

    Returns:
        Its summary, and the episodes of both ends by temperature.
    """
    config, name = cell.config, cell.folder.name
    experiment = Experiment(cell.folder, config)
    try:
        for iteration, stage in all_stages(config):
            if not experiment.ledger.is_committed(iteration, stage):
                commit = STAGES[stage](experiment, iteration)
                if stage in ("rollout", "evaluation_before", "evaluation_after"):
                    success = commit.metrics["success"]
                    print(f"{name}: {iteration} {stage}: success {success:.3f}", flush=True)
        wall = sum(commit.seconds for commit in experiment.ledger.commits())
        summary = summarise(experiment) | {"stages_s": round(wall)}
        before = _episodes(experiment, 0, "evaluation_before")
        after = _episodes(experiment, config.iterations, "evaluation_after")
        ends: dict[str, Ends] = {str(config.evaluation.temperature): (before, after)}
        updates = best_updates(experiment.ledger, config.iterations)
        for temperature in cell.temperatures:
            measured = [_measured(experiment, k, temperature) for k in (0, updates)]
            ends[str(temperature)] = (measured[0][1], measured[1][1])
            summary[f"at_{temperature}"] = {"before": measured[0][0], "after": measured[1][0]}
    finally:
        experiment.close()
    return summary, ends


def _episodes(experiment: Experiment, iteration: int, stage: Any) -> list[EpisodeResult]:
    path = experiment.ledger.sound(experiment.commit(iteration, stage), "evaluation")
    return [EpisodeResult(**row) for row in json.loads(path.read_text())["episodes"]]


def _measured(
    experiment: Experiment, updates: int, temperature: float
) -> tuple[dict[str, Any], list[EpisodeResult]]:
    """Measure the policy after `updates` on the panel, or read what was measured."""
    path = experiment.run_dir / f"evaluation_{updates}_at_{temperature}.json"
    if not path.exists():
        config, tasks = experiment.config, experiment.panel()
        agent = experiment.policy(updates).agent(temperature)
        played = play_panel(tasks, agent, experiment.make_environment, config.env, config.seed)
        by_id = {task.id: task for task in tasks}
        verified, _ = verify_trajectories(experiment.environment, by_id, played, config.credit)
        write_json(path, measure(verified).summary())
    content = json.loads(path.read_text())
    return content["overall"], [EpisodeResult(**row) for row in content["episodes"]]


def pooled(pairs: Iterable[tuple[Sequence[EpisodeResult], Sequence[EpisodeResult]]]) -> Comparison:
    """Compare b with a over all seeds: each task counts once a seed."""
    left: list[EpisodeResult] = []
    right: list[EpisodeResult] = []
    for number, (a, b) in enumerate(pairs):
        for episodes, all_of_them in ((a, left), (b, right)):
            all_of_them += [replace(e, task_id=f"{number}/{e.task_id}") for e in episodes]
    return compare(left, right, seed=0)


def compared(ends: Mapping[str, Sequence[Mapping[str, Ends]]], temperature: str) -> dict[str, Any]:
    """Compare both ends of each variant, and the first variant's result with the others'."""
    first, *others = ends
    content: dict[str, Any] = {
        "gain": {name: asdict(pooled(e[temperature] for e in ends[name])) for name in ends}
    }
    for other in others:
        pairs = zip(ends[other], ends[first], strict=True)
        results = ((a[temperature][1], b[temperature][1]) for a, b in pairs)
        content[f"{first}_minus_{other}"] = asdict(pooled(results))
    return content


def main() -> None:
    """Run the cells, print and record what they came to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--folder", type=Path, required=True, help="where the runs lie")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, a thread each")
    parser.add_argument("--variants", nargs="+", metavar="NAME", help="else all of the study")
    parser.add_argument("--output", type=Path, metavar="FILE", help="else the study's record")
    arguments = parser.parse_args()
    study = STUDIES[arguments.study]
    if arguments.variants:
        chosen = {name: study.variants[name] for name in arguments.variants}
        study = replace(study, variants=chosen)
    keys = [(name, seed) for seed in arguments.seeds for name in study.variants]
    cells = [
        Cell(
            arguments.folder / f"{name}-{seed}",
            load_config(ROOT / study.params, [*study.variants[name], f"seed={seed}", *QUIET]),
            study.temperatures,
        )
        for name, seed in keys
    ]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.jobs, mp_context=context) as pool:
        done = dict(zip(keys, pool.map(run, cells), strict=True))
    ends = {name: [done[name, seed][1] for seed in arguments.seeds] for name in study.variants}
    at = str(cells[0].config.evaluation.temperature)
    content = {
        "config": cells[0].config.model_dump(mode="json"),
        "variants": {name: list(settings) for name, settings in study.variants.items()},
        "cells": {n: [done[n, seed][0] for seed in arguments.seeds] for n in study.variants},
        **compared(ends, at),
        **{f"at_{other}": compared(ends, str(other)) for other in study.temperatures},
        "versions": {name: version(name) for name in ("trajevolve", "numpy", "torch")},
    }
    write_json(arguments.output or RECORDS / study.record, content)
    print(json.dumps({k: v for k, v in content.items() if k not in ("config", "cells")}, indent=2))


if __name__ == "__main__":
    main()
