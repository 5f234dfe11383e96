"""`train` and `estimate`: start a run, go on with it, look at its plan, or hand it to a worker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trajevolve.cli.options import AsJson, ConfigFile, Overrides

if TYPE_CHECKING:
    from trajevolve.config import RunConfig


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(train)
    app.command()(estimate)


def train(
    config: ConfigFile = None,
    overrides: Overrides = None,
    run: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the run; else its method and seed."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show stages and what is committed; start nothing.")
    ] = False,
    submit: Annotated[
        bool, typer.Option("--submit", help="Let the worker of `make serve` run it.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Train a policy. The same command again goes on where the run stopped.

    Without --config, params.yaml of the current folder is read where there is one. The run lies
    in runs/NAME and ends with runs/NAME/summary.json.
    """
    from trajevolve.cli.configuration import read_settings
    from trajevolve.cli.outcome import same_command, show_outcome
    from trajevolve.cli.output import note, print_json, telling
    from trajevolve.manifest import run_folder
    from trajevolve.preflight import check
    from trajevolve.progress import working
    from trajevolve.wording import counted

    settings, origin = read_settings(config, overrides or [])
    name = f"{settings.method}-seed{settings.seed}" if run is None else run
    run_dir = run_folder(name)
    plan = plan_of(settings, run_dir) | {"configuration": origin}
    with working("looking for what the run needs"):
        notes = check(settings)
    note(
        f"run {run_dir}: {settings.method}, {counted(settings.iterations, 'iteration')}, "
        f"configuration: {origin}"
    )
    for line in notes if dry_run or submit else ():  # else the flow looks too, and says it
        note(f"note: {line}")
    if dry_run:
        print_json(plan, indent=2) if json else show_plan(plan)
        return
    if submit:
        from trajevolve_flows.launch import submit_training

        flow_run = submit_training(settings, name)
        print_json({"flow_run": flow_run}) if json else typer.echo(f"submitted: {flow_run}")
        return
    from trajevolve_flows.launch import run_training

    following = plan["next"]
    if following is None:
        note("all of it is done already; another --run starts a new one")
    elif any(stage["committed"] for stage in plan["stages"].values()):
        note(f"going on with {following['stage']} in iter_{following['iteration']:04d}")
    stays = f"interrupted; what is committed in {run_dir} stays. To go on:"
    with telling(stays, same_command(name, config, overrides or [])):
        summary = run_training(settings, name)
    if json:
        print_json(summary, indent=2)
    else:
        show_outcome(summary, run_dir, settings)


def estimate(config: ConfigFile = None, overrides: Overrides = None, json: AsJson = False) -> None:
    """Say roughly what a configuration costs: time, memory and disk."""
    from dataclasses import asdict

    from trajevolve.cli.configuration import read_settings
    from trajevolve.cli.output import note, print_json
    from trajevolve.estimation import estimate as estimate_run
    from trajevolve.wording import counted

    settings, origin = read_settings(config, overrides or [])
    guess = estimate_run(settings)
    note(f"configuration: {origin}")
    if json:
        print_json(asdict(guess), indent=2)
        return
    unknown = "not measured on a GPU"
    time = unknown if guess.seconds is None else f"{guess.seconds / 60:.0f} min of one CPU thread"
    typer.echo(
        f"rough estimates, every episode counted at its step limit:\n"
        f"time    {time}\n"
        f"memory  {guess.memory_bytes / 2**30:.1f} GiB\n"
        f"disk    {guess.disk_bytes / 2**20:.0f} MiB\n"
        f"for     {counted(guess.episodes, 'episode')}, {counted(guess.steps, 'step')}, "
        f"{guess.parameters / 1e6:.1f} million parameters"
    )


def plan_of(settings: RunConfig, run_dir: Path) -> dict[str, Any]:
    """Count, per stage, how often it is due and how often it is committed.

    Raises:
        UserError: the run cannot be taken up with this configuration, see
            :func:`trajevolve.manifest.check_run`.
    """
    from trajevolve.ledger import Ledger
    from trajevolve.manifest import check_run
    from trajevolve.schedule import STAGES, all_stages, stages

    check_run(run_dir, settings)
    ledger = Ledger(run_dir, settings.digest())
    order: dict[str, dict[str, int]] = {stage: {"due": 0, "committed": 0} for stage in STAGES}
    for iteration, stage in all_stages(settings):
        order[stage]["due"] += 1
        order[stage]["committed"] += ledger.is_committed(iteration, stage)
    counts = {stage: row for stage, row in order.items() if row["due"]}
    point = ledger.next_point(settings.iterations + 1, lambda k: stages(settings, k))
    following = None if point is None else {"iteration": point.iteration, "stage": point.stage}
    return {
        "run": str(run_dir),
        "iterations": settings.iterations,
        "episodes_per_iteration": settings.rollout.groups * settings.rollout.group_size,
        "stages": counts,
        "next": following,
    }


def show_plan(plan: dict[str, Any]) -> None:
    """Print the plan for people."""
    from trajevolve.cli.output import print_table
    from trajevolve.wording import counted

    rows = [
        (stage, str(row["due"]), str(row["committed"])) for stage, row in plan["stages"].items()
    ]
    title = f"{plan['run']}: {counted(plan['iterations'], 'iteration')}"
    print_table(("stage", "due", "committed"), rows, title=title)
    following = plan["next"]
    if following is None:
        typer.echo("everything is committed")
    else:
        typer.echo(f"next: {following['stage']} of iteration {following['iteration']}")
