"""Starting a run and handing one to a worker: what is said where no server is."""

from __future__ import annotations

from pathlib import Path

import pytest

from trajevolve.cli.main import main
from trajevolve.config import parse_config
from trajevolve.errors import UserError
from trajevolve.experiment import running
from trajevolve.manifest import RunLock
from trajevolve.tracker import NullTracker


@pytest.mark.parametrize("value", [None, ""])
def test_submitting_without_a_server_names_the_line_to_paste(
    value: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    if value is not None:
        monkeypatch.setenv("PREFECT_API_URL", value)
    assert main(["train", "--submit"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: --submit: PREFECT_API_URL is not set; start `make serve`")
    assert "export PREFECT_API_URL=http://127.0.0.1:4200/api" in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [(), ("--submit",)])
def test_a_server_that_has_gone_is_said_in_one_line(
    how: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    assert main(["train", "--run", "a", *how]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: PREFECT_API_URL=http://127.0.0.1:9/api: no server answers")
    assert error.endswith("start `make serve`, or unset the variable and run without --submit")
    assert list(tmp_path.iterdir()) == []


def test_a_tracker_that_fails_at_the_end_does_not_hide_why_a_run_failed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(NullTracker):
        def finish(self, succeeded: bool) -> None:
            raise RuntimeError("database is locked")

    config = parse_config({"tracking": {"enabled": False}})
    with pytest.raises(UserError, match="the real cause"), running(tmp_path / "a", config) as run:
        run.tracker = Broken()
        raise UserError("the real cause")
    assert "still shows the run as running (database is locked)" in caplog.text
    with RunLock(tmp_path / "a"):
        pass
