"""Training runs in processes of their own that are killed outright at chosen moments.

The killer watches the run's folder. It strikes inside a stage, once an output is there and its
commit is not, while a checkpoint is being written, while a finished iteration is being recorded,
or at any moment of the start.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trajevolve.config import RunConfig
from trajevolve.ledger import Ledger
from trajevolve.manifest import RunLock
from trajevolve.schedule import all_stages, stages

TESTS = Path(__file__).parents[1]
PATIENCE_S = 900.0
POLL_S = 0.001
TRAINS = ("discriminator", "update")

Phase = Literal["start", "inside", "output", "checkpoint", "record"]


@dataclass(frozen=True)
class Kill:
    """One planned SIGKILL.

    Attributes:
        phase: what the run is in the middle of.
        iteration: k; 0 for a start.
        stage: of the iteration, its last one for a record; "" for a start.
        delay: seconds between the sign that the phase has begun and the signal.
    """

    phase: Phase
    iteration: int = 0
    stage: str = ""
    delay: float = 0.0


def plan(config: RunConfig, lengths: Mapping[tuple[int, str], float], seed: int) -> list[Kill]:
    """Plan one kill in every stage, in order, and one in every record and in one start.

    Args:
        config: of the run.
        lengths: (iteration, stage) -> seconds the stage takes when nobody kills it.
        seed: of phases and delays.
    """
    rng = np.random.default_rng(seed)
    kills = [Kill("start", delay=float(rng.uniform(0.5, 10.0)))]
    for iteration, stage in all_stages(config):
        phases: list[Phase] = ["inside", "output", *(("checkpoint",) if stage in TRAINS else ())]
        phase = phases[int(rng.integers(len(phases)))]
        length = lengths[iteration, stage] if phase == "inside" else 0.0
        kills.append(Kill(phase, iteration, stage, float(rng.uniform(0.0, length))))
        if stage == stages(config, iteration)[-1]:
            kills.append(Kill("record", iteration, stage, float(rng.uniform(0.0, 0.3))))
    return kills


def start(project: Path, run: str, log: Path | None = None) -> subprocess.Popen[str]:
    """Start (or go on with) a run of ``config.json`` in `project`."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    output: Any = subprocess.PIPE if log is None else log.open("w")
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "toys.training", "config.json", run],
            cwd=project,
            env={**environment, "PYTHONPATH": str(TESTS), "PREFECT_HOME": home_of(project)},
            stdout=output,
            stderr=None if log is None else subprocess.STDOUT,
            text=True,
        )
    finally:
        if log is not None:
            output.close()


def finish(project: Path, run: str) -> dict[str, Any]:
    """Let the run come to its end and return its summary."""
    process = start(project, run)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output
    return dict(json.loads(output.splitlines()[-1]))


def kill(project: Path, run: str, planned: Kill) -> str:
    """Start the run, kill it as planned, and return what was left of what it was doing.

    The answer is "started" or, for a stage, "open" (not committed) or "committed" when it was
    quicker than the killer; for a record, "open" or "recorded".

    Raises:
        AssertionError: the run ended by itself, a process of it lives on, or its lock is held.
    """
    process = start(project, run, project / "killed.log")
    run_dir = project / "runs" / run
    began = _sign(run_dir, planned)
    deadline = time.monotonic() + PATIENCE_S
    while not began():
        assert process.poll() is None, f"{planned}: {(project / 'killed.log').read_text()}"
        assert time.monotonic() < deadline, planned
        time.sleep(POLL_S)
    time.sleep(planned.delay)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, f"{planned}: it ended by itself"
    _assert_gone(project)
    if run_dir.is_dir():
        with RunLock(run_dir):
            pass
    return _left(run_dir, planned)


def contents(run_dir: Path) -> dict[str, str]:
    """Content hash of every commit, by ``iter_k/stage``."""
    return {
        str(file.parent.relative_to(run_dir)): json.loads(file.read_text())["content"]
        for file in run_dir.glob("iter_*/*/commit.json")
    }


def lengths(run_dir: Path, config: RunConfig) -> dict[tuple[int, str], float]:
    """Seconds of every stage of a finished run."""
    ledger = Ledger(run_dir, config.digest())
    return {(commit.iteration, commit.stage): commit.seconds for commit in ledger.commits()}


def tracked(project: Path, mlflow_run: str) -> dict[str, Any]:
    """All that MLflow has of a run and that does not depend on time: points, inputs, status."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{project}/mlflow.db")
    found = client.get_run(mlflow_run)
    points = {
        name: [(point.step, point.value) for point in client.get_metric_history(mlflow_run, name)]
        for name in found.data.metrics
        if "seconds" not in name
    }
    inputs = sorted((i.dataset.name, i.dataset.digest) for i in found.inputs.dataset_inputs)
    return {"points": points, "inputs": inputs, "status": found.info.status}


def mlflow_runs(project: Path) -> list[str]:
    """Names of all runs that MLflow has."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{project}/mlflow.db")
    every = [experiment.experiment_id for experiment in client.search_experiments()]
    return sorted(str(run.info.run_name) for run in client.search_runs(every))


def flow_states(project: Path, ids: Sequence[str]) -> list[str]:
    """Prefect's states of flow runs, read from its database."""
    with closing(sqlite3.connect(f"{home_of(project)}/prefect.db")) as database:
        rows = database.execute("select id, state_name from flow_run").fetchall()
    states = {str(number).replace("-", ""): str(state) for number, state in rows}
    return [states[number.replace("-", "")] for number in ids]


def home_of(project: Path) -> str:
    """Where Prefect keeps its things for a project."""
    return str(project / ".prefect")


def described(planned: Kill, left: str) -> dict[str, Any]:
    """One line of a record."""
    return {**asdict(planned), "delay": round(planned.delay, 3), "left": left}


def _sign(run_dir: Path, planned: Kill) -> Callable[[], bool]:
    """Return what tells that the planned phase has begun."""
    if planned.phase == "start":
        return lambda: True
    folder = run_dir / f"iter_{planned.iteration:04d}" / planned.stage
    if planned.phase == "record":
        return (folder / "commit.json").is_file
    if planned.phase == "inside":
        return folder.is_dir
    if planned.phase == "checkpoint":
        # The first is there for milliseconds; a killer that was not awake then strikes after it.
        names = (".checkpoint.unfinished", "checkpoint")
        return lambda: any((folder / name).is_dir() for name in names)
    if planned.stage in TRAINS:
        return (folder / "checkpoint").is_dir
    return (run_dir / "shards" / f"iter_{planned.iteration:04d}_{planned.stage}.parquet").is_file


def _left(run_dir: Path, planned: Kill) -> str:
    if planned.phase == "start":
        return "started"
    iteration = run_dir / f"iter_{planned.iteration:04d}"
    if planned.phase == "record":
        return "recorded" if (iteration / "recorded.json").is_file() else "open"
    return "committed" if (iteration / planned.stage / "commit.json").is_file() else "open"


def _assert_gone(project: Path) -> None:
    """Wait until no process has this project's PREFECT_HOME; the run's server dies with it."""
    deadline = time.monotonic() + 10
    while left := processes_of(project):
        assert time.monotonic() < deadline, f"these outlived the run: {left}"
        time.sleep(0.05)


def processes_of(project: Path) -> list[int]:
    """List the processes that were given this project's PREFECT_HOME."""
    return processes_with(f"PREFECT_HOME={home_of(project)}")


def processes_with(setting: str) -> list[int]:
    """List the processes that have ``NAME=value`` in their environment."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            content = environ.read_bytes()
        except OSError:
            continue
        if setting.encode() in content.split(b"\0"):
            found.append(int(environ.parent.name))
    return found
