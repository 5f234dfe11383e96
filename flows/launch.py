"""Starting the training flow from the command line or from a script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from trajevolve.config import RunConfig
from trajevolve.manifest import open_run
from trajevolve_flows.server import PrefectServer

CONFIG_FILE = "params.yaml"
DEPLOYMENT = "trajevolve/alfworld"


def run_training(config: RunConfig, run_name: str, project: Path | None = None) -> dict[str, Any]:
    """Run the flow in this process and return the content of ``summary.json``.

    The same call again resumes. Prefect's server is started for the run unless
    ``PREFECT_API_URL`` names one.

    Args:
        config: the run's configuration; its full text is kept as ``runs/<name>/params.yaml``.
        run_name: name of the run.
        project: must be the working directory, where ``runs/`` lies.

    Raises:
        UserError: the run has another configuration, is being worked on, or its files are damaged.
    """
    project = project or Path.cwd()
    config_file = _keep_config(project / "runs" / run_name, config)
    server = PrefectServer(project)
    from trajevolve_flows.train import train

    server.wait()
    summary = train(run=run_name, config=str(config_file))
    return dict(json.loads(Path(summary).read_text(encoding="utf-8")))


def submit_training(config: RunConfig, run_name: str, project: Path | None = None) -> str:
    """Ask the worker behind ``PREFECT_API_URL`` to run it; return the flow run's id."""
    project = project or Path.cwd()
    config_file = _keep_config(project / "runs" / run_name, config)
    from trajevolve_flows.server import configure

    configure(project)
    from prefect.deployments import run_deployment

    parameters = {"run": run_name, "config": str(config_file)}
    flow_run: Any = run_deployment(DEPLOYMENT, parameters=parameters, timeout=0)
    return str(flow_run.id)


def _keep_config(run_dir: Path, config: RunConfig) -> Path:
    """Check that the run takes `config`, and write it beside the run."""
    open_run(run_dir, config)
    path = run_dir.resolve() / CONFIG_FILE
    path.write_text(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
    return path
