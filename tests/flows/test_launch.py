"""Handing a run to a worker: what is said where none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from trajevolve.cli.main import main


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
