"""`view`: trajectories with the evidence for their labels, in one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from trajevolve.cli.options import RUNS, AsJson, BackendName, DataFolder, RunsFolder

if TYPE_CHECKING:
    from trajevolve.config import RunConfig
    from trajevolve.envs.contract import Environment
    from trajevolve.viewer.evidence import Evidence

PAGE = "trajectories.html"


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(view)


def view(
    what: Annotated[
        str,
        typer.Argument(
            metavar="RUN-OR-FILE", help="A run, a Parquet shard, or the JSON lines of verify."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Else reports/<name>/trajectories.html."),
    ] = None,
    evidence: Annotated[
        Literal["all", "redundant", "none"],
        typer.Option(help="Which steps are shown with the replay that leaves them out."),
    ] = "all",
    iteration: Annotated[
        list[int] | None,
        typer.Option(min=0, metavar="K", help="Of a run: this one only; may be repeated."),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="At most N trajectories, the first ones.")
    ] = 5000,
    env: Annotated[
        str | None,
        typer.Option(
            "--env", metavar="NAME", help="What replays it, where the input says nothing."
        ),
    ] = None,
    data: DataFolder = None,
    backend: BackendName = None,
    folder: RunsFolder = RUNS,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    json: AsJson = False,
) -> None:
    """Write one HTML file that shows trajectories step by step, with evidence.

    Redundant and necessary steps stand beside the replay without them, executed by the environment
    as the page is written; evolved trajectories beside their parents. The file loads nothing.
    """
    from trajevolve.cli.options import environment_options
    from trajevolve.cli.output import note, print_json
    from trajevolve.cli.outputs import new_file
    from trajevolve.envs.registry import make_env
    from trajevolve.files import check_writable
    from trajevolve.progress import advance, working
    from trajevolve.viewer.collect import document, gather_evidence, limited
    from trajevolve.viewer.page import write_page
    from trajevolve.viewer.source import read_source
    from trajevolve.wording import counted

    if out is not None:
        new_file("--out", out)
    options = environment_options(data, backend)
    chosen = make_env(env, **options) if env is not None else None

    def open_environment(named: str | None, config: RunConfig | None) -> Environment:
        return chosen or _environment(named, config, options)

    found = _find(what, folder)
    source = limited(read_source(found, open_environment, iteration or ()), limit)
    target = out or Path("reports") / source.name / PAGE
    try:
        check_writable(target)
        with working("replaying without each step"):
            replayed = gather_evidence(source, evidence, advance)
    finally:
        if source.environment:
            source.environment.close()
    notes = [*source.notes, *_unshown(replayed)]
    size = write_page(target, document(source, replayed, evidence))
    for line in notes:
        note(f"note: {line}")
    if show:
        import webbrowser

        webbrowser.open(target.resolve().as_uri())
    if json:
        print_json(
            {
                "path": str(target),
                "trajectories": len(source.trajectories),
                "replays": sum(len(each.counterfactuals) for each in replayed.values()),
                "bytes": size,
                "notes": notes,
            }
        )
    else:
        shown = counted(len(source.trajectories), "trajectory", "trajectories")
        typer.echo(f"{shown}, {size / 1e6:.1f} MB -> {target}")


def _unshown(replayed: Mapping[str, Evidence]) -> Iterator[str]:
    """Say how many trajectories have no replays, and the first reason."""
    from trajevolve.wording import counted

    problems = [each.problem for each in replayed.values() if each.problem]
    if problems:
        lost = counted(len(problems), "trajectory", "trajectories")
        yield f"{lost} without replays: {problems[0]}"


def _find(what: str, runs: Path) -> Path:
    """Return the file or the run's folder that is meant."""
    from trajevolve.cli.options import find_run
    from trajevolve.errors import UserError

    if Path(what).is_file():
        return Path(what)
    if what.endswith((".parquet", ".jsonl", ".json")):
        raise UserError(f"{what}: no such file; give a run, a Parquet shard or JSON lines")
    return find_run(what, runs)


def _environment(
    named: str | None, config: RunConfig | None, options: dict[str, Any]
) -> Environment:
    """Make what replays where --env does not say: the run's own, or what the rows name.

    A name that merely stands in a file of rows loads nobody's code: it has to be a built-in one.
    """
    from trajevolve.envs.registry import BUILT_IN, configured_env, make_env
    from trajevolve.errors import UserError

    if config is not None:
        return configured_env(config.env.model_copy(update=options))
    if named in BUILT_IN:
        return make_env(named, **options)
    if named is None:
        raise UserError("the input does not say which environment it is of; name it with --env")
    raise UserError(f"environment {named!r} is not a built-in one; name it with --env")
