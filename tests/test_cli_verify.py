"""`verify` and `check-env` on a corridor whose labels are known by hand."""

import io
import json
import os
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
    source = write(tmp_path / "rows.jsonl", SOLVED, {"task": "0", "actions": ["look", None]})
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
        b'{"task": "0", "actions": ["look", 7]}',
        b'{"task": "0", "actions": [["look"]]}',
        b'{"task": null, "actions": []}',
        b'{"task": "0", "actions": [], "extra": NaN}',
        b"[" * 100_000,
    ],
    ids=[
        "text",
        "not-utf8",
        "list",
        "no-actions",
        "no-task",
        "string",
        "number",
        "lists",
        "null",
        "nan",
        "nested",
    ],
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


@pytest.mark.parametrize("content", [b"", b"\n \n", b"[]", b"[\n]\n"])
@pytest.mark.parametrize("extra", [[], ["--report", "page.md"], ["--format", "rows"]])
def test_input_without_rows_is_one_line(
    content: bytes,
    extra: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none.jsonl").write_bytes(content)
    assert main(["verify", "--env", CORRIDOR, "--input", "none.jsonl", *extra]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert captured.err.startswith("error: --input: holds no JSON object; it is empty")
    assert [path.name for path in tmp_path.iterdir()] == ["none.jsonl"]


def test_a_folder_is_no_input_and_a_pipe_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "--env", CORRIDOR, "--input", str(tmp_path)]) == 2
    assert f"--input {tmp_path}: is a folder" in capsys.readouterr().err
    reader, writer = os.pipe()  # what `--input <(command)` hands over
    os.write(writer, json.dumps(SOLVED).encode())
    os.close(writer)
    try:
        assert main(["verify", "--env", CORRIDOR, "--input", f"/dev/fd/{reader}"]) == 0
    finally:
        os.close(reader)
    assert json.loads(capsys.readouterr().out)["minimal"] == PLAN


def talk(*answers: str, **fields: Any) -> dict[str, Any]:
    turns = [{"from": "human", "value": "room 0"}, {"from": "gpt", "value": "OK"}]
    for answer in answers:
        turns.append({"from": "human", "value": "seen"})
        turns.append({"from": "gpt", "value": f"Thought: so\nAction: {answer}"})
    return {"id": 3, "game_file": "0", "conversations": turns, **fields}


def test_an_array_of_conversations_is_verified_reported_and_viewed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, labels = tmp_path / "log.json", tmp_path / "labels.jsonl"
    source.write_text(json.dumps([talk(*DETOUR), talk("look"), {"messages": []}], indent=1))
    options = ["--input", str(source), "--output", str(labels), "--report", "-"]
    assert main(["verify", "--env", CORRIDOR, *options]) == 1
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        f"3 rows, 1 success, 2 of 7 steps redundant -> {labels}",
        '1 row could not be verified; see "error" there',
    ]
    page = captured.out
    solved, failed, bad = map(json.loads, labels.read_text().splitlines())
    assert (solved["actions"], solved["labels"]) == (DETOUR, [1, 1, 0, 0, 1, 1, 1])
    assert solved["minimal"] == PLAN
    assert solved["record"]["id"] == 3
    turns = solved["record"]["conversations"]
    assert [turns[t]["value"].rpartition(": ")[2] for t in solved["turns"]] == DETOUR
    assert failed["labels"] is None
    assert bad == {"error": "item 3: the conversation holds no answer of the assistant"}
    for line in (
        "| rows | 3 |",
        "| rows in error | 1 |",
        "| successes | 1 |",
        "| not successful in replay | 1 |",
        "| redundant steps | 2 (28.6 %) |",
        "| steps of the minimal sequences | 5 |",
        "| steps saved by them | 2 (28.6 %) |",
        "| chest | 2 | 1 | 7 | 2 | 28.6 % | 5 | 2 (28.6 %) |",
        "| go | 2 | 5 | 40.0 % |",
        "- item 3: the conversation holds no answer of the assistant",
    ):
        assert line in page.splitlines()
    out = tmp_path / "page.html"
    options = ["--out", str(out), "--env", CORRIDOR, "--json"]
    assert main(["view", str(labels), *options]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["trajectories"], shown["replays"] > 0) == (2, True)
    assert "1 row with an error" in shown["notes"][0]


def test_step_records_are_gathered_and_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [
        {"traj_uid": uid, "gamefile": "0", "output": f"<think></think><action>{action}</action>"}
        for action, other in zip(DETOUR, [*PLAN, "look", "look"], strict=True)
        for uid, action in (("a", action), ("b", other))
    ]
    source, report = write(tmp_path / "steps.jsonl", *steps), tmp_path / "new" / "report.md"
    options = ["--input", str(source), "--format", "verl-agent", "--report", str(report)]
    assert main(["verify", "--env", CORRIDOR, *options]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""  # the rows are on standard output: nothing more to say
    first, second = map(json.loads, captured.out.splitlines())
    assert (first["labels"], first["trajectory"]) == ([1, 1, 0, 0, 1, 1, 1], "a")
    assert first["steps"] == [1, 3, 5, 7, 9, 11, 13]
    assert second["labels"][:5] == [1] * 5
    assert "| successes | 2 |" in report.read_text()


def test_input_of_no_known_format_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, labels = write(tmp_path / "odd.jsonl", {"input": "x", "score": 1}), tmp_path / "out"
    options = ["--input", str(source), "--output", str(labels)]
    assert main(["verify", "--env", CORRIDOR, *options]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    for expected in ("line 1 is an object with input, score", "actions", "messages", "traj_uid"):
        assert expected in captured.err
    assert [path.name for path in tmp_path.iterdir()] == ["odd.jsonl"]


def test_a_torn_document_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.json").write_text(json.dumps([talk(*PLAN)] * 2, indent=1)[:-9])
    assert main(["verify", "--env", CORRIDOR, "--input", str(tmp_path / "log.json")]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)


@pytest.mark.parametrize("extra", [[], ["--output", "same.md"], ["--output", "x", "--report", "."]])
def test_a_report_needs_a_place_of_its_own(
    extra: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    source = write(tmp_path / "rows.jsonl", SOLVED)
    report = "same.md" if extra else "-"
    options = ["--input", str(source), "--report", report, *extra]
    assert main(["verify", "--env", CORRIDOR, *options]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_a_report_shows_foreign_text_as_text(tmp_path: Path) -> None:
    # Errors quote what they found; a lone surrogate is a text in JSON and none in UTF-8.
    odd = write(tmp_path / "odd.jsonl", {"messages": [{"role": "<b>|\ud800"}]})
    solved = write(tmp_path / "rows.jsonl", {"task": "0", "actions": ["<b>|", *PLAN, None]})
    report, pages = tmp_path / "report.md", []
    for path in (odd, solved):
        options = ["--input", str(path), "--report", str(report), "--output", str(tmp_path / "o")]
        main(["verify", "--env", CORRIDOR, *options])
        pages.append(report.read_text(encoding="utf-8"))
    assert "\\<b\\>\\|\\\\ud800" in pages[0]
    assert "| b | 1 | 1 | 100.0 % |" in pages[1]
    assert "| (no action) | 1 | 1 | 100.0 % |" in pages[1]


def test_the_checker_passes_a_sound_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-env", CORRIDOR, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["passed"] is True
    assert {check["status"] for check in report["checks"]} <= {"pass", "skip"}


@pytest.mark.parametrize("option", ["--output", "--report"])
def test_the_input_is_not_written_over(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("{}")
    command = [
        "verify",
        "--env",
        "alfworld",
        "--input",
        str(log),
        option,
        f"{tmp_path}/./log.jsonl",
    ]
    assert main(command) == 2
    assert "would be overwritten" in capsys.readouterr().err
    assert log.read_text() == "{}"
