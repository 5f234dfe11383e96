"""Learning curves: every metric that the stages of some runs committed, over iterations."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trajevolve.errors import UserError

#: metric of a run, ``<stage>/<name>`` -> its points (iteration, value), by iteration.
Curves = Mapping[str, Sequence[tuple[int, float]]]

COLUMNS = 3


@dataclass(frozen=True)
class RunCurves:
    """All curves of one run.

    Attributes:
        run: name of the run.
        curves: ``<stage>/<metric>`` -> (iteration, value); not finite values are left out.
    """

    run: str
    curves: Curves


def read_curves(run_dir: Path) -> RunCurves:
    """Read what the stages of a run have committed so far.

    Raises:
        UserError: the folder holds no committed stage, or a metrics file cannot be read.
    """
    curves: dict[str, list[tuple[int, float]]] = defaultdict(list)
    commits = sorted(run_dir.glob("iter_*/*/commit.json"))
    if not commits:
        raise UserError(f"{run_dir}: no stage is committed yet; train first")
    for commit in commits:
        iteration = int(commit.parent.parent.name.removeprefix("iter_"))
        metrics = dict(_read_json(commit.with_name("metrics.json")))
        metrics["seconds"] = _read_json(commit).get("seconds")
        for name, value in metrics.items():
            if isinstance(value, int | float) and math.isfinite(value):
                curves[f"{commit.parent.name}/{name}"].append((iteration, float(value)))
    return RunCurves(run_dir.name, dict(curves))


def draw_curves(runs: Sequence[RunCurves], stage: str, path: Path) -> None:
    """Draw one panel per metric of `stage`, one line per run, into a PNG or SVG file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    names = sorted({name for run in runs for name in run.curves if name.startswith(f"{stage}/")})
    height = math.ceil(len(names) / COLUMNS)
    figure = Figure(figsize=(4.2 * COLUMNS, 2.8 * height), layout="constrained")
    axes = figure.subplots(height, COLUMNS, squeeze=False).flatten()
    for axis, name in zip(axes, names, strict=False):
        _panel(axis, name.removeprefix(f"{stage}/"), name, runs)
    for axis in axes[len(names) :]:
        axis.set_visible(False)
    if len(runs) > 1:
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", frameon=False)
    figure.suptitle(stage, x=0.01, ha="left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def stages(runs: Sequence[RunCurves]) -> list[str]:
    """Name the stages that have at least one curve."""
    return sorted({name.partition("/")[0] for run in runs for name in run.curves})


def _panel(axis: Any, title: str, name: str, runs: Sequence[RunCurves]) -> None:
    for number, run in enumerate(runs):
        points = run.curves.get(name, ())
        axis.plot(
            [iteration for iteration, _ in points],
            [value for _, value in points],
            label=run.run,
            color=f"C{number}",
            marker="." if len(points) < 2 else None,
            linewidth=1.2,
        )
    axis.set_title(title, fontsize=9)
    axis.set_xlabel("iteration", fontsize=8)
    axis.tick_params(labelsize=8)
    axis.grid(alpha=0.3)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected an object, got {type(content).__name__}")
    return content
