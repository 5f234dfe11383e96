"""The flow in a process of its own: killed outright, it leaves nothing behind and resumes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from toys.training import make_model, toy_config

from trajevolve.manifest import RunLock, load_manifest

TESTS = Path(__file__).parents[1]
PATIENCE_S = 900.0


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    make_model(folder / "model")
    changes: dict[str, Any] = {
        "iterations": 3,
        "tracking": {"enabled": True, "traces_per_iteration": 1},
        "versioning": {"enabled": True, "every": 2},
    }
    config = toy_config(folder / "model", **changes)
    (folder / "config.json").write_text(config.model_dump_json())
    return folder


def start(project: Path, run: str) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    return subprocess.Popen(
        [sys.executable, "-m", "toys.training", "config.json", run],
        cwd=project,
        env={**environment, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        text=True,
    )


def finish(project: Path, run: str) -> dict[str, Any]:
    process = start(project, run)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    return dict(json.loads(output.splitlines()[-1]))


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists():
        assert process.poll() is None, "the run ended by itself"
        assert time.monotonic() < deadline
        time.sleep(0.02)


def children(parent: int) -> Iterator[int]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            yield int(stat.parent.name)


def contents(run_dir: Path) -> dict[str, str]:
    return {
        str(file.parent.relative_to(run_dir)): json.loads(file.read_text())["content"]
        for file in run_dir.glob("iter_*/*/commit.json")
    }


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_killed_run_leaves_no_process_and_ends_like_one_that_was_not(project: Path) -> None:
    from mlflow import MlflowClient

    runs = project / "runs"
    process = start(project, "killed")
    wait_for(runs / "killed" / "iter_0001" / "rollout" / "commit.json", process)
    servers = list(children(process.pid))
    assert servers, "the run started a Prefect server"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{server}").exists() for server in servers):
        assert time.monotonic() < deadline, "the Prefect server outlived its run"
        time.sleep(0.1)
    with RunLock(runs / "killed"):
        pass

    summary = finish(project, "killed")
    whole = finish(project, "whole")
    assert contents(runs / "killed") == contents(runs / "whole")
    assert summary["after"] == whole["after"]
    assert summary["difference"] == whole["difference"]

    manifest = load_manifest(runs / "killed")
    assert len(manifest.flow_runs) == 2
    client = MlflowClient(f"sqlite:///{project}/mlflow.db")
    history = client.get_metric_history(manifest.mlflow_run, "rollout/success")
    assert [point.step for point in history] == [0, 1, 2]
    assert client.get_run(manifest.mlflow_run).info.status == "FINISHED"
    assert (runs / "killed" / "shards.dvc").is_file()
