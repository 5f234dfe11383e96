"""docs/clean-your-data.md: its log, its labels and its script, as they are printed there."""

import json
import re
from pathlib import Path

import pytest

from trajevolve.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "clean-your-data.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)
    return str(found)


def test_from_a_log_to_rows_for_fine_tuning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.json").write_text(block("json"), encoding="utf-8")
    options = ["--input", "log.json", "--output", "labels.jsonl", "--report", "report.md"]
    assert main(["verify", "--env", "alfworld", *options]) == 0
    (row,) = map(json.loads, (tmp_path / "labels.jsonl").read_text().splitlines())
    assert f"`{row['labels']}`: `go to shelf 1` was redundant" in PAGE
    assert row["minimal"][-1] == "move soapbottle 3 to drawer 3"
    assert "| redundant steps | 1 (16.7 %) |" in (tmp_path / "report.md").read_text()
    exec(compile(block("python"), "the page's script", "exec"), {})
    (made,) = map(json.loads, (tmp_path / "sft.jsonl").read_text().splitlines())
    said = [m["content"].rpartition("Action: ")[2] for m in made["messages"][1::2]]
    assert said == [
        "go to toilet 2",
        "take soapbottle 3 from toilet 2",
        "inventory",
        "go to drawer 3",
        "put soapbottle 3 in/on drawer 3",
    ]
    assert made["messages"][0]["content"].startswith("-= Welcome")
    assert made["messages"][2]["content"].startswith("You arrive at toilet 2.")
    assert main(["view", "labels.jsonl", "--out", "page.html"]) == 0


def test_the_script_takes_plain_rows_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    task = "generated/eval/medium/0/0-pick_and_place_simple"
    plan = ["go to toilet 2", "take soapbottle 3 from toilet 2", "go to drawer 3"]
    actions = [*plan, "nonsense", "move soapbottle 3 to drawer 3", "look"]
    rows = [{"task": task, "actions": actions}, {"task": task, "actions": plan}, {"task": "none"}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    options = ["--input", "rows.jsonl", "--output", "labels.jsonl"]
    assert main(["verify", "--env", "alfworld", *options]) == 1
    exec(compile(block("python"), "the page's script", "exec"), {})
    (made,) = map(json.loads, (tmp_path / "sft.jsonl").read_text().splitlines())
    assert [m["content"] for m in made["messages"][1::2]] == [*plan, actions[4]]
