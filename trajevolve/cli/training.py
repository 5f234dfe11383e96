"""`train` and `estimate`: start a run, go on with it, look at its plan, or hand it to a worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trajevolve.cli.options import AsJson, ConfigFile, Overrides

if TYPE_CHECKING:
    from trajevolve.config import RunConfig
    from trajevolve.envs.contract import Environment, Task

RUNS = Path("runs")


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
    from trajevolve.errors import UserError
    from trajevolve.manifest import RUN_NAME
    from trajevolve.progress import working
    from trajevolve.wording import counted

    settings, origin = read_settings(config, overrides or [])
    name = f"{settings.method}-seed{settings.seed}" if run is None else run
    if not RUN_NAME.fullmatch(name):
        raise UserError(
            f"--run {name!r}: expected a name of letters, digits, '.', '_' and '-', no path"
        )
    plan = plan_of(settings, RUNS / name) | {"configuration": origin}
    with working("looking for what the run needs"):
        notes = check(settings)
    note(
        f"run {RUNS / name}: {settings.method}, {counted(settings.iterations, 'iteration')}, "
        f"configuration: {origin}"
    )
    for line in notes:
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
    stays = f"interrupted; what is committed in {RUNS / name} stays. To go on:"
    with telling(stays, same_command(name, config, overrides or [])):
        summary = run_training(settings, name)
    if json:
        print_json(summary, indent=2)
    else:
        show_outcome(summary, RUNS / name, settings)


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


def check(settings: RunConfig) -> list[str]:
    """Find what would stop the run later, before anything is started.

    Returns:
        What the user should know though the run can do with it: splits with fewer tasks than
        asked for, and settings of which one takes the effect of another.

    Raises:
        UserError: the method, the model, the discriminator, the environment or its data is not
            there, there are no tasks, or the environment lacks what a setting needs.
    """
    from trajevolve.advantages.registry import LABELLED, estimator
    from trajevolve.cli.policies import check_model
    from trajevolve.credit.discriminator_loading import check_discriminator
    from trajevolve.credit.exploration import check_exploration
    from trajevolve.credit.oracle import distance_of
    from trajevolve.envs.registry import configured_env
    from trajevolve.evolution.evolve import check_oracle

    estimator(settings.method)
    environment = configured_env(settings.env)
    try:
        if settings.evolution.enabled:
            check_oracle(settings, distance_of(environment))
        if settings.method in LABELLED:
            check_exploration(settings, environment)
        notes = list(_check_tasks(settings, environment))
    finally:
        environment.close()
    check_model(settings.model.name, settings.env.name)
    if settings.discriminator.enabled:
        check_discriminator(settings.discriminator, settings.env.name)
    return [*notes, *_unjudged(settings)]


def _check_tasks(settings: RunConfig, environment: Environment) -> Iterator[str]:
    """Yield what is to be said about the splits. Raises UserError where one has no task."""
    from trajevolve.errors import UserError
    from trajevolve.wording import counted

    evaluation = settings.evaluation
    asked = [
        (settings.env.split, settings.rollout.groups, "rollout.groups"),
        (evaluation.panel, evaluation.panel_size, "evaluation.panel_size"),
    ]
    if evaluation.every:
        asked.append((evaluation.selection, evaluation.selection_size, "evaluation.selection_size"))
    found: dict[str, Sequence[Task]] = {}
    for split, count, key in asked:
        found[key] = environment.tasks(split, count)
        there = len(found[key])
        if not there:
            raise UserError(f"split {split!r}: holds no task; choose another split or data")
        if there < count:
            yield f"split {split} holds {counted(there, 'task')}, {key} = {count}"
    if evaluation.every:
        yield from _check_selection(
            found["evaluation.selection_size"], found["evaluation.panel_size"]
        )


def _check_selection(selection: Sequence[Task], panel: Sequence[Task]) -> Iterator[str]:
    """Yield a note where the checkpoint that is reported is chosen on what is reported."""
    from trajevolve.wording import counted

    chosen_on = {task.id for task in selection}
    shared = len(chosen_on.intersection(task.id for task in panel))
    if shared:
        yield (
            f"the best checkpoint is chosen on {counted(len(chosen_on), 'task')}, {shared} of them "
            "on the panel that is reported, so the result is optimistic; give another "
            "evaluation.selection, or take the last checkpoint with evaluation.every=0"
        )


def _unjudged(settings: RunConfig) -> Iterator[str]:
    evolution = settings.evolution
    judged = settings.discriminator.enabled or evolution.oracle_rollback
    if evolution.enabled and "rollback" in evolution.strategies and not judged:
        yield (
            "no failure will be rolled back: discriminator.enabled = false, so nothing says which "
            "step to go back to; set it to true, or leave rollback out of evolution.strategies"
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
