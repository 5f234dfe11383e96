"""What verification of recorded trajectories found redundant, on one Markdown page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from trajevolve.credit.rows import VerifiedRow
from trajevolve.reports.tables import figure, markdown
from trajevolve.wording import counted

MOST_VERBS = 10
MOST_ERRORS = 20
_WORD = re.compile(r"[^\W\d_]+")


@dataclass
class Counts:
    """Sums over trajectories of one task type.

    Attributes:
        rows: trajectories that could be replayed.
        successes: those among them that solve their task.
        steps: steps of the successes.
        redundant: steps of the successes with label 0.
        minimal: steps of their minimal sequences.
    """

    rows: int = 0
    successes: int = 0
    steps: int = 0
    redundant: int = 0
    minimal: int = 0

    def add(self, row: dict[str, Any]) -> None:
        """Add one verified row."""
        self.rows += 1
        if not row["success"]:
            return
        self.successes += 1
        self.steps += len(row["actions"])
        self.redundant += row["labels"].count(0)
        self.minimal += len(row["minimal"])


@dataclass
class Redundancy:
    """Counts over the rows of one verification.

    Attributes:
        env: name of the environment.
        canonical: its standard form of an action, so that aliases count as one verb.
    """

    env: str
    canonical: Callable[[str], str]
    total: Counts = field(default_factory=Counts)
    by_type: dict[str, Counts] = field(default_factory=dict)
    verbs: Counter[str] = field(default_factory=Counter)
    redundant_verbs: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    def counting(self, verified: Iterable[VerifiedRow]) -> Iterator[dict[str, Any]]:
        """Hand the rows through and count them."""
        for each in verified:
            self.add(each)
            yield each.row

    def add(self, verified: VerifiedRow) -> None:
        """Count one row."""
        row = verified.row
        if verified.task is None:
            self.errors.append(row["error"])
            return
        self.total.add(row)
        self.by_type.setdefault(verified.task.type, Counts()).add(row)
        for action, label in zip(row["actions"], row["labels"] or (), strict=False):
            verb = self._verb(action)
            self.verbs[verb] += 1
            self.redundant_verbs[verb] += label == 0

    def summary(self) -> str:
        """Sum up in a line: rows, successes and their redundant steps."""
        total = self.total
        rows = counted(total.rows + len(self.errors), "row")
        successes = counted(total.successes, "success", "successes")
        return f"{rows}, {successes}, {total.redundant:,} of {total.steps:,} steps redundant"

    def markdown(self) -> str:
        """Write the page."""
        parts = [
            "# Redundancy of recorded trajectories",
            f"Environment: {self.env}. Steps, redundancy and minimal sequences are those of the "
            "successes; a step is redundant when the replay without it, and without what could "
            "not be executed any more, still solved the task. Steps that could not be executed "
            "count as redundant; steps that only look are necessary by default, not by test.",
            self._overview(),
        ]
        if self.total.successes:
            parts += ["## By task type", self._types(), "## Redundant steps by verb", self._verbs()]
        if self.errors:
            parts += [f"## {counted(len(self.errors), 'row')} in error", self._errors()]
        return "\n\n".join(parts) + "\n"

    def _overview(self) -> str:
        total = self.total
        rows = [
            ("rows", str(total.rows + len(self.errors))),
            ("rows in error", str(len(self.errors))),
            ("successes", str(total.successes)),
            ("not successful in replay", str(total.rows - total.successes)),
            ("steps of successes", str(total.steps)),
            ("redundant steps", f"{total.redundant} ({_share(total.redundant, total.steps)})"),
            ("steps of the minimal sequences", str(total.minimal)),
            ("steps saved by them", _saving(total)),
        ]
        return markdown(("what", "count"), rows)

    def _types(self) -> str:
        header = ("type", "rows", "successes", "steps", "redundant", "share", "minimal", "saved")
        rows = [
            (
                _cell(name),
                *map(str, (each.rows, each.successes, each.steps, each.redundant)),
                _share(each.redundant, each.steps),
                str(each.minimal),
                _saving(each),
            )
            for name, each in sorted(self.by_type.items())
        ]
        return markdown(header, rows)

    def _verbs(self) -> str:
        most = sorted(self.redundant_verbs.items(), key=lambda item: (-item[1], item[0]))
        rows = [
            (_cell(verb), str(count), str(self.verbs[verb]), _share(count, self.verbs[verb]))
            for verb, count in most[:MOST_VERBS]
            if count
        ]
        return markdown(("verb", "redundant", "of all", "share"), rows)

    def _errors(self) -> str:
        lines = [f"- {_cell(error)}" for error in self.errors[:MOST_ERRORS]]
        if len(self.errors) > MOST_ERRORS:
            lines.append(f"- and {len(self.errors) - MOST_ERRORS} more, in the output")
        return "\n".join(lines)

    def _verb(self, action: object) -> str:
        """First word of the action in standard form."""
        found = _WORD.search(self.canonical(action)) if isinstance(action, str) else None
        return found[0].lower() if found else "(no action)"


def _share(part: int, whole: int) -> str:
    return figure(part / whole if whole else None, True)


def _saving(counts: Counts) -> str:
    saved = counts.steps - counts.minimal
    return f"{saved} ({_share(saved, counts.steps)})"


def _cell(text: str) -> str:
    """Make text of others harmless in Markdown."""
    return re.sub(r"([\\|<>`*_\[\]])", r"\\\1", text)
