"""Starting the training flow from the command line or from a script."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from trajevolve.config import RunConfig
from trajevolve.errors import UserError
from trajevolve.files import check_room
from trajevolve.ledger import Ledger
from trajevolve.manifest import RunLock, check_run, run_folder, write_params
from trajevolve.progress import working
from trajevolve.schedule import stages
from trajevolve_flows.logs import speak_plainly
from trajevolve_flows.server import (
    API,
    HOST,
    PORT,
    PrefectServer,
    api_url,
    check_answering,
    configure,
)

DEPLOYMENT = "trajevolve/alfworld"
# The step of prefect.yaml that says where the worker's runs lie.
WORKS_IN = "prefect.deployments.steps.set_working_directory"


def run_training(config: RunConfig, run_name: str) -> dict[str, Any]:
    """Run the flow in this process and return the content of ``summary.json``.

    The same call again resumes, and returns at once where the run is finished. Prefect's server
    is started for the run unless ``PREFECT_API_URL`` names one. Runs lie in ``runs/`` of the
    working directory.

    Args:
        config: the run's configuration; its full text is kept as ``runs/<name>/params.yaml``.
        run_name: name of the run.

    Raises:
        UserError: the run has another configuration, is being worked on, lacks something that it
            needs, its files are damaged, or the disk is full.
    """
    project = Path.cwd()
    run_dir = run_folder(run_name, project)
    check_run(run_dir, config)
    finished = _finished(run_dir, config)
    if finished is not None:
        return finished
    if url := os.environ.get(API):
        check_answering(url)
    with RunLock(run_dir):  # whoever comes second is told before anything starts
        config_file = write_params(run_dir, config)
    with working("starting Prefect, half a minute at times"):
        server = PrefectServer(project)
        from trajevolve_flows.train import train

        server.wait()
    speak_plainly()
    try:
        summary = train(run=run_name, config=str(config_file))
    except UserError:
        raise
    except Exception:
        check_room(project)  # a full disk has Prefect's server fail in many ways
        raise
    return dict(json.loads(Path(summary).read_text(encoding="utf-8")))


def submit_training(config: RunConfig, run_name: str) -> str:
    """Ask the worker behind ``PREFECT_API_URL`` to run it; return the flow run's id.

    Raises:
        UserError: that is not set (Prefect would start a server of its own, without a worker),
            nobody answers there, its worker works elsewhere, or the run has another configuration.
    """
    url = os.environ.get(API)
    if not url:
        raise UserError(
            f"--submit: {API} is not set; start `make serve`, and in this shell: "
            f"export {API}={api_url(HOST, PORT)} (make serve prints the line)"
        )
    project = Path.cwd()
    run_dir = run_folder(run_name, project)
    check_run(run_dir, config)
    check_answering(url)
    configure(project)
    _check_worker(url, project)
    config_file = write_params(run_dir, config)
    from prefect.deployments import run_deployment

    parameters = {"run": run_name, "config": str(config_file)}
    flow_run: Any = run_deployment(DEPLOYMENT, parameters=parameters, timeout=0)
    return str(flow_run.id)


def _check_worker(url: str, project: Path) -> None:
    """Raise UserError where the deployment is not there, or has its runs work in another folder."""
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    with get_client(sync_client=True) as client:
        try:
            steps = client.read_deployment_by_name(DEPLOYMENT).pull_steps or []
        except ObjectNotFound:
            raise UserError(
                f"--submit: {url} has no deployment {DEPLOYMENT}; start `make serve` in this folder"
            ) from None
    folders = [step[WORKS_IN]["directory"] for step in steps if WORKS_IN in step]
    if folders and Path(folders[-1]).resolve() != project.resolve():
        raise UserError(
            f"--submit: the worker's runs lie in {folders[-1]}, not here; submit from there, or "
            "start `make serve` in this folder"
        )


def _finished(run_dir: Path, config: RunConfig) -> dict[str, Any] | None:
    """Return the summary of a run that has nothing left to do, None where something is left."""
    path = run_dir / "summary.json"
    if not path.is_file():
        return None
    ledger = Ledger(run_dir, config.digest())
    if ledger.next_point(config.iterations + 1, lambda k: stages(config, k)) is not None:
        return None
    try:
        summary = dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError:  # damaged; the ledger has all that is in it
        return None
    return summary if summary["iterations"] == config.iterations else None
