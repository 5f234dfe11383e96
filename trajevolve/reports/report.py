"""A report of some runs: one Markdown page with tables, and figures beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trajevolve.errors import UserError
from trajevolve.files import write_atomically
from trajevolve.manifest import load_manifest
from trajevolve.progress import tracked, working
from trajevolve.reports.comparability import unlike
from trajevolve.reports.curves import draw_curves, read_curves, stages
from trajevolve.reports.splits import split_table
from trajevolve.reports.tables import comparison_table, evolution_table, time_table, type_table

OVERVIEW = (
    "rollout/success",
    "rollout/steps",
    "rollout/invalid_share",
    "verification/redundancy",
    "evaluation/success",
    "evaluation/steps",
    "update/kl",
    "update/clip_fraction",
    "labelling/success/accuracy",
)


def write_report(
    run_dirs: Sequence[Path], out: Path, evaluations: Sequence[Mapping[str, Any]] = ()
) -> Path:
    """Write ``report.md`` and its figures to `out` and return the page's path.

    Runs that are not finished have curves and no row in the tables.

    Args:
        run_dirs: folders of runs.
        out: where to.
        evaluations: what ``evaluate --output`` wrote, for a table of splits.

    Raises:
        UserError: a folder is not a run, or nothing in it is committed yet.
    """
    curves = [read_curves(run_dir) for run_dir in run_dirs]
    summaries = [found for run_dir in run_dirs if (found := _summary(run_dir)) is not None]
    figures = {"overview": OVERVIEW, **{stage: None for stage in stages(curves)}}
    drawn = []
    with working("drawing figures"):
        for name, chosen in tracked(list(figures.items())):
            if draw_curves(curves, name, out / f"{name}.png", chosen):
                drawn.append(name)
    differing = unlike([load_manifest(run_dir) for run_dir in run_dirs])
    page = _page([run_dir.name for run_dir in run_dirs], summaries, drawn, differing, evaluations)
    path = out / "report.md"
    write_atomically(path, lambda partial: partial.write_text(page, encoding="utf-8"))
    return path


def _page(
    runs: Sequence[str],
    summaries: Sequence[dict[str, Any]],
    figures: Sequence[str],
    differing: Sequence[str],
    evaluations: Sequence[Mapping[str, Any]],
) -> str:
    parts = [f"# Runs: {', '.join(runs)}"]
    unfinished = sorted(set(runs) - {summary["run"] for summary in summaries})
    if unfinished:
        parts.append(f"Not finished, so without a row below: {', '.join(unfinished)}.")
    parts += [f"**Mind: {line}.**" for line in differing]
    if summaries:
        parts += [
            "## Results",
            "Intervals are Wilson's at 95 %; redundancy is the share of steps that verification "
            "can leave out, over successes.",
            comparison_table(summaries),
            "## Success by task type after training",
            type_table(summaries),
            "## Evolved trajectories",
            evolution_table(summaries),
            "## Wall time",
            time_table(summaries),
        ]
    if evaluations:
        parts += ["## Success by split", split_table(evaluations)]
    parts.append("## Curves")
    parts += [f"![{name}]({name}.png)" for name in figures]
    return "\n\n".join(parts) + "\n"


def _summary(run_dir: Path) -> dict[str, Any] | None:
    path = run_dir / "summary.json"
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version = content["schema_version"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path}: cannot be read; run the training command again") from None
    if version != 1:
        raise UserError(f"{path}: schema_version {version}, this program reads 1")
    return {**content, "run": run_dir.name}  # the folder may be a copy, or have been renamed
