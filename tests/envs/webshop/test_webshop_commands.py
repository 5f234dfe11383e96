"""The commands with ``--env webshop``, and which configuration they work with."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from trajevolve.cli.main import main

ROOT = Path(__file__).parents[3]
SHOPPED = {
    "task": "289",
    "actions": [
        "search[teeth whitening bamboo toothbrush white pack of 6]",
        "click[next >]",
        "click[< prev]",
        "click[gm3twe9esi]",
        "click[features]",
        "click[< prev]",
        "click[white]",
        "click[pack of 6]",
        "click[buy now]",
    ],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WEBSHOP_DATA", raising=False)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *command: Any) -> str:
    assert main([str(part) for part in command]) == 0
    return capsys.readouterr().out


def plan(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(printed(capsys, "train", "--dry-run", "--json", *options))
    return content


def test_train_reads_the_params_file_of_the_environment(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = plan(capsys, "--set=env=webshop")
    assert alone["configuration"] == "defaults (no params.webshop.yaml here)"
    shutil.copy(ROOT / "params.yaml", folder)
    away = plan(capsys, "--set=env=webshop")
    assert away["configuration"] == (
        "defaults (no params.webshop.yaml here; params.yaml is about another environment)"
    )
    shutil.copy(ROOT / "params.webshop.yaml", folder)
    for name in ("env", "env.name"):
        there = plan(capsys, f"--set={name}=webshop", "--set=iterations=3")
        assert there["configuration"] == "params.webshop.yaml"
        assert (there["iterations"], there["episodes_per_iteration"]) == (3, 80)
    assert plan(capsys)["configuration"] == "params.yaml"
    (folder / "params.yaml").unlink()
    assert plan(capsys, "--set=env=webshop")["configuration"] == "params.webshop.yaml"
    # A name that makes no file name is no reason to fail either.
    assert main(["train", "--dry-run", "--set=env=./mine.py:Env"]) == 2
    assert "environment './mine.py:Env' is unknown" in capsys.readouterr().err


def test_evaluate_reports_success_and_score(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(ROOT / "params.yaml", folder)
    shutil.copy(ROOT / "params.webshop.yaml", folder)
    command = ("evaluate", "--env", "webshop", "--policy", "expert", "--tasks", 30)
    summary = json.loads(printed(capsys, *command, "--json"))
    assert (summary["split"], summary["step_limit"]) == ("test", 20)
    assert summary["configuration"] == "params.webshop.yaml"
    assert 0.6 < summary["overall"]["success"] < summary["overall"]["score"] < 1.0
    assert "mean score (a success has 100 %)" in printed(capsys, *command)


def test_verify_spares_the_turned_page_and_keeps_the_look(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "rows.jsonl").write_text(json.dumps(SHOPPED) + "\n")
    row = json.loads(printed(capsys, "verify", "--env", "webshop", "--input", "rows.jsonl"))
    assert row["success"] and row["labels"] == [1, 0, 0, 1, 1, 1, 1, 1, 1]


def test_play_ends_with_the_purchase(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    actions = "".join(f"{action}\n" for action in SHOPPED["actions"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(actions.encode())))
    out = printed(capsys, "play", "--env", "webshop", "--task", "289")
    lines = [json.loads(line) for line in out.splitlines()]
    assert len(lines) == 1 + len(SHOPPED["actions"])
    assert all(line["valid"] for line in lines) and lines[-1]["won"] and lines[-1]["done"]


def test_generate_makes_a_shop(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "generate", "--env", "webshop", "--count", 5, "--out", "shop")
    made = sorted(path.name for path in (folder / "shop").iterdir())
    assert made == ["items_human_ins.json", "items_ins.json", "items_shuffle.json"]
    assert len(json.loads((folder / "shop" / "items_shuffle.json").read_text())) == 5
