"""`evaluate`: a policy on a fixed panel, every task once."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trajevolve.cli.options import (
    AsJson,
    BackendName,
    ConfigFile,
    DataFolder,
    Overrides,
    environment_options,
)

if TYPE_CHECKING:
    from trajevolve.cli.comparing import Earlier
    from trajevolve.config import RunConfig
    from trajevolve.evaluation import Comparison, Evaluation, Row

COLUMNS = (
    "task type",
    "tasks",
    "success",
    "95 % interval",
    "steps",
    "steps (successes)",
    "redundancy",
    "invalid",
)


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(evaluate)


def evaluate(
    model: Annotated[
        str | None, typer.Option(metavar="PATH", help="builtin, or a folder in HF layout.")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="random|expert", help="Instead of a model.")
    ] = None,
    env: Annotated[
        str | None, typer.Option("--env", metavar="NAME", help="Else the configuration's.")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="valid_seen, generated:eval, …; else evaluation.panel."),
    ] = None,
    data: DataFolder = None,
    backend: BackendName = None,
    tasks: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="A fixed sample of N tasks.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Step limit of an episode.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the policy's sampling.")] = 0,
    verify: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Measure the redundancy of successes.")
    ] = True,
    config: ConfigFile = None,
    overrides: Overrides = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An earlier --output on the same tasks, to compare."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the JSON here too.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Evaluate a model, or the random or expert policy, on a fixed panel.

    Shows success by task type with 95 % intervals (Wilson), mean steps of all and of successful
    episodes, the redundancy of successes and the share of invalid actions. Step limit, panel and
    the rest are the run's where the model is a checkpoint in its run, else those of params.yaml
    here, unless --config or an option says otherwise.
    """
    from trajevolve.cli.comparing import read_earlier
    from trajevolve.cli.configuration import evaluation_settings
    from trajevolve.cli.output import note, print_json, telling
    from trajevolve.cli.outputs import new_file
    from trajevolve.errors import UserError
    from trajevolve.evaluation import compare
    from trajevolve.files import write_json
    from trajevolve.wording import counted

    environment_options(data, backend)  # a mistake in them, also where the split needs neither
    earlier = None if against is None else read_earlier(against)
    chosen = {
        "env.name": env,
        "env.data": None if data is None else str(data),
        "env.backend": backend,
        "env.step_limit": limit,
        "evaluation.panel": split,
        "model.name": model,
    }
    settings, origin = evaluation_settings(config, overrides or [], chosen)
    if model is not None and policy is not None:
        raise UserError("--model and --policy: give one of the two")
    if model is None and policy is None and config is None:
        raise UserError("give one of --model PATH and --policy random|expert")
    if output is not None:
        new_file("--output", output)
    facts = _conditions(settings, policy, seed) | {"configuration": origin}
    here = "this evaluation" if output is None else str(output)
    if earlier is not None:
        earlier.check_conditions(facts, here)
    asked = tasks
    if tasks is None and (split is None or split.startswith("generated:")):
        asked = settings.evaluation.panel_size
    with telling("interrupted; an evaluation is made in one go, so nothing is kept"):
        evaluation = run_panel(settings, policy, asked, seed, verify, earlier, here)
    facts["tasks_asked"] = asked
    note(f"configuration: {origin}")
    if tasks is not None and tasks > evaluation.overall.tasks:
        there = counted(evaluation.overall.tasks, "task")
        note(f"note: split {facts['split']} holds {there}, not the {tasks:,} asked for")
    summary = facts | evaluation.summary()
    comparison = None if earlier is None else compare(earlier.episodes, evaluation.episodes, seed=0)
    if comparison is not None:
        from dataclasses import asdict

        summary["comparison"] = {"against": str(against), **asdict(comparison)}
    if output is not None:
        write_json(output, summary)
        note(f"written: {output}")
    if json:
        print_json(summary, indent=2)
        return
    show(evaluation, facts)
    if comparison is not None:
        show_comparison(comparison)


def run_panel(
    settings: RunConfig,
    policy: str | None,
    count: int | None,
    seed: int,
    verify: bool,
    earlier: Earlier | None = None,
    here: str = "",
) -> Evaluation:
    """Play the panel that `settings` names and count it.

    Prompts that were cut and successes whose verification broke are told on stderr.

    Args:
        settings: environment, panel, model.
        policy: random or expert, instead of the model.
        count: how many tasks at most; None: all that the split holds.
        seed: of the policy's sampling.
        verify: measure redundancy.
        earlier: an evaluation that has to be of the same tasks.
        here: name of this one.
    """
    from trajevolve.cli.output import note
    from trajevolve.cli.policies import make_agent
    from trajevolve.envs.registry import configured_env
    from trajevolve.errors import one_line
    from trajevolve.evaluation import measure, play_panel
    from trajevolve.problems import truncation
    from trajevolve.progress import advance, working

    split = settings.evaluation.panel
    warnings = []
    with (
        working(f"evaluating on {split}"),
        closing(configured_env(settings.env)) as environment,
    ):
        panel = environment.tasks(split, count)
        if earlier is not None:
            earlier.check_tasks({task.id for task in panel}, here)
        agent = make_agent(settings, policy, settings.evaluation.temperature)
        played = play_panel(
            panel,
            agent,
            lambda: configured_env(settings.env),
            settings.env,
            seed,
            advance,
        )
        warnings.append(truncation(played, settings.agent.max_prompt_tokens))
        if verify:
            from trajevolve.credit.labelling import verify_trajectories
            from trajevolve.credit.lots import helpers

            by_id = {task.id: task for task in panel}
            beside = helpers(environment, lambda: configured_env(settings.env))
            with ExitStack() as held:
                for each in beside:
                    held.callback(each.close)
                played, stats = verify_trajectories(
                    environment,
                    by_id,
                    played,
                    settings.credit,
                    settings.env.step_timeout_s,
                    beside,
                )
            warnings.append(stats.warning)
    for warning in filter(None, warnings):
        note(f"warning: {one_line(warning)}")
    return measure(played)


def _conditions(settings: RunConfig, policy: str | None, seed: int) -> dict[str, Any]:
    """Collect what an evaluation depends on."""
    return {
        "env": settings.env.name,
        "split": settings.evaluation.panel,
        "policy": policy or settings.model.name,
        "options": dict(settings.env.options),
        "step_limit": settings.env.step_limit,
        "temperature": settings.evaluation.temperature if policy is None else None,
        "seed": seed,
    }


def show(evaluation: Evaluation, facts: dict[str, Any]) -> None:
    """Print the table for people."""
    from trajevolve.cli.output import print_table
    from trajevolve.reports.tables import figure

    rows = [_cells(name, row) for name, row in evaluation.types.items()]
    rows.append(_cells("all", evaluation.overall))
    options = "".join(f"{name} {value}, " for name, value in facts["options"].items())
    title = (
        f"{facts['policy']} on {facts['env']} {facts['split']}, {options}"
        f"step limit {facts['step_limit']}, seed {facts['seed']}"
    )
    print_table(COLUMNS, rows, title=title)
    overall = evaluation.overall
    if overall.score != overall.success:
        typer.echo(f"mean score (a success has 100 %): {figure(overall.score, share=True)}")


def show_comparison(comparison: Comparison) -> None:
    """Print the paired comparison in two lines."""
    low, high = comparison.success_interval
    typer.echo(
        f"success {comparison.success_difference:+.1%} [{low:+.1%}, {high:+.1%}] on "
        f"{comparison.tasks} paired tasks (won only before: {comparison.only_a}, only now: "
        f"{comparison.only_b}; 95 %, Bonett-Price)"
    )
    low, high = comparison.steps_interval
    typer.echo(
        f"steps {comparison.steps_difference:+.2f} [{low:+.2f}, {high:+.2f}] (95 %, bootstrap)"
    )


def _cells(name: str, row: Row) -> tuple[str, ...]:
    from trajevolve.reports.tables import figure, interval

    return (
        name,
        str(row.tasks),
        figure(row.success, share=True),
        interval(row.success_interval),
        _figure(row.steps),
        _figure(row.steps_successful),
        figure(row.redundancy, share=True),
        figure(row.invalid_share, share=True),
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
