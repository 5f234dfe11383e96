"""What a run shows while it runs: one line an iteration, and Prefect artifacts.

Prefect keeps a page for each key with all its versions; a run that is started again adds versions
to its own pages, with the iterations of earlier starts in them.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from trajevolve.description import code, places, plain, result_text, variant
from trajevolve.experiment import Experiment
from trajevolve.model_card import CARD
from trajevolve.reports.tables import outcome_line
from trajevolve.schedule import Stage, stages
from trajevolve.tracker import Place
from trajevolve.viewer.ends import PAGE
from trajevolve.wording import counted

Logger = logging.Logger | logging.LoggerAdapter[Any]
ROWS = 200
LOCAL = "http://127.0.0.1:5000/"
# Column of the table: where its number comes from. A column that no row has is left out.
COLUMNS: dict[str, tuple[Stage, str]] = {
    "success": ("rollout", "success"),
    "steps": ("rollout", "steps"),
    "invalid": ("rollout", "invalid_share"),
    "redundancy": ("verification", "redundancy"),
    "selection": ("evaluation", "success"),
    "kl": ("update", "kl"),
    "approx_kl": ("update", "approx_kl"),
    "clip_fraction": ("update", "clip_fraction"),
}


class Board:
    """Progress, table and links of one flow run."""

    def __init__(self, experiment: Experiment, logger: Logger) -> None:
        """Show where to look, and how far an earlier start had come.

        Args:
            experiment: the run.
            logger: of the flow run.
        """
        self._experiment = experiment
        self._logger = logger
        self._key = artifact_key(experiment.run_dir.name)
        self._rows: dict[int, dict[str, float]] = {}
        self._progress = UUID(
            str(
                create_progress_artifact(
                    0.0, key=f"{self._key}-progress", description="Iterations done."
                )
            )
        )
        place = experiment.tracker.place
        if place is not None and not place.command:
            create_link_artifact(place.page, "Run in MLflow", key=f"{self._key}-mlflow")
        create_markdown_artifact(
            links_text(experiment.run_dir, variant(experiment.config), place),
            key=f"{self._key}-links",
            description=f"Where to look; {variant(experiment.config)}.",
        )
        iterations = experiment.config.iterations
        if iterations and not experiment.ledger.is_committed(0, "evaluation_before"):
            evaluation = experiment.config.evaluation
            self._logger.info(
                "measuring the policy to start from on %s of %s, then %s",
                counted(evaluation.panel_size, "task"),
                evaluation.panel,
                counted(iterations, "iteration"),
            )

    def begin(self) -> None:
        """Show how the policy does that training starts from."""
        measured = self._experiment.commit(0, "evaluation_before").metrics
        self._logger.info("start: success %.3f, steps %.1f", measured["success"], measured["steps"])

    def show(self, iteration: int) -> None:
        """Show one finished iteration."""
        iterations = self._experiment.config.iterations
        for earlier in range(max(0, iteration + 1 - ROWS), iteration + 1):
            if earlier not in self._rows:
                self._rows[earlier] = self._row(earlier)
        rows = list(self._rows.values())[-ROWS:]
        update_progress_artifact(self._progress, 100.0 * (iteration + 1) / iterations)
        create_table_artifact(
            rectangular(rows),
            key=f"{self._key}-iterations",
            description=f"{iteration + 1} of {counted(iterations, 'iteration')}.",
        )
        self._logger.info(
            "iteration %d/%d: success %.3f, steps %.1f, redundancy of successes %s",
            iteration + 1,
            iterations,
            rows[-1]["success"],
            rows[-1]["steps"],
            f"{rows[-1]['redundancy']:.3f}" if rows[-1]["success"] else "-",
        )

    def close(self, summary: Path) -> None:
        """Show the result and where it lies."""
        content = json.loads(summary.read_text(encoding="utf-8"))
        run_dir = self._experiment.run_dir
        update_progress_artifact(self._progress, 100.0)
        create_markdown_artifact(
            f"# {plain(run_dir.name)}: {plain(variant(self._experiment.config))}\n\n"
            f"{result_text(content)}\n\n## Files\n\n{files_text(run_dir)}\n\n"
            f"## Commands\n\n{places(run_dir, finished=True)}\n",
            key=f"{self._key}-result",
            description=outcome_line(content),
        )
        self._logger.info("finished: %s", outcome_line(content))

    def _row(self, iteration: int) -> dict[str, float]:
        experiment = self._experiment
        due = stages(experiment.config, iteration)
        metrics = {
            stage: experiment.commit(iteration, stage).metrics
            for stage, _ in COLUMNS.values()
            if stage in due
        }
        row = {
            column: float(f"{metrics[stage][name]:.4g}")
            for column, (stage, name) in COLUMNS.items()
            if name in metrics.get(stage, ())
        }
        return {"iteration": iteration, **row}


def artifact_key(run: str) -> str:
    """Turn the name of a run into what Prefect takes: lowercase letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", run.lower()).strip("-") or "run"


def links_text(run_dir: Path, name: str, place: Place | None) -> str:
    """Say in Markdown where the run is seen, and with which commands."""
    title = f"# {plain(run_dir.name)}: {plain(name)}"
    return f"{title}\n\n{mlflow_text(place)}\n\n{places(run_dir, finished=False)}\n"


def mlflow_text(place: Place | None) -> str:
    """Link the run in MLflow, or say what shows it."""
    if place is None:
        return "MLflow: switched off (`tracking.enabled`)."
    if not place.command:
        return f"MLflow: [this run]({place.page}), [all runs]({place.table})."
    return (
        f"MLflow: {code(place.command)}, then [this run]({LOCAL}{place.page}) "
        f"({code(place.run_id)}) and [all runs]({LOCAL}{place.table})."
    )


def files_text(run_dir: Path) -> str:
    """List what a finished run left, as addresses to paste: no page may link to a local file."""
    found = {
        "trajectories of its ends, step by step": run_dir / PAGE,
        "model card": run_dir / CARD,
        "summary": run_dir / "summary.json",
    }
    return "\n".join(
        f"- {name}: {code(path.as_uri())}" for name, path in found.items() if path.is_file()
    )


def rectangular(rows: list[dict[str, float]]) -> list[dict[str, float | None]]:
    """Give every row the same columns, in order; the pages take them from the first row."""
    columns = [name for name in ("iteration", *COLUMNS) if any(name in row for row in rows)]
    return [{name: row.get(name) for name in columns} for row in rows]
