"""A second process on the same run is told at once who holds it; the first is not disturbed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from trajevolve.cli.main import main
from trajevolve.config import RunConfig

HOLD = """
import sys
from pathlib import Path
from trajevolve.manifest import RunLock
with RunLock(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_the_second_is_told_before_anything_starts(
    run_dir: Path,
    config: RunConfig,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = run_dir.parents[1]
    (project / "params.yaml").write_text(yaml.safe_dump(config.model_dump(mode="json")))
    monkeypatch.chdir(project)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    command = [sys.executable, "-c", HOLD, str(run_dir)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        before = {path: path.stat().st_mtime_ns for path in run_dir.rglob("*")}
        assert main(["train", "--run", "toy"]) == 2
        last = capsys.readouterr().err.splitlines()[-1]
        assert last.startswith("error: ")
        assert f"process {holder.pid} is working on this run" in last
        assert {path: path.stat().st_mtime_ns for path in run_dir.rglob("*")} == before
        assert not (project / ".prefect").exists()
