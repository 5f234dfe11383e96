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
from trajevolve.manifest import RunLock, check_run, write_params
from trajevolve.progress import working
from trajevolve.schedule import stages
from trajevolve_flows.logs import speak_plainly
from trajevolve_flows.server import API, HOST, PORT, PrefectServer, api_url

DEPLOYMENT = "trajevolve/alfworld"


def run_training(config: RunConfig, run_name: str, project: Path | None = None) -> dict[str, Any]:
    """Run the flow in this process and return the content of ``summary.json``.

    The same call again resumes, and returns at once where the run is finished. Prefect's server
    is started for the run unless ``PREFECT_API_URL`` names one.

    Args:
        config: the run's configuration; its full text is kept as ``runs/<name>/params.yaml``.
        run_name: name of the run.
        project: must be the working directory, where ``runs/`` lies.

    Raises:
        UserError: the run has another configuration, is being worked on, its files are damaged,
            or the disk is full.
    """
    project = project or Path.cwd()
    run_dir = (project / "runs" / run_name).resolve()
    check_run(run_dir, config)
    finished = _finished(run_dir, config)
    if finished is not None:
        return finished
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


def submit_training(config: RunConfig, run_name: str, project: Path | None = None) -> str:
    """Ask the worker behind ``PREFECT_API_URL`` to run it; return the flow run's id.

    Raises:
        UserError: that is not set (Prefect would start a server of its own, without a worker), or
            the run has another configuration.
    """
    if not os.environ.get(API):
        raise UserError(
            f"--submit: {API} is not set; start `make serve`, and in this shell: "
            f"export {API}={api_url(HOST, PORT)} (make serve prints the line)"
        )
    project = project or Path.cwd()
    run_dir = (project / "runs" / run_name).resolve()
    check_run(run_dir, config)
    config_file = write_params(run_dir, config)
    from trajevolve_flows.server import configure

    configure(project)
    from prefect.deployments import run_deployment

    parameters = {"run": run_name, "config": str(config_file)}
    flow_run: Any = run_deployment(DEPLOYMENT, parameters=parameters, timeout=0)
    return str(flow_run.id)


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
