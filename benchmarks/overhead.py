"""What Prefect, MLflow, DVC and the ledger add to an iteration of a finished run.

Usage: ``python benchmarks/overhead.py runs/NAME``. From the ledger alone: the wall time from one
iteration's last commit to the next one's, minus the wall time of the bodies of its stages. The
rest is hashing, commits, task runs, artifacts, metrics, traces and versions.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from pathlib import Path

from trajevolve.ledger import Commit, Ledger


def overheads(run_dir: Path) -> dict[int, float]:
    """Return iteration -> seconds outside the bodies of its stages, from the second one on."""
    by_iteration: dict[int, list[Commit]] = defaultdict(list)
    for commit in Ledger(run_dir, "").commits():
        by_iteration[commit.iteration].append(commit)
    ends = {k: max(commit.time for commit in done) for k, done in by_iteration.items()}
    return {
        k: ends[k] - ends[k - 1] - sum(commit.seconds for commit in by_iteration[k])
        for k in sorted(by_iteration)
        if k - 1 in ends
    }


def main(run_dir: Path) -> None:
    """Print one line an iteration, and the median."""
    found = overheads(run_dir)
    for iteration, seconds in found.items():
        print(f"iteration {iteration:4d}  {seconds:6.2f} s")
    print(f"median          {statistics.median(found.values()):6.2f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
