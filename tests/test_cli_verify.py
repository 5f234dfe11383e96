"""`verify` and `check-env` on a corridor whose labels are known by hand."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from trajevolve.cli.main import main

CORRIDOR = "toys.corridor:Corridor"
PLAN = ["go to room 1", "take key", "go to room 2", "go to room 3", "open chest"]
DETOUR = [*PLAN[:2], "go to room 0", "go to room 1", *PLAN[2:]]
SOLVED = {"task": "0", "actions": DETOUR, "agent": "mine"}


def write(path: Path, *rows: Any) -> Path:
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_labels_of_a_detour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "rows.jsonl", SOLVED, {"task": "0", "actions": ["look", 7]})
    assert main(["verify", "--env", CORRIDOR, "--input", str(source)]) == 0
    solved, failed = map(json.loads, capsys.readouterr().out.splitlines())
    assert solved["labels"] == [1, 1, 0, 0, 1, 1, 1]
    assert solved["minimal"] == PLAN
    assert (solved["env"], solved["success"], solved["agent"]) == ("corridor", True, "mine")
    assert len(solved["dependents"]) == len(DETOUR)
    assert solved["transitions"] > 0
    assert (failed["success"], failed["labels"]) == (False, None)


@pytest.mark.parametrize("mode", ["cumulative", "independent"])
@pytest.mark.parametrize("order", ["backward", "forward"])
def test_every_mode_and_order_removes_the_detour(
    mode: str, order: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "rows.jsonl", SOLVED)
    options = ["--input", str(source), "--mode", mode, "--order", order]
    assert main(["verify", "--env", CORRIDOR, *options]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["labels"][0] == row["labels"][1] == row["labels"][-1] == 1
    assert 0 in row["labels"]


def test_the_loop_prepass_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The labels are the same here; the work is not, which shows that the option arrives.
    source = write(tmp_path / "rows.jsonl", SOLVED)
    common = ["verify", "--env", CORRIDOR, "--input", str(source), "--order", "forward"]
    transitions = []
    for option in ([], ["--no-loop-prepass"], ["--loop-prepass"]):
        assert main([*common, *option]) == 0
        row = json.loads(capsys.readouterr().out)
        assert row["labels"] == [1, 1, 0, 0, 1, 1, 1]
        transitions.append(row["transitions"])
    assert transitions[0] == transitions[1] != transitions[2]


@pytest.mark.parametrize(
    "bad",
    [
        b"not json",
        b'{"task": "\xff", "actions": []}',
        b"[]",
        b'{"task": "0"}',
        b'{"actions": []}',
        b'{"task": "0", "actions": "look"}',
        b'{"task": null, "actions": []}',
        b'{"task": "0", "actions": [], "extra": NaN}',
        b"[" * 100_000,
    ],
    ids=["text", "not-utf8", "list", "no-actions", "no-task", "string", "null", "nan", "nested"],
)
def test_a_bad_row_is_an_error_in_its_place(
    bad: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "rows.jsonl", SOLVED, bad, SOLVED)
    assert main(["verify", "--env", CORRIDOR, "--input", str(source)]) == 1
    captured = capsys.readouterr()
    first, middle, last = map(json.loads, captured.out.splitlines())
    assert first["labels"] == last["labels"] == [1, 1, 0, 0, 1, 1, 1]
    assert list(middle) == ["error"]
    assert captured.err.count("\n") == 1


def test_output_goes_to_a_file_or_nothing_is_left(tmp_path: Path) -> None:
    source = write(tmp_path / "rows.jsonl", SOLVED)
    out = tmp_path / "new" / "labels.jsonl"
    common = ["verify", "--env", CORRIDOR, "--input", str(source), "--output"]
    assert main([*common, str(out)]) == 0
    assert json.loads(out.read_text())["minimal"] == PLAN
    assert [path.name for path in out.parent.iterdir()] == ["labels.jsonl"]
    assert main([*common, str(tmp_path)]) == 2


def test_rows_come_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stdin:
        buffer = io.BytesIO(json.dumps(SOLVED).encode() + b"\n\n")

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert main(["verify", "--env", CORRIDOR, "--input", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["minimal"] == PLAN


def test_no_rows_are_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none.jsonl").write_bytes(b"")
    assert main(["verify", "--env", CORRIDOR, "--input", str(tmp_path / "none.jsonl")]) == 0
    assert capsys.readouterr().out == ""


def test_the_checker_passes_a_sound_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-env", CORRIDOR, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["passed"] is True
    assert {check["status"] for check in report["checks"]} <= {"pass", "skip"}
