"""Which outputs of a run may go (the `gc` command).

A run prunes its checkpoints as it goes; this is for afterwards, with other limits, and for
shards. What goes is marked in the ledger first, so a commit never points at a file that is
missing by accident.
"""

from __future__ import annotations

from pathlib import Path

from trajevolve.config import parse_config
from trajevolve.ledger import Commit, Ledger
from trajevolve.manifest import RunLock, load_manifest
from trajevolve.selection import by_success

CHECKPOINTED = ("update", "discriminator")
#: Their trajectories are in the shard of the advantages of the same iteration, with more columns.
SUPERSEDED = ("rollout", "verification", "labelling")


def collect(
    run_dir: Path,
    keep_last: int | None = None,
    keep_best: int | None = None,
    *,
    shards: bool = False,
    dry_run: bool = False,
) -> tuple[int, int]:
    """Delete old checkpoints, and superseded shards if asked; return (outputs, bytes).

    Args:
        run_dir: the run, which must not be running.
        keep_last: newest checkpoints of each kind that stay; None: the run's own rule.
        keep_best: checkpoints of the policy with the best selections that stay; None: likewise.
        shards: also delete the shards of finished iterations that a later stage's shard contains.
        dry_run: count only.

    Raises:
        UserError: the folder is no run, or the run is being worked on.
    """
    manifest = load_manifest(run_dir)
    rule = parse_config(manifest.config, source=str(run_dir / "manifest.json")).checkpoints
    ledger = Ledger(run_dir, manifest.config_digest)
    last = rule.keep_last if keep_last is None else keep_last
    best = rule.keep_best if keep_best is None else keep_best
    with RunLock(run_dir):
        going = [(commit, "checkpoint") for commit in old_checkpoints(ledger, last, best)]
        if shards:
            going += [(commit, "trajectories") for commit in _superseded(ledger)]
        size = sum(_size(ledger.path(commit.outputs[name])) for commit, name in going)
        if not dry_run:
            for commit, name in going:
                ledger.prune(commit, name)
    return len(going), size


def old_checkpoints(ledger: Ledger, keep_last: int, keep_best: int) -> list[Commit]:
    """Find the checkpoints that are neither among the newest nor, of the policy, the best."""
    best = {commit.iteration for commit in by_success(ledger)[:keep_best]}
    old: list[Commit] = []
    for stage in CHECKPOINTED:
        commits = list(ledger.commits(stage))
        newest = {commit.iteration for commit in commits[-keep_last:]}
        kept = newest | best if stage == "update" else newest
        old += [
            commit
            for commit in commits
            if commit.iteration not in kept and not commit.outputs["checkpoint"].pruned
        ]
    return old


def _superseded(ledger: Ledger) -> list[Commit]:
    """Find shards of iterations whose update is done, where the advantages' shard is there."""
    finished = {commit.iteration for commit in ledger.commits("update")}
    holding = {
        commit.iteration
        for commit in ledger.commits("advantages")
        if not commit.outputs["trajectories"].pruned
    }
    return [
        commit
        for stage in SUPERSEDED
        for commit in ledger.commits(stage)
        if commit.iteration in finished & holding and not commit.outputs["trajectories"].pruned
    ]


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
