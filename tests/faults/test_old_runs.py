"""Runs of other releases: `gc` passes over what it cannot read, and deals with the rest."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from trajevolve import manifest
from trajevolve.cli.main import main
from trajevolve.config import RunConfig, parse_config
from trajevolve.files import write_record
from trajevolve.manifest import check_run, load_manifest, open_run, update_manifest


@pytest.fixture
def two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("new", "old"):
        open_run(tmp_path / "runs" / name, RunConfig())
    old = tmp_path / "runs" / "old"
    update_manifest(old, config={**load_manifest(old).config, "warp": 9})
    return tmp_path


@pytest.mark.usefixtures("two_runs")
def test_gc_of_everything_passes_over_an_old_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gc"]) == 0
    said = capsys.readouterr()
    assert said.out == "freed 0.0 MiB in 1 run\n"
    (line,) = said.err.splitlines()
    assert line.startswith("skipped: runs/old/manifest.json: unknown key 'warp'")


@pytest.mark.usefixtures("two_runs")
def test_gc_of_an_old_run_by_name_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gc", "old"]) == 2
    assert "unknown key 'warp'" in capsys.readouterr().err


def test_a_run_from_before_the_time_limit_goes_on(tmp_path: Path) -> None:
    """How long an environment may take is the machine's matter: it is in no digest."""
    run_dir = tmp_path / "runs" / "a"
    config = parse_config({})
    open_run(run_dir, config)
    before = dict(load_manifest(run_dir).config)
    before["env"] = {k: v for k, v in before["env"].items() if k != "step_timeout_s"}
    update_manifest(run_dir, config=before)
    for seconds in (120.0, 5.0, None):
        changed = parse_config({"env": {"step_timeout_s": seconds}})
        assert changed.digest() == config.digest()
        assert check_run(run_dir, changed) is not None


def test_a_manifest_without_a_hash_is_read(tmp_path: Path) -> None:
    run_dir = tmp_path / "runs" / "a"
    begun = open_run(run_dir, RunConfig())
    path = run_dir / "manifest.json"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith('  "md5"')))
    assert load_manifest(run_dir) == begun


def test_other_software_is_noted_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run_dir = tmp_path / "runs" / "a"
    begun = open_run(run_dir, RunConfig())
    assert open_run(run_dir, RunConfig()) == begun and not caplog.text
    newer = {**begun.packages, "torch": "9.0"}
    monkeypatch.setattr(manifest, "installed_versions", lambda: newer)
    assert open_run(run_dir, RunConfig()).later == ({"packages": newer},)
    assert "a goes on with other software than before: torch differs" in caplog.text
    caplog.clear()
    again = open_run(run_dir, RunConfig(iterations=50))
    assert again.later == ({"packages": newer},) and not caplog.text
    assert (again.packages, again.config["iterations"]) == (begun.packages, 50)
    monkeypatch.setattr(manifest, "installed_versions", lambda: begun.packages)
    assert [*open_run(run_dir, RunConfig(iterations=50)).later[1]] == ["packages"]


def test_a_manifest_of_version_1_is_read(tmp_path: Path) -> None:
    run_dir = tmp_path / "runs" / "a"
    begun = open_run(run_dir, RunConfig())
    content = {name: value for name, value in asdict(begun).items() if name != "later"}
    write_record(run_dir / "manifest.json", 1, content)
    assert load_manifest(run_dir) == begun
