"""Policies by split: the layout of the paper's Table 4, conditions below it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trajevolve.errors import UserError
from trajevolve.reports.splits import read_evaluations, split_table


def evaluation(policy: str, split: str, success: float, **facts: Any) -> dict[str, Any]:
    overall = {"success": success, "success_interval": [0.25, 0.75], "tasks": 8}
    return {
        "env": "scienceworld",
        "split": split,
        "policy": policy,
        "options": {"simplifications": "easy"},
        "step_limit": 30,
        "temperature": 0.4,
        "overall": overall,
        **facts,
    }


def test_policies_in_rows_and_splits_in_columns() -> None:
    table = split_table(
        [
            evaluation("grpo", "iid:find-plant,boil", 0.5),
            evaluation("grpo", "test:find-plant,boil", 0.375),
            evaluation("ours", "iid:find-plant,boil", 0.625),
        ]
    )
    assert table.splitlines() == [
        "| policy | IID (train): find-plant, boil | OOD (test): find-plant, boil |",
        "| --- | ---: | ---: |",
        "| grpo | 50.0 % [25.0, 75.0] of 8 | 37.5 % [25.0, 75.0] of 8 |",
        "| ours | 62.5 % [25.0, 75.0] of 8 | – |",
        "",
        "scienceworld, simplifications easy, step limit 30, temperature 0.4.",
    ]


def test_every_condition_that_occurs_is_named() -> None:
    table = split_table(
        [
            evaluation("a", "train", 0.5),
            evaluation("a", "dev", 0.5, step_limit=50, options={}, temperature=None),
        ]
    )
    assert "IID (train) | dev" in table
    assert table.endswith("temperature 0.4.\n\nscienceworld, step limit 50.")


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "cannot be read"), ("[1]", "has no 'env'"), ('{"env": "x"}', "has no 'split'")],
)
def test_other_files_are_refused_by_name(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "e.json"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        read_evaluations([path])
    with pytest.raises(UserError, match="cannot be read"):
        read_evaluations([tmp_path / "none.json"])


def test_what_evaluate_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text(json.dumps(evaluation("a", "train", 0.5)))
    assert read_evaluations([path])[0]["policy"] == "a"
