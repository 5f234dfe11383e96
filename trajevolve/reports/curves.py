"""Learning curves: every metric that the stages of some runs committed, over iterations."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trajevolve.errors import UserError
from trajevolve.files import write_atomically

COLUMNS = 3


@dataclass(frozen=True)
class RunCurves:
    """All curves of one run.

    Attributes:
        run: name of the run.
        curves: ``<stage>/<metric>`` -> (iteration, value); values that are not finite are left
            out. ``<stage>/seconds`` is the stage's wall time.
    """

    run: str
    curves: Mapping[str, Sequence[tuple[int, float]]]


def read_curves(run_dir: Path) -> RunCurves:
    """Read what the stages of a run have committed so far.

    Raises:
        UserError: nothing is committed, or a commit cannot be read.
    """
    from trajevolve.ledger import Ledger

    curves: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for commit in Ledger(run_dir, "").commits():
        metrics = {**commit.metrics, "seconds": commit.seconds}
        for name, value in metrics.items():
            if math.isfinite(value):
                key = f"{commit.stage}/{name.removeprefix(f'{commit.stage}/')}"
                curves[key].append((commit.iteration, value))
    if not curves:
        raise UserError(f"{run_dir}: no stage is committed yet; train first")
    return RunCurves(run_dir.name, dict(curves))


def stages(runs: Sequence[RunCurves]) -> list[str]:
    """Name the stages that have a curve of at least two points."""
    return sorted(
        {
            name.partition("/")[0]
            for run in runs
            for name, points in run.curves.items()
            if len(points) > 1
        }
    )


def draw_curves(
    runs: Sequence[RunCurves], title: str, path: Path, chosen: Sequence[str] | None = None
) -> bool:
    """Draw one panel per metric, one line per run, into a PNG file.

    Args:
        runs: what to draw.
        title: of the figure; without `chosen` the stage whose metrics are drawn.
        path: the file.
        chosen: names of curves; those that no run has are left out.

    Returns:
        False, and no file, when no run has any of the curves.
    """
    from matplotlib.figure import Figure

    there = {name for run in runs for name in run.curves}
    if chosen is None:
        names = sorted(name for name in there if name.startswith(f"{title}/"))
    else:
        names = [name for name in chosen if name in there]
    if not names:
        return False
    height = math.ceil(len(names) / COLUMNS)
    figure = Figure(figsize=(4.2 * COLUMNS, 2.7 * height + 0.5), layout="constrained")
    axes = figure.subplots(height, COLUMNS, squeeze=False).flatten()
    for axis, name in zip(axes, names, strict=False):
        _panel(axis, name if chosen else name.removeprefix(f"{title}/"), name, runs)
    for axis in axes[len(names) :]:
        axis.set_visible(False)
    if len(runs) > 1:
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", frameon=False, ncols=4)
    figure.suptitle(title, x=0.01, ha="left")
    write_atomically(path, lambda partial: figure.savefig(partial, dpi=110, format="png"))
    return True


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
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.tick_params(labelsize=8)
    axis.grid(alpha=0.3)
