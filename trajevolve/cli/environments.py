"""`generate` and `check-env`: making games, and testing environments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trajevolve.cli.options import AsJson, DataFolder, refuse


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command()(generate)
    app.command("check-env")(check_env)


def generate(
    count: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many games; of webshop, products.")
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Games lie in DIR/<split>/<task>/<trial> afterwards."),
    ],
    seed: Annotated[int, typer.Option(min=0, metavar="S", help="Other seeds, other games.")] = 0,
    env: Annotated[str, typer.Option(metavar="NAME", help="alfworld or webshop.")] = "alfworld",
    difficulty: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL",
            help="easy, medium, hard, or ranges of receptacles,objects: 8-12,10-20.",
        ),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="A task type; may be repeated; else all six."),
    ] = None,
    split: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the split's folder; else train.")
    ] = None,
    data: DataFolder = None,
    json: AsJson = False,
) -> None:
    """Make fresh games, each with a proof that it can be solved, in the published layout.

    With --env webshop a shop of that many products, as `webshop generate` does; the options that
    follow are ALFWorld's.
    """
    from trajevolve.cli.output import note, print_json
    from trajevolve.cli.outputs import new_folder
    from trajevolve.envs.alfworld.export import write_games
    from trajevolve.errors import UserError
    from trajevolve.wording import counted

    if env == "webshop":
        from trajevolve.cli.webshop import generate as generate_shop

        reason = "is for ALFWorld's games; leave it out with --env webshop"
        refuse(reason, difficulty=difficulty, type=types, split=split, data=data)
        generate_shop(out, count, seed, json)
        return
    if env != "alfworld":
        raise UserError(f"--env {env!r}: has no generator; expected alfworld or webshop")
    split = split or "train"
    new_folder("--out", out)
    if Path(split).name != split or split.startswith("."):
        raise UserError(f"--split {split!r}: expected the name of a folder, for instance train")
    level = difficulty or "default"
    written = write_games(out, count, seed, level, tuple(types or ()), split, data)
    if json:
        files = [str(path) for path in written.files]
        print_json({"games": files, "playable_by_engine": written.playable_by_engine}, indent=2)
    else:
        typer.echo(f"{counted(len(written.files), 'game')} -> {out / split}")
    if written.note:
        note(written.note)


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
    from trajevolve.cli.output import note, print_json
    from trajevolve.envs.checker import check_environment
    from trajevolve.errors import UserError
    from trajevolve.wording import counted

    environment = open_environment(name, data, None)
    try:
        default = "generated:eval" if environment.spec.name == "alfworld" else "train"
        chosen = split or default
        listed = environment.tasks(chosen, tasks)
        if not listed:
            raise UserError(f"--split {chosen}: holds no task; choose another split or data")
        report = check_environment(environment, listed, seed)
    finally:
        environment.close()
    if len(listed) < tasks:
        note(f"note: split {chosen} holds {counted(len(listed), 'task')}, fewer than {tasks}")
    if json:
        print_json({"env": report.env, "passed": report.passed} | asdict(report), indent=2)
    else:
        typer.echo(str(report))
    if not report.passed:
        raise typer.Exit(1)
