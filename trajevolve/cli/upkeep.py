"""`doctor`, `gc` and `warmup`: the machine, old files, and the built-in weights."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from trajevolve.cli.options import RUNS, AsJson, RunsFolder, refuse

if TYPE_CHECKING:
    from trajevolve.models.warmup import WarmupConfig
    from trajevolve.models.warmup_discriminator import DiscriminatorRecipe


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command()(doctor)
    app.command()(gc)
    app.command()(warmup)


def doctor(json: AsJson = False) -> None:
    """Say what is installed, what is missing and how to get it.

    Exit status 1 when something that the default needs is missing; optional parts never fail.
    """
    from dataclasses import asdict

    from trajevolve.cli.output import print_json, print_table
    from trajevolve.diagnosis import examine

    findings = examine()
    if json:
        print_json([asdict(finding) for finding in findings], indent=2)
    else:
        rows = [
            (finding.name, "ok" if finding.ok else "missing", finding.found, finding.advice)
            for finding in findings
        ]
        print_table(("", "state", "found", "what to do"), rows, texts=4)
    if any(finding.required and not finding.ok for finding in findings):
        raise typer.Exit(1)


def gc(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN…]", help="Names or folders; else all.")
    ] = None,
    keep_last: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Else checkpoints.keep_last of the run.")
    ] = None,
    keep_best: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Else checkpoints.keep_best of the run.")
    ] = None,
    shards: Annotated[
        bool,
        typer.Option("--shards", help="Also shards whose content a later stage's shard holds."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Delete nothing.")] = False,
    folder: RunsFolder = RUNS,
) -> None:
    """Delete old checkpoints and shards of runs by their retention rule.

    The last checkpoints and the best of the policy stay, so a run can still be resumed and
    exported. The ledger keeps the record of what was deleted. Without names, a run that cannot be
    read, or that is being worked on, is passed over with a note.
    """
    from trajevolve.cli.options import find_run
    from trajevolve.cli.output import note
    from trajevolve.errors import UserError
    from trajevolve.retention import collect
    from trajevolve.wording import counted

    if not runs and not folder.is_dir():
        raise UserError(f"--runs {folder}: no such folder")
    every = sorted(path.parent for path in folder.glob("*/manifest.json"))
    chosen = [find_run(run, folder) for run in runs] if runs else every
    verb = "would free" if dry_run else "freed"
    total = skipped = 0
    for run_dir in chosen:
        try:
            files, size = collect(run_dir, keep_last, keep_best, shards=shards, dry_run=dry_run)
        except UserError as error:
            if runs:
                raise
            note(f"skipped: {error}")
            skipped += 1
            continue
        total += size
        if files:
            what = counted(files, "output")
            typer.echo(f"{run_dir}: {what}, {verb} {size / 2**20:.1f} MiB")
    runs_read = counted(len(chosen) - skipped, "run")
    typer.echo(f"{verb} {total / 2**20:.1f} MiB in {runs_read}")


def warmup(
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the weights.")],
    part: Annotated[
        Literal["policy", "discriminator"], typer.Option(help="Which of the two to make.")
    ] = "policy",
    env: Annotated[
        str, typer.Option(metavar="NAME", help="alfworld, webshop or scienceworld.")
    ] = "alfworld",
    policy: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Base model of the adapter; else builtin."),
    ] = None,
    batches: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most, per phase of the policy.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Else the recipe's.")] = None,
) -> None:
    """Make the built-in weights again, from a clumsy expert's episodes of generated tasks.

    The policy is cloned from them, the discriminator learns their verified labels. Use the
    result with `--set model.name=DIR` or `--set discriminator.adapter=DIR`.
    """
    from trajevolve.cli.output import note
    from trajevolve.cli.outputs import new_folder
    from trajevolve.models.recipes import discriminator_recipe, policy_recipe

    if part == "policy":
        refuse("is for --part discriminator; leave it out", policy=policy)
    else:
        refuse("is for --part policy; leave it out", batches=batches)
    new_folder("--out", out, empty=True)
    if part == "policy":
        _warm_up_policy(out, policy_recipe(env), batches, seed)
    else:
        _warm_up_discriminator(out, discriminator_recipe(env), policy or "builtin", seed)
    note(f"weights: {out}")


def _warm_up_policy(out: Path, recipe: WarmupConfig, batches: int | None, seed: int | None) -> None:
    from dataclasses import replace

    from trajevolve.files import check_folder
    from trajevolve.models.warmup import warm_up_policy
    from trajevolve.progress import advance, working

    check_folder(out)
    if batches is not None:
        shorter = [
            replace(
                phase, cloning=replace(phase.cloning, batches=min(batches, phase.cloning.batches))
            )
            for phase in recipe.phases
        ]
        recipe = replace(recipe, phases=tuple(shorter))
    if seed is not None:
        recipe = replace(recipe, seed=seed)
    total = sum(phase.cloning.batches for phase in recipe.phases)
    done = itertools.count(1)

    def report(step: int, action_loss: float, observation_loss: float) -> None:
        advance(next(done), total, "batches")

    with working("cloning the clumsy expert"):
        warm_up_policy(out, recipe, report)


def _warm_up_discriminator(
    out: Path, recipe: DiscriminatorRecipe, policy: str, seed: int | None
) -> None:
    from dataclasses import replace

    from trajevolve.cli.output import note
    from trajevolve.files import check_folder
    from trajevolve.models.warmup_discriminator import warm_up_discriminator
    from trajevolve.progress import advance, working

    check_folder(out)
    if seed is not None:
        recipe = replace(recipe, seed=seed)

    def report(batch: int, batches: int, loss: float) -> None:
        advance(batch, batches, "batches")

    with working("pre-training the discriminator"):
        result = warm_up_discriminator(policy, out, recipe, report)
    for name, value in sorted(result.heldout.items()):
        note(f"held out: {name} {value:.3f}")
