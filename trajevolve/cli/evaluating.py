"""`evaluate`: a policy on a fixed panel, every task once."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trajevolve.cli.options import (
    AsJson,
    BackendName,
    ConfigFile,
    DataFolder,
    Overrides,
)

if TYPE_CHECKING:
    from trajevolve.config import RunConfig
    from trajevolve.evaluation import Comparison, EpisodeResult, Evaluation, Row

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
    episodes, the redundancy of successes and the share of invalid actions.
    """
    from trajevolve.cli.output import note, print_json
    from trajevolve.errors import UserError
    from trajevolve.evaluation import compare
    from trajevolve.files import check_writable, write_json

    earlier = None if against is None else _read(against)
    chosen = {
        "env.name": env,
        "env.data": None if data is None else str(data),
        "env.backend": backend,
        "env.step_limit": limit,
        "evaluation.panel": split,
        "model.name": model,
    }
    settings = _settings(config, overrides or [], chosen)
    if (model is None) == (policy is None) and config is None:
        raise UserError("give one of --model PATH and --policy random|expert")
    if output is not None:
        check_writable(output)
    evaluation, facts = run_panel(settings, policy, tasks, seed, verify)
    summary = facts | evaluation.summary()
    comparison = None if earlier is None else compare(earlier, evaluation.episodes, seed=0)
    if comparison is not None:
        from dataclasses import asdict

        summary["comparison"] = {"against": str(against), **asdict(comparison)}
    if output is not None:
        write_json(output, summary)
        note(f"written: {output}")
    if json:
        print_json(summary, indent=2)
    else:
        show(evaluation, facts)
        if comparison is not None:
            show_comparison(comparison)


def run_panel(
    settings: RunConfig, policy: str | None, count: int | None, seed: int, verify: bool
) -> tuple[Evaluation, dict[str, Any]]:
    """Play the panel that `settings` names and count it; return it with the facts around it."""
    from trajevolve.cli.output import Progress
    from trajevolve.cli.policies import make_agent
    from trajevolve.envs.registry import configured_env
    from trajevolve.evaluation import measure, play_panel

    split = settings.evaluation.panel
    if count is None and split.startswith("generated:"):
        count = settings.evaluation.panel_size
    with closing(configured_env(settings.env)) as environment:
        agent = make_agent(settings, policy, settings.evaluation.temperature)
        panel = environment.tasks(split, count)
        played = play_panel(
            panel,
            agent,
            lambda: configured_env(settings.env),
            settings.env,
            seed,
            Progress(f"evaluating on {split}"),
        )
        if verify:
            from trajevolve.credit.labelling import verify_trajectories

            by_id = {task.id: task for task in panel}
            played, _ = verify_trajectories(environment, by_id, played, settings.credit)
    facts = {
        "env": settings.env.name,
        "split": split,
        "policy": policy or settings.model.name,
        "step_limit": settings.env.step_limit,
        "temperature": settings.evaluation.temperature if policy is None else None,
        "seed": seed,
    }
    return measure(played), facts


def show(evaluation: Evaluation, facts: dict[str, Any]) -> None:
    """Print the table for people."""
    from trajevolve.cli.output import print_table

    rows = [_cells(name, row) for name, row in evaluation.types.items()]
    rows.append(_cells("all", evaluation.overall))
    title = (
        f"{facts['policy']} on {facts['env']} {facts['split']}, "
        f"step limit {facts['step_limit']}, seed {facts['seed']}"
    )
    print_table(COLUMNS, rows, title=title)


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
    low, high = row.success_interval
    return (
        name,
        str(row.tasks),
        _percent(row.success),
        f"{100 * low:.1f}-{100 * high:.1f} %",
        _figure(row.steps),
        _figure(row.steps_successful),
        _percent(row.redundancy),
        _percent(row.invalid_share),
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _settings(
    config: Path | None, overrides: Sequence[str], chosen: Mapping[str, Any]
) -> RunConfig:
    """Lay the command's own options over --set, over the configuration.

    Without --config a model is prompted as it was in training, where that is recorded.
    """
    from trajevolve.cli.policies import recorded_agent
    from trajevolve.config import load_config

    model = chosen["model.name"]
    recorded = recorded_agent(model) if model and config is None else {}
    before = [f"agent.{key}={json_module.dumps(value)}" for key, value in recorded.items()]
    given = [
        f"{key}={json_module.dumps(value)}" for key, value in chosen.items() if value is not None
    ]
    return load_config(config, [*before, *overrides, *given])


def _read(path: Path) -> tuple[EpisodeResult, ...]:
    """Read the episodes of an earlier ``--output`` file."""
    from trajevolve.errors import UserError
    from trajevolve.evaluation import SCHEMA_VERSION, EpisodeResult

    try:
        content = json_module.loads(path.read_text(encoding="utf-8"))
        if content["schema_version"] != SCHEMA_VERSION:
            raise UserError(
                f"{path}: schema {content['schema_version']}, expected {SCHEMA_VERSION}"
            )
        return tuple(EpisodeResult(**episode) for episode in content["episodes"])
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path}: expected a file written by evaluate --output") from None
