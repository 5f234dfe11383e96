"""`make serve` as a user has it: server, pool, deployment and worker, and nothing left of them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trajevolve.manifest import load_manifest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 900.0
TINY = {
    "iterations": 1,
    "threads": 1,
    "rollout.groups": 2,
    "rollout.group_size": 2,
    "env.step_limit": 6,
    "evaluation.panel_size": 4,
}
PREFECT = (sys.executable, "-m", "prefect")
TRAJEVOLVE = (sys.executable, "-m", "trajevolve")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "flows", folder / "flows")
    for name in ("prefect.yaml", "params.yaml"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def environment(project: Path, port: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    home, api = str(project / ".prefect"), f"http://127.0.0.1:{port}/api"
    return {**kept, "PREFECT_HOME": home, "PREFECT_API_URL": api}


@pytest.fixture(scope="module")
def serve(
    project: Path, port: int, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    log = project / "serve.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "trajevolve_flows.serve", "--port", str(port)],
            cwd=project,
            env=environment,
            stdout=stream,
            stderr=stream,
        )
    try:
        deadline = time.monotonic() + PATIENCE_S
        while "==> ready" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield process
    finally:
        process.terminate()
        process.wait(60)


def ask(
    project: Path, environment: dict[str, str], *command: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )


def belonging_to(project: Path) -> list[int]:
    """List the processes that were given this project's PREFECT_HOME."""
    mark = f"PREFECT_HOME={project / '.prefect'}".encode()
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            content = environ.read_bytes()
        except OSError:
            continue
        if mark in content.split(b"\0"):
            found.append(int(environ.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_two_runs_at_once_through_the_worker(
    project: Path, environment: dict[str, str], serve: subprocess.Popen[bytes]
) -> None:
    settings = [f"--set={key}={value}" for key, value in {**TINY, "method": "grpo"}.items()]
    train = (*TRAJEVOLVE, "train", "--submit", "--json", "--run", "baseline", *settings)
    submitted = ask(project, environment, *train)
    assert submitted.returncode == 0, submitted.stderr
    parameters = json.dumps({"run": "method", "overrides": TINY})
    run = ("deployment", "run", "trajevolve/alfworld", "--watch", "--params", parameters)
    watched = ask(project, environment, *PREFECT, *run)
    served = project / "serve.log"
    assert watched.returncode == 0, watched.stdout + watched.stderr + served.read_text()

    runs = project / "runs"
    deadline = time.monotonic() + PATIENCE_S
    while not (runs / "baseline" / "summary.json").is_file():
        assert time.monotonic() < deadline, served.read_text()
        time.sleep(0.5)
    assert load_manifest(runs / "baseline").flow_runs == (json.loads(submitted.stdout)["flow_run"],)
    assert (runs / "method" / "params.yaml").is_file()
    compare_in_mlflow(project)

    serve.send_signal(signal.SIGTERM)
    assert serve.wait(60) == 0
    deadline = time.monotonic() + 10
    while left := belonging_to(project):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def compare_in_mlflow(project: Path) -> None:
    """Both runs lie in one experiment, named and tagged, their numbers under the same names."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{project}/mlflow.db")
    experiment = client.get_experiment_by_name("trajevolve")
    assert experiment is not None
    found: dict[str, Any] = {
        run.info.run_name: run for run in client.search_runs([experiment.experiment_id])
    }
    assert set(found) == {"baseline", "method"}
    method, baseline = found["method"].data, found["baseline"].data
    assert (method.tags["method"], baseline.tags["method"]) == ("trajevolve", "grpo")
    assert method.tags["model"] == baseline.tags["model"] == "builtin"
    assert method.params["rollout.groups"] == baseline.params["rollout.groups"] == "2"
    shared = set(method.metrics) & set(baseline.metrics)
    alone = set(method.metrics) - set(baseline.metrics)
    assert {"seconds/labelling", "seconds/discriminator", "discriminator/labels"} <= alone
    assert {
        "rollout/success",
        "rollout/steps",
        "verification/redundancy",
        "update/loss",
        "evaluation_before/success",
        "evaluation_after/success",
        "seconds/rollout",
        "seconds/update",
    } <= shared
    for run in found.values():
        assert {data.dataset.name for data in run.inputs.dataset_inputs} >= {
            "rollout 0000",
            "advantages 0000",
        }
