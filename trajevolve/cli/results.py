"""`report` and `export`: what comes out of runs."""

from __future__ import annotations

import json as json_module
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from trajevolve.cli.options import RUNS, RunsFolder, refuse

if TYPE_CHECKING:
    from trajevolve.config import RunConfig
    from trajevolve.ledger import Commit, Ledger
    from trajevolve.trajectory import Trajectory

#: In a checkpoint beside the model: what resuming needs and a user of the model does not.
TRAINING_STATE = ("optimizer.safetensors", "random.safetensors", "checkpoint.json")


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command()(report)
    app.command()(export)


def report(
    runs: Annotated[list[str], typer.Argument(metavar="RUN…", help="Names or folders of runs.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Else reports/<first run>.")
    ] = None,
    evaluations: Annotated[
        list[Path] | None,
        typer.Option(
            "--evaluation",
            metavar="FILE",
            help="An evaluate --output, for a table of policies by split; can be repeated.",
        ),
    ] = None,
    folder: RunsFolder = RUNS,
) -> None:
    """Write tables and learning curves of some runs, finished or not."""
    from trajevolve.cli.options import find_run
    from trajevolve.cli.output import note
    from trajevolve.cli.outputs import new_folder
    from trajevolve.manifest import load_manifest
    from trajevolve.reports.comparability import unlike
    from trajevolve.reports.report import write_report
    from trajevolve.reports.splits import read_evaluations

    if out is not None:
        new_folder("--out", out)
    measured = read_evaluations(evaluations or [])
    found = [find_run(run, folder) for run in runs]
    manifests = [load_manifest(run_dir) for run_dir in found]
    page = write_report(found, out or Path("reports") / found[0].name, measured)
    for line in [*unlike(manifests), *filter(None, map(_missing_shards, found))]:
        note(f"note: {line}")
    typer.echo(str(page))


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Name or folder of a run.")],
    kind: Annotated[
        Literal["model", "sft", "preference"], typer.Option("--as", help="What to write.")
    ],
    out: Annotated[Path, typer.Option(metavar="PATH", help="A new folder, or a JSONL file.")],
    whole: Annotated[
        bool, typer.Option("--whole", help="sft: successes as they were, not their minimal form.")
    ] = False,
    folder: RunsFolder = RUNS,
) -> None:
    """Export the trained model, successes for fine-tuning, or preference pairs.

    model: a folder that from_pretrained loads, of the best checkpoint (else the last).
    sft: JSONL of chat messages, one line a success. preference: JSONL of prompt, chosen and
    rejected, one line per accepted evolved trajectory and its parent.
    """
    from trajevolve.cli.options import find_run
    from trajevolve.cli.output import note
    from trajevolve.cli.outputs import new_file
    from trajevolve.config import parse_config
    from trajevolve.errors import UserError
    from trajevolve.ledger import Ledger
    from trajevolve.manifest import load_manifest
    from trajevolve.wording import counted

    if kind != "sft":
        refuse("is for --as sft; leave it out", whole=whole)
    run_dir = find_run(run, folder)
    manifest = load_manifest(run_dir)
    config = parse_config(manifest.config, source=str(run_dir / "manifest.json"))
    ledger = Ledger(run_dir, manifest.config_digest)
    if kind == "model":
        typer.echo(f"{export_model(ledger, config, out)} -> {out}")
        return
    if next(ledger.commits("advantages"), None) is None:
        raise UserError(f"{run_dir}: holds no finished trajectories yet; train first")
    new_file("--out", out)
    rows = _sft(ledger, config, whole) if kind == "sft" else _preferences(ledger)
    written = _write_lines(rows, out)
    typer.echo(f"{counted(written, 'row')} -> {out}")
    if not written:
        note(f"note: {_why_no_rows(ledger, config, kind)}")


def export_model(ledger: Ledger, config: RunConfig, out: Path) -> Path:
    """Copy the run's best checkpoint, or else its last, without the training state.

    ``agent.json`` beside the weights says how the policy was prompted; ``evaluate`` reads it.
    ``README.md`` is the model card.

    Raises:
        UserError: there is no checkpoint, it is damaged, or `out` is in use or cannot be written;
            there is nothing at `out` then, whenever the process is killed.
    """
    from trajevolve.checkpoint import read_checkpoint
    from trajevolve.cli.outputs import new_folder
    from trajevolve.files import write_folder, write_json
    from trajevolve.model_card import model_card, stored_summary

    new_folder("--out", out, empty=True)
    commit = best_update(ledger)
    checkpoint = ledger.path(commit.outputs["checkpoint"])
    read_checkpoint(checkpoint)
    card = model_card(ledger.run_dir, commit, stored_summary(ledger.run_dir))

    def fill(folder: Path) -> None:
        ignored = shutil.ignore_patterns(*TRAINING_STATE)
        shutil.copytree(checkpoint, folder, ignore=ignored, dirs_exist_ok=True)
        write_json(folder / "agent.json", config.agent.model_dump(mode="json"))
        (folder / "README.md").write_text(card, encoding="utf-8")

    write_folder(out, fill)
    return checkpoint


def best_update(ledger: Ledger) -> Commit:
    """Return the update whose kept checkpoint has the best selection, the last without them."""
    from trajevolve.errors import UserError
    from trajevolve.selection import by_success

    kept = {
        commit.iteration: commit
        for commit in ledger.commits("update")
        if not commit.outputs["checkpoint"].pruned
    }
    if not kept:
        raise UserError(f"{ledger.run_dir}: holds no checkpoint of the policy; train first")
    best = (kept[c.iteration] for c in by_success(ledger) if c.iteration in kept)
    return next(best, kept[max(kept)])


def _sft(ledger: Ledger, config: RunConfig, whole: bool) -> Iterator[dict[str, Any]]:
    from trajevolve.envs.registry import configured_env
    from trajevolve.exporting import sft_rows, shorten

    successes: Iterator[Trajectory] = (each for each in _read(ledger, "advantages") if each.success)
    if not whole:
        successes = shorten(successes, lambda: configured_env(config.env), config.env)
    return sft_rows(successes)


def _preferences(ledger: Ledger) -> Iterator[dict[str, Any]]:
    from trajevolve.exporting import preference_rows

    # With membership "replace" a parent is no member any more; the rollout's shard has it.
    known = {each.id: each for stage in ("rollout", "advantages") for each in _read(ledger, stage)}
    return preference_rows(list(known.values()))


def _read(ledger: Ledger, stage: str) -> Iterator[Trajectory]:
    """Iterate over the trajectories that a stage wrote in all iterations."""
    from trajevolve.storage import read_shard

    for commit in ledger.commits(stage):
        output = commit.outputs["trajectories"]
        if not output.pruned:
            yield from read_shard(ledger.path(output))


def _why_no_rows(ledger: Ledger, config: RunConfig, kind: str) -> str:
    """Say what an export without rows was looking for."""
    from trajevolve.wording import counted

    iterations = counted(sum(1 for _ in ledger.commits("advantages")), "finished iteration")
    if kind == "sft":
        return f"the {iterations} of {ledger.run_dir} hold no successful trajectory"
    if not config.evolution.enabled:
        return (
            f"pairs are accepted evolved trajectories and their parents, and {ledger.run_dir} "
            "has evolution.enabled = false"
        )
    return (
        "pairs are accepted evolved trajectories that differ from their parents; there are none in "
        f"the {iterations} of {ledger.run_dir} (trajectories evolve every "
        f"{counted(config.evolution.every, 'iteration')})"
    )


def _missing_shards(run_dir: Path) -> str:
    """Say which shards that the ledger names are not there; "" when all are."""
    from trajevolve.ledger import Ledger
    from trajevolve.wording import counted

    named = [
        output.path
        for commit in Ledger(run_dir, "").commits()
        for name, output in commit.outputs.items()
        if name == "trajectories" and not output.pruned
    ]
    missing = [path for path in named if not (run_dir / path).is_file()]
    if not missing:
        return ""
    return (
        f"{run_dir}: {counted(len(missing), 'shard')} of {len(named)} missing, {missing[0]} first; "
        "curves and tables need none, view and export do (dvc checkout restores versioned ones)"
    )


def _write_lines(rows: Iterable[dict[str, Any]], out: Path) -> int:
    from trajevolve.files import write_atomically

    lines = [json_module.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    write_atomically(out, lambda partial: partial.write_text("".join(lines), encoding="utf-8"))
    return len(lines)
