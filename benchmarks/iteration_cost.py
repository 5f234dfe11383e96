"""Cost of a TrajEvolve iteration over a GRPO iteration, at equal policy-generated steps.

Both methods start from the same policy and play the same tasks, taking turns iteration by
iteration over whole periods of F, so that evolution counts as often as it happens. The first
iteration, in which models are loaded and imports happen, does not count. Prefect, MLflow and DVC
are left out; their share is measured by overhead.py.

    python benchmarks/iteration_cost.py [--periods 2] [--config params.yaml]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from trajevolve import stages
from trajevolve.config import RunConfig, load_config
from trajevolve.experiment import Experiment
from trajevolve.schedule import stages as stages_of


def run_iteration(experiment: Experiment, iteration: int) -> Counter[str]:
    """Run all stages of an iteration; return seconds by stage and the steps generated."""
    spent: Counter[str] = Counter()
    cpu = time.process_time()
    for stage in stages_of(experiment.config, iteration):
        if stage.startswith("evaluation"):
            continue
        commit = stages.STAGES[stage](experiment, iteration)
        spent[stage] += commit.seconds
        if stage == "rollout":
            spent["steps"] += sum(map(len, experiment.read(iteration, "rollout")))
    spent["cpu"] = time.process_time() - cpu
    return spent


def configuration(path: Path, method: str, iterations: int) -> RunConfig:
    """Read the configuration, with a method and without anything that reports elsewhere."""
    return load_config(
        path,
        [
            f"method={method}",
            f"iterations={iterations + 1}",
            "evaluation.every=0",
            "tracking.enabled=false",
            "versioning.enabled=false",
        ],
    )


def main() -> None:
    """Print seconds by stage and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--config", type=Path, default=Path("params.yaml"))
    parser.add_argument("--periods", type=int, default=2)
    arguments = parser.parse_args()
    spent: dict[str, Counter[str]] = {"grpo": Counter(), "trajevolve": Counter()}
    with tempfile.TemporaryDirectory() as folder:
        runs = {}
        for method in spent:
            config = configuration(arguments.config, method, 100)
            runs[method] = Experiment(Path(folder) / method, config)
        every = runs["trajevolve"].config.evolution.every
        for iteration in range(arguments.periods * every + 1):
            for method, experiment in runs.items():
                cost = run_iteration(experiment, iteration)
                if iteration > 0:
                    spent[method] += cost
        for experiment in runs.values():
            experiment.close()
    for method, seconds in spent.items():
        stages_only = {n: v for n, v in seconds.items() if n not in ("steps", "cpu")}
        shown = ", ".join(f"{stage} {value:.1f}" for stage, value in stages_only.items())
        print(f"{method}: {sum(stages_only.values()):.1f} s, {seconds['cpu']:.1f} CPU s,")
        print(f"  {seconds['steps']} generated steps: {shown}")
        seconds["wall"] = sum(stages_only.values())
    print(f"TrajEvolve / GRPO at equal generated steps, over {arguments.periods} x F = {every}:")
    for clock in ("wall", "cpu"):
        per_step = {method: seconds[clock] / seconds["steps"] for method, seconds in spent.items()}
        print(f"  {clock}: {per_step['trajevolve'] / per_step['grpo']:.2f}")


if __name__ == "__main__":
    main()
