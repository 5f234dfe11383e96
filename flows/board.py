"""What a run shows while it runs: one line an iteration, and Prefect artifacts."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect.artifacts import (
    create_link_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from trajevolve.experiment import Experiment

Metrics = Mapping[str, float]
Logger = logging.Logger | logging.LoggerAdapter[Any]
ROWS = 200


class Board:
    """The progress bar and the table of one flow run."""

    def __init__(self, run: str, iterations: int, logger: Logger) -> None:
        """Start an empty board.

        Args:
            run: folder of the run.
            iterations: how many it has.
            logger: of the flow run.
        """
        self._key = re.sub(r"[^a-z0-9]+", "-", Path(run).name.lower()).strip("-") or "run"
        self._iterations = iterations
        self._logger = logger
        self._rows: list[dict[str, float]] = []
        self._progress = UUID(str(create_progress_artifact(0.0, key=f"{self._key}-progress")))

    def show(self, iteration: int, sampled: Metrics, verified: Metrics, updated: Metrics) -> None:
        """Show one finished iteration."""
        row = {
            "iteration": float(iteration),
            "success": sampled["success"],
            "steps": sampled["steps"],
            "invalid": sampled["invalid_share"],
            "redundancy": verified["redundancy"],
            **{
                name: updated[name]
                for name in ("kl", "approx_kl", "clip_fraction")
                if name in updated
            },
        }
        self._rows.append({name: round(value, 4) for name, value in row.items()})
        update_progress_artifact(self._progress, 100.0 * (iteration + 1) / self._iterations)
        create_table_artifact(self._rows[-ROWS:], key=f"{self._key}-iterations")
        self._logger.info(
            "iteration %d/%d: success %.3f, steps %.1f, redundancy of successes %.3f",
            iteration + 1,
            self._iterations,
            row["success"],
            row["steps"],
            row["redundancy"],
        )

    def close(self, summary: Path, experiment: Experiment) -> None:
        """Show the result and where it lies."""
        update_progress_artifact(self._progress, 100.0)
        create_link_artifact(summary.as_uri(), "summary.json", key=f"{self._key}-summary")
        content = json.loads(summary.read_text(encoding="utf-8"))
        rows = [
            {"policy": name, **{m: content[name][m] for m in ("success", "steps", "redundancy")}}
            for name in ("before", "after")
        ]
        create_table_artifact(rows, key=f"{self._key}-result")
        self._logger.info(
            "success %.3f -> %.3f on %s, summary in %s",
            rows[0]["success"],
            rows[1]["success"],
            experiment.config.evaluation.panel,
            summary,
        )
