"""What the board says, before Prefect shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prefect.types.names import raise_on_name_alphanumeric_dashes_only

from trajevolve.model_card import CARD
from trajevolve.tracking_pages import place_of
from trajevolve.viewer.ends import PAGE
from trajevolve_flows.board import artifact_key, files_text, links_text, rectangular


@pytest.mark.parametrize(
    ("run", "key"),
    [("demo", "demo"), ("Study_alfworld.0", "study-alfworld-0"), ("--__", "run"), ("Ä", "run")],
)
def test_keys_are_what_prefect_takes(run: str, key: str) -> None:
    assert artifact_key(run) == key
    assert raise_on_name_alphanumeric_dashes_only(f"{key}-result", "key")


def test_a_run_on_a_server_is_linked() -> None:
    place = place_of("https://host", "7", "ab")
    text = links_text(Path("/p/runs/mine"), "grpo", place)
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert targets == [place.page, place.table]
    assert all(target.startswith("https://host/#/experiments/7/runs") for target in targets)
    assert "mlflow ui" not in text


def test_a_run_in_a_file_is_linked_for_when_the_command_runs() -> None:
    text = links_text(Path("/p/runs/mine"), "grpo", place_of("sqlite:////p/mlflow.db", "7", "ab"))
    assert "`mlflow ui --backend-store-uri sqlite:////p/mlflow.db`" in text
    assert "(http://127.0.0.1:5000/#/experiments/7/runs/ab?" in text
    assert "`trajevolve view mine`" in text


def test_an_untracked_run_says_so() -> None:
    assert "tracking.enabled" in links_text(Path("runs/mine"), "grpo", None)


def test_only_files_that_are_there_are_named(tmp_path: Path) -> None:
    assert files_text(tmp_path) == ""
    (tmp_path / CARD).touch()
    assert (tmp_path / CARD).as_uri() in files_text(tmp_path)
    assert PAGE not in files_text(tmp_path)


def test_every_row_has_the_columns_that_some_row_has() -> None:
    rows = [{"iteration": 0, "success": 0.5}, {"success": 1.0, "iteration": 1, "selection": 0.25}]
    assert rectangular(rows) == [
        {"iteration": 0, "success": 0.5, "selection": None},
        {"iteration": 1, "success": 1.0, "selection": 0.25},
    ]
    assert list(rectangular(rows)[0]) == ["iteration", "success", "selection"]
