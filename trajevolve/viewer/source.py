"""What is shown: the trajectories of a run, a Parquet shard, or rows that ``verify`` wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trajevolve.config import RunConfig, parse_config
from trajevolve.envs.contract import Environment
from trajevolve.errors import UserError
from trajevolve.ledger import Commit, Ledger
from trajevolve.manifest import load_manifest
from trajevolve.problems import reason_of
from trajevolve.storage import read_shard
from trajevolve.trajectory import Trajectory
from trajevolve.viewer.rows import read_rows

MEMBER_STAGES = ("advantages", "labelling", "verification", "rollout")
"""Stages whose shards hold the trajectories of an iteration, the best informed first."""

_SHARD_NAME = re.compile(r"iter_(\d{4,})_\w+")

OpenEnvironment = Callable[[str | None, RunConfig | None], Environment]
"""Makes the environment of that name (a built-in one, None where unknown) or configuration."""


@dataclass(frozen=True)
class Source:
    """Trajectories, and what is needed to replay them.

    Attributes:
        name: of the run or file.
        trajectories: in order, every id once.
        iterations: id -> iteration, where that is known.
        environment: replays them; None where it is not known or cannot be made.
        notes: what the reader should know: what is missing and why.
    """

    name: str
    trajectories: Sequence[Trajectory]
    iterations: Mapping[str, int]
    environment: Environment | None
    notes: tuple[str, ...] = ()


def read_source(
    path: Path, open_environment: OpenEnvironment, iterations: Collection[int] = ()
) -> Source:
    """Read a run's folder, a shard or JSON lines; `iterations` picks some of a run's.

    Raises:
        UserError: it is none of these, is damaged, or holds no trajectory.
    """
    if path.is_dir():
        return _read_run(path, open_environment, iterations)
    if not path.is_file():
        raise UserError(f"{path}: no such file; give a run, a Parquet shard or JSON lines")
    if iterations:
        raise UserError(f"--iteration: {path} is a file; choose iterations of a run's folder")
    read = _read_shard if _is_parquet(path) else _read_lines
    source = read(path, open_environment)
    if not source.trajectories:
        raise UserError(f"{path}: holds no trajectory")
    return source


def _read_run(run_dir: Path, open_environment: OpenEnvironment, wanted: Collection[int]) -> Source:
    if not (run_dir / "manifest.json").is_file():
        raise UserError(
            f"{run_dir}: a folder, but no run (it has no manifest.json); give a run, one of its "
            "shards or a file of JSON lines"
        )
    manifest = load_manifest(run_dir)
    config = parse_config(manifest.config, source=str(run_dir / "manifest.json"))
    ledger = Ledger(run_dir, manifest.config_digest)
    commits = _commits(ledger)
    missing = sorted(set(wanted) - set(commits))
    if commits and missing:
        raise UserError(
            f"--iteration {missing[0]}: {run_dir} has no trajectories of it; it has "
            f"{min(commits)} to {max(commits)}"
        )
    notes: list[str] = []
    found: dict[str, Trajectory] = {}
    iterations: dict[str, int] = {}
    for iteration in sorted(commits):
        if wanted and iteration not in wanted:
            continue
        members = _members(ledger, commits[iteration], notes)
        found |= members
        iterations |= dict.fromkeys(members, iteration)
    if not found:
        said = f" ({notes[0]})" if notes else "; train first"
        raise UserError(f"{run_dir}: holds no trajectories yet{said}")
    environment = _opened(lambda: open_environment(None, config), notes)
    return Source(run_dir.resolve().name, list(found.values()), iterations, environment, (*notes,))


def _commits(ledger: Ledger) -> dict[int, dict[str, Commit]]:
    """Return the commits with trajectories of training, by iteration and stage."""
    by_iteration: dict[int, dict[str, Commit]] = {}
    for stage in (*MEMBER_STAGES, "evolution"):
        for commit in ledger.commits(stage):
            by_iteration.setdefault(commit.iteration, {})[stage] = commit
    return by_iteration


def _members(
    ledger: Ledger, commits: Mapping[str, Commit], notes: list[str]
) -> dict[str, Trajectory]:
    """Read an iteration: its members, the refused children, and parents replaced by a child."""
    found: dict[str, Trajectory] = {}
    for stage in MEMBER_STAGES:
        complete = found and not _lacks_parent(found)
        if stage in commits and not complete:
            found = _read_stage(ledger, commits[stage], notes) | found
    if "evolution" in commits:
        found = _read_stage(ledger, commits["evolution"], notes) | found
    return dict(sorted(found.items()))


def _lacks_parent(found: Mapping[str, Trajectory]) -> bool:
    """Say whether a child took the place of its parent (``evolution.membership``: replace)."""
    evolutions = [trajectory.evolution for trajectory in found.values()]
    return any(made and made.parent_id not in found for made in evolutions)


def _read_stage(ledger: Ledger, commit: Commit, notes: list[str]) -> dict[str, Trajectory]:
    output = commit.outputs["trajectories"]
    if output.pruned:
        return {}
    try:
        return {trajectory.id: trajectory for trajectory in read_shard(ledger.path(output))}
    except UserError as error:
        notes.append(f"iteration {commit.iteration}, {commit.stage}: {error}")
        return {}


def _read_shard(path: Path, open_environment: OpenEnvironment) -> Source:
    found = {trajectory.id: trajectory for trajectory in read_shard(path)}
    named = _SHARD_NAME.fullmatch(path.stem)
    iterations = dict.fromkeys(found, int(named[1])) if named else {}
    notes: list[str] = []
    environment = _opened(lambda: open_environment(None, _config_beside(path)), notes)
    return Source(path.stem, list(found.values()), iterations, environment, tuple(notes))


def _config_beside(shard: Path) -> RunConfig | None:
    """Return the configuration of the run that the shard lies in, None outside one."""
    run_dir = shard.resolve().parent.parent
    if not (run_dir / "manifest.json").is_file():
        return None
    return parse_config(load_manifest(run_dir).config, source=str(run_dir / "manifest.json"))


def _read_lines(path: Path, open_environment: OpenEnvironment) -> Source:
    rows = read_rows(path)
    notes = list(rows.notes)
    environment = _opened(lambda: open_environment(rows.env, None), notes)
    trajectories = rows.trajectories(environment, notes)
    return Source(path.stem, trajectories, {}, environment, tuple(notes))


def _opened(make: Callable[[], Environment], notes: list[str]) -> Environment | None:
    """Make the environment; where that is not possible, say why and go on without evidence."""
    try:
        return make()
    except UserError as error:
        notes.append(f"nothing can be replayed: {error}")
    except Exception as error:  # somebody else's class: what is recorded can still be shown
        notes.append(f"nothing can be replayed: the environment cannot be made: {reason_of(error)}")
    return None


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return path.suffix == ".parquet" or stream.read(4) == b"PAR1"
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
