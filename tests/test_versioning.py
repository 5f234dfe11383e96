"""What was added comes back byte for byte, with git and without."""

from __future__ import annotations

import logging
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from dvc.repo import Repo

from trajevolve.cli.main import main
from trajevolve.config import VersioningConfig
from trajevolve.storage import read_shard, write_shard
from trajevolve.trajectory import Trajectory
from trajevolve.versioning import Versioner

ROOT = Path(__file__).parents[1]
TRAJECTORY = Trajectory("i", "t", "", "x", 0, (), False, 0.0, 0.0)


def test_a_deleted_shard_comes_back(tmp_path: Path) -> None:
    shards = tmp_path / "runs" / "a" / "shards"
    shard = write_shard(shards / "iter_0000_rollout.parquet", [TRAJECTORY])
    versioner = Versioner(VersioningConfig(), tmp_path)
    first = versioner.add(shards)
    write_shard(shards / "iter_0001_rollout.parquet", [TRAJECTORY] * 2)
    second = versioner.add(shards)
    assert first is not None
    assert second is not None
    assert first != second
    assert versioner.add(shards) == second
    versioner.close()
    content = shard.path.read_bytes()
    shard.path.unlink()
    with Repo(str(tmp_path)) as repo:
        repo.checkout()
    assert shard.path.read_bytes() == content
    assert read_shard(shard.path) == [TRAJECTORY]


def test_in_this_repository_the_version_is_not_ignored_by_git(tmp_path: Path) -> None:
    """The shipped .dvc/config and .gitignore in a fresh clone, as a user has it."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    shutil.copytree(ROOT / ".dvc", tmp_path / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp"))
    for name in (".gitignore", ".dvcignore"):
        shutil.copy(ROOT / name, tmp_path / name)
    shards = tmp_path / "runs" / "a" / "shards"
    write_shard(shards / "s.parquet", [TRAJECTORY])
    versioner = Versioner(VersioningConfig(), tmp_path)
    assert versioner.add(shards)
    versioner.close()
    seen = subprocess.run(
        ["git", "-C", str(tmp_path), "ls-files", "--others", "--exclude-standard", "runs"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert seen.stdout.split() == ["runs/a/shards.dvc"]


def test_the_period_counts_iterations_from_zero(tmp_path: Path) -> None:
    versioner = Versioner(VersioningConfig(every=5), tmp_path)
    assert [k for k in range(11) if versioner.due(k)] == [4, 9]
    off = Versioner(VersioningConfig(enabled=False, every=1), tmp_path)
    assert not off.due(0)
    assert off.add(tmp_path) is None
    assert not (tmp_path / ".dvc").exists()


def test_a_broken_project_is_a_warning_and_not_the_end_of_a_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text("[core\n")
    shards = tmp_path / "runs" / "a" / "shards"
    write_shard(shards / "s.parquet", [TRAJECTORY])
    with caplog.at_level(logging.WARNING, "trajevolve"):
        assert Versioner(VersioningConfig(), tmp_path).add(shards) is None
    assert "shards: not versioned" in caplog.text


def test_every_training_of_the_study_could_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Repo(str(ROOT)) as repo:
        study = [stage for stage in repo.index.stages if str(stage.name).startswith("train@")]
    assert len(study) == 4
    assert all(dependency.exists for stage in study for dependency in stage.deps)
    shutil.copy(ROOT / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    for stage in study:
        (command,) = (shlex.split(line) for line in stage.cmd if line.startswith("trajevolve"))
        assert main([*command[1:], "--dry-run"]) == 0
