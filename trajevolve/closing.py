"""The end of a run: what it leaves behind, written before the summary that says it is finished."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trajevolve.description import run_description
from trajevolve.experiment import Experiment
from trajevolve.files import write_atomically
from trajevolve.model_card import CARD, model_card
from trajevolve.summary import summarise, write_summary

log = logging.getLogger(__name__)


def conclude(experiment: Experiment) -> Path:
    """Write model card, page of trajectories and summary, tell MLflow, and return the summary.

    All of it can be done again. The summary comes last: a run that has it is not opened again.
    """
    summary = summarise(experiment)
    tracker = experiment.tracker
    card = _write_card(experiment, summary)
    if card:
        tracker.log_text("README.md", card)
    if experiment.config.tracking.page:
        _write_page(experiment)
    tracker.describe(run_description(experiment.config, experiment.run_dir, summary))
    tracker.finish(succeeded=True)
    return write_summary(experiment.run_dir, summary)


def _write_card(experiment: Experiment, summary: Mapping[str, Any]) -> str:
    """Write the card of the run's result; none where that is the model it started from."""
    updates = summary["updates_of_result"]
    if updates == 0:
        return ""
    path = experiment.run_dir / CARD
    text = model_card(experiment.run_dir, experiment.commit(updates - 1, "update"), summary)
    write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))
    return text


def _write_page(experiment: Experiment) -> None:
    """Write the page; whatever goes wrong with it, the run has its result."""
    from trajevolve.viewer.ends import write_ends

    if experiment.config.iterations == 0:
        return
    try:
        write_ends(experiment.run_dir, experiment.config, experiment.environment)
    except Exception as error:
        log.warning(
            "no page of trajectories was written (%s: %s); `trajevolve view %s` makes one",
            type(error).__name__,
            error,
            experiment.run_dir.name,
        )
