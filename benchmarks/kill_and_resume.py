"""SIGKILL in every stage of a run, and the proof that each resume was exact.

One run of the built-in policy is left alone. Another one is killed once in each stage of each
iteration (inside it, between its output and its commit, or while it writes its checkpoint),
while iterations are recorded, and in its start; after each kill it is started again. In the end
all content hashes, MLflow's points and inputs and DVC's hash of the shards have to be equal.

    python benchmarks/kill_and_resume.py [--iterations 3] [--seed 0] [--record FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from trajevolve.config import RunConfig, parse_config
from trajevolve.manifest import load_manifest

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from toys import killing


def configuration(iterations: int) -> RunConfig:
    """Make a small run of the built-in policy that has every stage, tracked and versioned."""
    return parse_config(
        {
            "iterations": iterations,
            "threads": 1,
            "env": {"step_limit": 12},
            "agent": {"max_response_tokens": 8},
            "rollout": {"groups": 4, "group_size": 4},
            "discriminator": {"lr": 3e-4},
            "evolution": {"every": 2, "per_group": 4},
            "learner": {"lr": 3e-4, "mini_batch_steps": 64},
            "evaluation": {"every": 1, "panel_size": 8, "selection_size": 8},
            "tracking": {"traces_per_iteration": 1},
            "versioning": {"every": 1},
        }
    )


def prove(project: Path, config: RunConfig, seed: int) -> dict[str, Any]:
    """Kill and resume one run; return the record.

    Raises:
        AssertionError: something differs from the run that was left alone.
    """
    (project / "config.json").write_text(config.model_dump_json())
    killing.finish(project, "whole")
    whole = project / "runs" / "whole"
    rows = []
    for planned in killing.plan(config, killing.lengths(whole, config), seed):
        left = killing.kill(project, "killed", planned)
        rows.append(killing.described(planned, left))
        print(json.dumps(rows[-1]), flush=True)
        there = killing.contents(project / "runs" / "killed")
        assert there.items() <= killing.contents(whole).items(), planned
    killing.finish(project, "killed")
    return {"kills": rows, **compare(project)}


def compare(project: Path) -> dict[str, Any]:
    """Compare the killed run with the other one, in the ledger, MLflow, DVC and Prefect."""
    killed, whole = (project / "runs" / name for name in ("killed", "whole"))
    assert killing.contents(killed) == killing.contents(whole)
    manifest, other = load_manifest(killed), load_manifest(whole)
    assert manifest.data == other.data
    told = killing.tracked(project, manifest.mlflow_run)
    assert told == killing.tracked(project, other.mlflow_run)
    assert killing.mlflow_runs(project) == ["killed", "whole"]
    states = Counter(killing.flow_states(project, manifest.flow_runs))
    return {
        "equal_commits": len(killing.contents(whole)),
        "equal_mlflow_points": sum(map(len, told["points"].values())),
        "equal_mlflow_inputs": len(told["inputs"]),
        "prefect_states": dict(states),
        "packages": dict(manifest.packages),
    }


def main() -> None:
    """Print every kill, and write the record where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        record = prove(Path(folder), configuration(arguments.iterations), arguments.seed)
    outcomes = Counter((row["phase"], row["left"]) for row in record["kills"])
    for (phase, left), count in sorted(outcomes.items()):
        print(f"{count:3d} {phase}, left {left}")
    print(f"{len(record['kills'])} kills, {record['equal_commits']} commits equal")
    if arguments.record:
        arguments.record.write_text(json.dumps({"seed": arguments.seed, **record}, indent=1) + "\n")


if __name__ == "__main__":
    main()
