"""Evaluations of several policies on several splits, as the paper's Table 4 lays them out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trajevolve.errors import UserError
from trajevolve.reports.tables import figure, markdown

NAMES = {
    "train": "IID (train)", "iid": "IID (train)", "valid_seen": "IID (valid_seen)",
    "test": "OOD (test)", "ood": "OOD (test)", "valid_unseen": "OOD (valid_unseen)",
}  # fmt: skip
"""Splits by what their tasks are to a policy that was trained: seen variations, or unseen ones of
the seen types."""

_FACTS = ("env", "split", "policy", "step_limit", "overall")


def read_evaluations(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Read what ``evaluate --output`` wrote. Raises UserError where a file is something else."""
    found: list[dict[str, Any]] = []
    for path in paths:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            missing = [name for name in _FACTS if name not in content]
        except (OSError, ValueError, TypeError) as error:
            raise UserError(f"{path}: cannot be read: {error}") from None
        if missing:
            raise UserError(f"{path}: has no {missing[0]!r}; expected what evaluate --output wrote")
        found.append(content)
    return found


def split_table(evaluations: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: policies in rows, splits in columns, and under which conditions."""
    splits = list(dict.fromkeys(map(_column, evaluations)))
    by_place = {(each["policy"], _column(each)): each["overall"] for each in evaluations}
    policies = list(dict.fromkeys(str(each["policy"]) for each in evaluations))
    rows = [
        [policy, *(_cell(by_place.get((policy, split))) for split in splits)] for policy in policies
    ]
    conditions = dict.fromkeys(map(_conditions, evaluations))
    return "\n\n".join([markdown(["policy", *splits], rows), *(f"{line}." for line in conditions)])


def _column(evaluation: Mapping[str, Any]) -> str:
    name, _, types = str(evaluation["split"]).partition(":")
    if name not in NAMES:
        return str(evaluation["split"])
    return NAMES[name] + (f": {types.replace(',', ', ')}" if types else "")


def _cell(overall: Mapping[str, Any] | None) -> str:
    if overall is None:
        return "–"
    low, high = overall["success_interval"]
    interval = f"[{100 * low:.1f}, {100 * high:.1f}]"
    return f"{figure(overall['success'], True)} {interval} of {overall['tasks']}"


def _conditions(evaluation: Mapping[str, Any]) -> str:
    options = evaluation.get("options") or {}
    parts = [str(evaluation["env"]), *(f"{name} {value}" for name, value in options.items())]
    parts.append(f"step limit {evaluation['step_limit']}")
    if evaluation.get("temperature") is not None:
        parts.append(f"temperature {evaluation['temperature']}")
    return ", ".join(parts)
