"""The flow in processes of their own: killed outright, it leaves nothing behind and resumes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from toys.killing import (
    Kill,
    contents,
    finish,
    flow_states,
    kill,
    mlflow_runs,
    start,
    tracked,
)
from toys.training import make_model, toy_config

from trajevolve.manifest import load_manifest

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
