"""Options that several commands share, and what they build."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from trajevolve.envs.contract import Environment

RUNS = Path("runs")
EnvName = Annotated[
    str, typer.Option("--env", metavar="NAME", help="alfworld, or module:attribute of your own.")
]
DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", help="The published data; else $ALFWORLD_DATA, else data/."
    ),
]
BackendName = Annotated[
    str | None,
    typer.Option(metavar="simulator|engine", help="What plays ALFWorld games."),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="A params.yaml.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="a.b=value", help="Change one value; may be repeated."),
]
RunsFolder = Annotated[Path, typer.Option("--runs", metavar="DIR", help="Where runs lie.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


def refuse(reason: str, **given: object) -> None:
    """Refuse what would have no effect.

    Args:
        reason: why it would not.
        given: option -> its value; None, False and [] when it was not given.

    Raises:
        UserError: one was given.
    """
    from trajevolve.errors import UserError

    names = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if names:
        raise UserError(f"{', '.join(names)}: {reason}")


def environment_options(data: Path | None, backend: str | None, **others: Any) -> dict[str, Any]:
    """Collect the options that were given, for ``make_env``; a missing folder is an error.

    Raises:
        UserError: `data` is not a folder, or `backend` is unknown.
    """
    from trajevolve.errors import UserError

    if data is not None and not data.is_dir():
        raise UserError(f"--data {data}: no such folder; give the one that holds the splits")
    if backend not in (None, "simulator", "engine"):
        raise UserError(f"--backend {backend!r}: unknown; expected simulator or engine")
    given = {"data": str(data) if data else None, "backend": backend, **others}
    return {name: value for name, value in given.items() if value is not None}


def open_environment(
    name: str, data: Path | None, backend: str | None, **others: Any
) -> Environment:
    """Make the environment that --env, --data and --backend name."""
    from trajevolve.envs.registry import make_env

    return make_env(name, **environment_options(data, backend, **others))


def find_run(run: str, runs: Path) -> Path:
    """Find a run by name under `runs`, or by its folder.

    Raises:
        UserError: there is none; the text lists what exists.
    """
    from trajevolve.errors import UserError

    for folder in (runs / run, Path(run)):
        if folder.is_dir():
            return folder
    names = sorted(path.parent.name for path in runs.glob("*/manifest.json"))
    known = f"runs there: {', '.join(names)}" if names else "no run is there yet"
    raise UserError(f"run {run!r}: not found under {runs} and no folder of that name; {known}")
