"""`generate` and `check-env`: making games, and testing environments."""

from __future__ import annotations

from typing import Annotated

import typer

from trajevolve.cli.options import AsJson, DataFolder


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command("check-env")(check_env)


def check_env(
    name: Annotated[str, typer.Argument(metavar="NAME-OR-MODULE", help="alfworld or module:attr.")],
    split: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where the tasks come from.")
    ] = None,
    tasks: Annotated[int, typer.Option(min=1, metavar="N", help="How many to walk on.")] = 6,
    seed: Annotated[int, typer.Option(min=0, help="Of the random walks.")] = 0,
    data: DataFolder = None,
    json: AsJson = False,
) -> None:
    """Hold an environment against its contract: replay, snapshots, admissible actions, verbs.

    Exit status 1 when a check fails.
    """
    from dataclasses import asdict

    from trajevolve.cli.options import open_environment
    from trajevolve.cli.output import print_json
    from trajevolve.envs.checker import check_environment

    environment = open_environment(name, data, None)
    try:
        default = "generated:eval" if environment.spec.name == "alfworld" else "train"
        report = check_environment(environment, environment.tasks(split or default, tasks), seed)
    finally:
        environment.close()
    if json:
        print_json({"env": report.env, "passed": report.passed} | asdict(report), indent=2)
    else:
        typer.echo(str(report))
    if not report.passed:
        raise typer.Exit(1)
