"""What a run came to, and where everything of it lies."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from trajevolve.config import RunConfig

PREFECT_PAGE = "http://127.0.0.1:4200"


def show_outcome(summary: Mapping[str, Any], run_dir: Path, settings: RunConfig) -> None:
    """Print both ends of the run, what evolution did, and where everything lies."""
    from trajevolve.cli.output import print_table
    from trajevolve.reports.tables import outcome_line
    from trajevolve.wording import counted

    tasks = counted(summary["after"]["tasks"], "task")
    title = f"{summary['run']} on {summary['panel']} ({tasks})"
    print_table(("", "before", "after"), outcome_rows(summary), title=title)
    typer.echo(outcome_line(summary))
    for line in (evolution_line(summary), result_line(summary)):
        if line:
            typer.echo(line)
    typer.echo("")
    for label, place in places(summary, run_dir, settings):
        typer.echo(f"{label:<9}{place}")


def outcome_rows(summary: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the rows (what, before, after), the interval of the success below it."""
    from trajevolve.reports.tables import end_rows, interval

    first, *others = end_rows(summary)
    before, after = (interval(summary[end]["success_interval"]) for end in ("before", "after"))
    return [first, ("  95 % interval", before, after), *others]


def evolution_line(summary: Mapping[str, Any]) -> str:
    """Say what each strategy of evolution came to; "" where nothing evolved."""
    parts = [
        f"{strategy} {counts['attempted']:,} tried, {counts['succeeded']:,} solved, "
        f"{counts['used']:,} used"
        for strategy, counts in summary["evolution"].items()
        if counts["attempted"]
    ]
    return f"evolved: {'; '.join(parts)}" if parts else ""


def result_line(summary: Mapping[str, Any]) -> str:
    """Say which of the run's policies is its result."""
    from trajevolve.wording import counted

    after, last = summary["updates_of_result"], summary["iterations"]
    if after == last:
        return ""
    updates = counted(last, "update")
    return f"result: the policy after {after} of {updates}, the best on the selection panel"


def places(summary: Mapping[str, Any], run_dir: Path, settings: RunConfig) -> list[tuple[str, str]]:
    """List what there is to look at: a label, and a path or a command."""
    from trajevolve.model_card import CARD
    from trajevolve.viewer.ends import PAGE

    run, here = run_dir.name, program()
    rows = [
        ("summary", str(run_dir / "summary.json")),
        ("steps", f"{here} view {run}"),
        ("report", f"{here} report {run}"),
    ]
    made = (("page", PAGE), ("card", CARD))
    rows[1:1] = [(label, str(run_dir / name)) for label, name in made if (run_dir / name).is_file()]
    if model := summary["paths"].get("model"):
        rows.append(("model", f"{run_dir / model}; {here} export {run} --as model --out DIR"))
    if settings.tracking.enabled:
        uri = settings.tracking.uri
        served = uri.startswith(("http://", "https://"))
        mlflow = shlex.quote(str(Path(here).with_name("mlflow"))) if "/" in here else "mlflow"
        rows.append(("MLflow", uri if served else f"{mlflow} ui --backend-store-uri {uri}"))
    rows.append(("Prefect", f"make serve, then {PREFECT_PAGE}"))
    return rows


def program() -> str:
    """Return what the command line starts this program with, as it was typed where possible."""
    typed = Path(sys.argv[0])
    if typed.name != "trajevolve":  # python -m trajevolve, or another program
        return "trajevolve"
    found = shutil.which("trajevolve")
    on_path = found is not None and Path(found).absolute() == typed.absolute()
    return "trajevolve" if on_path else shlex.quote(str(typed))


def same_command(run: str, config: Path | None, overrides: Sequence[str]) -> str:
    """Write the command that goes on with the run, ready to be pasted."""
    parts = ["train", "--run", run]
    parts += [] if config is None else ["--config", str(config)]
    parts += [part for override in overrides for part in ("--set", override)]
    return f"{program()} {shlex.join(parts)}"
