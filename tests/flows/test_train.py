"""The flow in processes of their own: killed outright, it leaves nothing behind and resumes."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient
from toys.killing import (
    Kill,
    contents,
    finish,
    flow_states,
    home_of,
    kill,
    mlflow_runs,
    start,
    tracked,
)
from toys.training import make_model, toy_config

from trajevolve.manifest import load_manifest
from trajevolve.model_card import CARD
from trajevolve.viewer.ends import PAGE

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

KILLS = (
    Kill("start", delay=4.0),
    Kill("output", 0, "rollout"),
    Kill("checkpoint", 0, "update"),
    Kill("record", 0, "evaluation", 0.1),
    Kill("inside", 1, "evolution", 0.02),
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    make_model(folder / "model")
    changes: dict[str, Any] = {
        "tracking": {"enabled": True, "traces_per_iteration": 1},
        "versioning": {"enabled": True, "every": 1},
    }
    config = toy_config(folder / "model", **changes)
    (folder / "config.json").write_text(config.model_dump_json())
    return folder


@pytest.fixture(scope="module")
def whole(project: Path) -> Iterator[dict[str, Any]]:
    """The summary of a run that nobody disturbed."""
    yield finish(project, "whole")


def described(project: Path, run: str) -> str:
    """A run's description in MLflow, without its name."""
    client = MlflowClient(f"sqlite:///{project}/mlflow.db")
    found = client.get_run(load_manifest(project / "runs" / run).mlflow_run)
    return found.data.tags["mlflow.note.content"].replace(run, "RUN")


def artifacts(project: Path, run: str) -> dict[str, Any]:
    """The newest data of each of a run's artifacts, read from Prefect's database."""
    with closing(sqlite3.connect(f"{home_of(project)}/prefect.db")) as database:
        rows = database.execute("select key, data from artifact order by updated").fetchall()
    own = {key.removeprefix(f"{run}-"): data for key, data in rows if key.startswith(f"{run}-")}
    return {key: json.loads(str(data)) for key, data in own.items()}  # a number comes as one


@linux
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_run_is_shown_in_prefect(project: Path, whole: dict[str, Any]) -> None:
    shown = artifacts(project, "whole")
    assert set(shown) == {"progress", "iterations", "links", "result"}
    assert shown["progress"] == 100.0
    first, last = json.loads(shown["iterations"])
    assert (first["iteration"], last["iteration"]) == (0, 1)
    assert set(first) == set(last) >= {"success", "steps", "redundancy", "selection"}
    run_id = load_manifest(project / "runs" / "whole").mlflow_run
    assert f"/runs/{run_id}?" in shown["links"] and "mlflow ui --backend" in shown["links"]
    assert "`trajevolve view whole`" in shown["links"]
    assert f"{100 * whole['after']['success']:.1f} %" in shown["result"]
    assert (project / "runs" / "whole" / PAGE).as_uri() in shown["result"]


@linux
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_run_killed_again_and_again_ends_like_one_that_was_not(
    project: Path, whole: dict[str, Any]
) -> None:
    runs = project / "runs"
    for planned in KILLS:
        kill(project, "killed", planned)
        there = contents(runs / "killed")
        assert there.items() <= contents(runs / "whole").items()
    summary = finish(project, "killed")
    assert contents(runs / "killed") == contents(runs / "whole")
    assert summary["after"] == whole["after"] and summary["before"] == whole["before"]
    assert summary["difference"] == whole["difference"]

    manifest, undisturbed = load_manifest(runs / "killed"), load_manifest(runs / "whole")
    assert manifest.data["shards"] == undisturbed.data["shards"]
    told = tracked(project, manifest.mlflow_run)
    assert told == tracked(project, undisturbed.mlflow_run) and told["status"] == "FINISHED"
    assert mlflow_runs(project) == ["killed", "whole"]
    assert described(project, "killed") == described(project, "whole")
    assert described(project, "whole").count("### Result") == 1
    card = (runs / "killed" / CARD).read_text(encoding="utf-8")
    assert card.replace("killed", "whole") == (runs / "whole" / CARD).read_text(encoding="utf-8")
    assert artifacts(project, "killed")["iterations"] == artifacts(project, "whole")["iterations"]
    *earlier, last = flow_states(project, manifest.flow_runs)
    assert last == "Completed" and set(earlier) == {"Crashed"}
    assert len(earlier) >= len(KILLS) - 1


@linux
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_runs_at_once_in_one_checkout_do_not_disturb_each_other(
    project: Path, whole: dict[str, Any]
) -> None:
    pair = [start(project, name) for name in ("left", "right")]
    for process in pair:
        output, _ = process.communicate(timeout=1800)
        assert process.returncode == 0, output
    expected = load_manifest(project / "runs" / "whole")
    for name in ("left", "right"):
        assert contents(project / "runs" / name) == contents(project / "runs" / "whole")
        manifest = load_manifest(project / "runs" / name)
        assert manifest.data["shards"] == expected.data["shards"]
        assert tracked(project, manifest.mlflow_run) == tracked(project, expected.mlflow_run)
