"""Every command of the README and of the pages that show how, run as it is printed there.

They run in a folder of their own, in the order of the pages, with the project's Makefile and
params.yaml; the latter is cut down to a run of seconds. What cannot be run is listed with the
reason. A command that is neither run nor listed fails.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import typer
import yaml

from trajevolve.cli.main import app, main

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/viewer.md", "docs/clean-your-data.md", "docs/commands.md")
#: What a command starts with; a line that starts with something else is output.
PROGRAMS = (
    *("make", "trajevolve", "mlflow", "prefect", "dvc", "pytest"),
    *("python", "python3", "pip", "uv", "git", "curl", "wget", "apt", "apt-get", "docker"),
    *("bash", "sh", "source", "cd", "cat"),
)
NO_SHELL = ("python", "json", "yaml")

#: Not run here, and why; what does the same elsewhere is named.
LISTED = {
    "make test": "this is one of its tests",
    "make install TORCH_INDEX=https://download.pytorch.org/whl/cpu": "downloads packages",
    "make serve": "a server that waits for Ctrl-C: tests/flows/test_deployment.py",
    "trajevolve train --submit": "needs the server: tests/flows/test_deployment.py",
    "trajevolve check-env": "named, with an environment in tests/test_cli_verify.py",
    ".venv/bin/mlflow ui --backend-store-uri sqlite:///mlflow.db": (
        "a server that waits for Ctrl-C; its store is read in tests/test_tracking.py"
    ),
    "python benchmarks/clean_data.py": "needs the published games, and minutes",
    "python benchmarks/viewer.py": "measures, for minutes: tests/viewer/test_in_browser.py",
    "dvc repro": "trains for minutes: its plan is looked at in tests/test_versioning.py",
    "dvc metrics show": "needs what dvc repro made",
    "dvc gc": "named; DVC's own",
    "trajevolve export RUN --as sft": "named, with a run in tests/test_cli_results.py",
}
#: Texts that stand for something of the reader's own, and what they are here.
STANDS_FOR = {
    "iter_0004_evolution": "iter_0000_evolution",  # the tiny run evolves in its only iteration
}
TINY: dict[str, Any] = {
    "iterations": 1,
    "threads": 1,
    "env": {"step_limit": 8},
    "rollout": {"groups": 2, "group_size": 2},
    "evolution": {"every": 1, "per_group": 1},
    "evaluation": {"panel_size": 4, "selection_size": 2},
    "tracking": {"enabled": False},
    "versioning": {"enabled": False},
}
#: What the commands leave behind, at least.
LEFT = (
    "runs/demo/summary.json",
    "reports/demo/report.md",
    "reports/demo/overview.png",
    "reports/demo/trajectories.html",
    "reports/first/report.md",
    "reports/labels/trajectories.html",
    "policy/model.safetensors",
    "labels.jsonl",
    "report.md",
)


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(text: str) -> list[tuple[str, str]]:
    """Fenced blocks: (language, content)."""
    return re.findall(r"^```(\w*)\n(.*?)^```", text, re.S | re.M)


def is_command(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and Path(words[0]).name in PROGRAMS


def shown(text: str) -> Iterator[str]:
    """Commands of fenced blocks; in one with prompts only what stands after them."""
    for language, content in blocks(text):
        if language in NO_SHELL:
            continue
        lines = content.replace("\\\n", " ").splitlines()
        prompted = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        for line in prompted or lines:
            command = " ".join(re.sub(r"\s#.*", "", line).split())
            if is_command(command):
                yield command


def named(text: str) -> Iterator[str]:
    """Commands in the middle of sentences."""
    without = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    for span in re.findall(r"`([^`]+)`", without):
        command = " ".join(span.split())
        if is_command(command):
            yield command


def test_every_command_is_run_or_listed() -> None:
    run = {command for page in PAGES for command in shown(text_of(page))} - LISTED.keys()
    said = {command for page in PAGES for command in named(text_of(page))}
    started = {f"{command} ".replace(".venv/bin/", "") for command in run}
    unknown = {
        command
        for command in said - LISTED.keys()
        if not any(one.startswith(f"{command} ".replace(".venv/bin/", "")) for one in started)
    }
    assert unknown == set()
    assert {"make demo", ".venv/bin/trajevolve view demo"} <= run
    assert len(run) >= 14


def test_what_is_listed_stands_on_a_page_and_the_tests_named_exist() -> None:
    there = {c for page in PAGES for find in (shown, named) for c in find(text_of(page))}
    assert LISTED.keys() - there == set()
    for reason in LISTED.values():
        for path in re.findall(r"tests/\S+\.py", reason):
            assert (ROOT / path).is_file(), path


def test_what_the_pages_show_exists() -> None:
    for page in PAGES:
        folder = (ROOT / page).parent
        for target in re.findall(r"\]\(([^)#]+)\)", text_of(page)):
            assert "://" in target or (folder / target).exists(), f"{page}: {target}"


def commands_of(group: click.Command, path: str = "trajevolve") -> Iterator[tuple[str, set[str]]]:
    """Every command of the program, with its long options."""
    for name, command in getattr(group, "commands", {}).items():
        if hasattr(command, "commands"):
            yield from commands_of(command, f"{path} {name}")
            continue
        yield f"{path} {name}", long_options(command)


def long_options(command: click.Command) -> set[str]:
    return {
        option
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--")
    }


def test_the_manual_has_every_command_with_all_its_options_and_no_other() -> None:
    manual = text_of("docs/commands.md")
    usages = re.findall(r"^    (trajevolve .*(?:\n {8,}.*)*)", manual, re.M)
    program = typer.main.get_command(app)
    known = dict(commands_of(program))
    described: dict[str, set[str]] = {}
    for usage in usages:
        (command,) = (name for name in known if f"{usage} ".startswith(f"{name} "))
        described.setdefault(command, set()).update(re.findall(r"--[a-z][a-z-]+", usage))
    assert described == known
    beginning = manual.partition("\n## ")[0]
    assert [name for name in long_options(program) if f"`{name}`" not in beginning] == []


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two games in the published layout."""
    folder = tmp_path_factory.mktemp("games")
    assert main(["generate", "--count", "2", "--split", "valid_seen", "--out", str(folder)]) == 0
    return folder


def first_game(data: Path) -> tuple[str, list[str]]:
    """Its id, and actions that solve it."""
    path = min(data.rglob("game.tw-pddl"))
    return str(path.parent.relative_to(data)), json.loads(path.read_text())["walkthrough"]


def test_the_lines_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (script,) = (content for language, content in blocks(text_of("README.md")) if language)
    names: dict[str, Any] = {}
    exec(compile(script, "README.md", "exec"), names)
    assert f'"labels": {list(names["result"].labels)}' in text_of("README.md")


def test_the_example_without_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    commands = shown(text_of("README.md"))
    (command,) = (each for each in commands if "verify" in each and "household" in each)
    assert main(command.split()[1:]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["success"] is True
    assert f'"labels": {row["labels"]}' in text_of("README.md")


def substituted(text: str) -> str:
    for printed, here in STANDS_FOR.items():
        text = text.replace(printed, here)
    return text


@pytest.fixture
def project(tmp_path: Path, data: Path) -> Path:
    """What `make install` and a reader of the pages would have made."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(tiny_params()))
    (tmp_path / "DIR").symlink_to(data)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    task, actions = first_game(data)
    row = json.dumps({"task": task, "actions": [*actions[:-1], "look", actions[-1]]})
    (tmp_path / "episodes.jsonl").write_text(row + "\n")
    (log,) = (content for language, content in blocks(text_of(PAGES[2])) if language == "json")
    (tmp_path / "log.json").write_text(log)
    for name in ("constraints.txt", "pyproject.toml", "setup.py"):
        (tmp_path / name).touch()
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "trajevolve").symlink_to(Path(sys.executable).with_name("trajevolve"))
    for stamp in (".torch", ".installed"):  # newer than what they depend on
        (tmp_path / ".venv" / stamp).touch()
    return tmp_path


def tiny_params() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(text_of("params.yaml"))
    for key, value in TINY.items():
        content[key] = {**content.get(key, {}), **value} if isinstance(value, dict) else value
    return content


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_commands_of_the_pages_run_as_they_are_printed(project: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PREFECT_")}
    environment = {
        **kept,
        "PATH": f"{project / '.venv' / 'bin'}:{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "BROWSER": "true",  # --open starts this program
    }
    printed = {}
    for page in PAGES:
        for command in shown(text_of(page)):
            if command in LISTED:
                continue
            done = subprocess.run(
                substituted(command),
                shell=True,
                cwd=project,
                env=environment,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, f"{page}: {command}\n{done.stdout}\n{done.stderr}"
            printed[command] = done.stdout
            if "verify" in command and "episodes" in command:
                (project / "labelled.jsonl").write_text(done.stdout)
    assert [path for path in LEFT if not (project / path).exists()] == []
    assert "paired tasks (95 %)" in printed["make demo"]
    (row,) = map(json.loads, (project / "labelled.jsonl").read_text().splitlines())
    assert row["success"] is True and row["dependents"]
