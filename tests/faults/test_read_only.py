"""A project or a run's folder that cannot be written: one line at once, before anything starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from faults.disks import make_read_only, small_disk
from trajevolve.cli.main import main
from trajevolve.config import RunConfig
from trajevolve.errors import UserError
from trajevolve.experiment import Experiment
from trajevolve_flows.server import PrefectServer


@pytest.fixture
def project(half: Path, config: RunConfig, tmp_path: Path) -> Iterator[Path]:
    """A folder that takes no writes, with a run in it."""
    with small_disk(tmp_path / "disk", "8m") as disk:
        shutil.copytree(half, disk / "runs" / "toy")
        (disk / "params.yaml").write_text(yaml.safe_dump(config.model_dump(mode="json")))
        make_read_only(disk)
        yield disk


@pytest.mark.parametrize("run", ["toy", "new"])
def test_train_in_a_read_only_project(
    run: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    assert main(["train", "--run", run]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"error: {project}/runs/")
    assert "cannot be written (Read-only file system); choose another place" in last


def test_a_read_only_run(project: Path, config: RunConfig) -> None:
    with pytest.raises(UserError, match=r"toy/lock: cannot be written \(Read-only file system\)"):
        Experiment(project / "runs" / "toy", config, project)


def test_a_server_without_a_place(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where runs/ is a link to another disk, Prefect's own folder is the first to be refused."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    monkeypatch.setattr(os, "environ", others)
    with pytest.raises(UserError, match=r"\.prefect: cannot be written \(Read-only file system\)"):
        PrefectServer(project)
