"""Which stage of which iteration is done: the only thing a restart looks at.

``runs/<run id>/iter_0042/<stage>/commit.json`` is written last, by rename, after every output of
the stage is on disk. A stage without it is redone whole. Its hashes cover content (inputs,
configuration, outputs, metrics) and no times, names of runs or locations, so two runs of one
configuration can be compared stage by stage, and so can an interrupted run with one that was not.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trajevolve.errors import UserError
from trajevolve.files import (
    content_md5,
    json_md5,
    read_record,
    sync_tree,
    write_json,
    write_record,
    writing,
)

COMMIT_VERSION = 2
READABLE = (1, COMMIT_VERSION)
"""Version 1 has no hash over the whole file."""


@dataclass(frozen=True)
class Output:
    """A file or folder that a stage made.

    Attributes:
        path: relative to the run's folder.
        md5: of its content (:func:`trajevolve.files.content_md5`).
        rows: trajectories in it; 0 for a checkpoint.
        pruned: deleted on purpose since; the rest of the commit still stands.
    """

    path: str
    md5: str
    rows: int = 0
    pruned: bool = False


@dataclass(frozen=True)
class Produced:
    """What the body of a stage hands back.

    Attributes:
        outputs: name -> (absolute path, rows).
        metrics: name -> number; no timings, they would make equal runs differ.
    """

    outputs: Mapping[str, tuple[Path, int]] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Commit:
    """A finished stage.

    Attributes:
        iteration: k, from 0.
        stage: its name.
        config: digest of the configuration.
        inputs: name -> md5 of what the stage read.
        outputs: name -> what it made.
        metrics: name -> number; not finite ones are stored as they are and hashed as text.
        seconds: wall time of the body.
        time: when it was committed, seconds since the epoch.
    """

    iteration: int
    stage: str
    config: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, Output]
    metrics: Mapping[str, float]
    seconds: float
    time: float

    @property
    def content(self) -> str:
        """Hash of all that is not a time or a place; equal runs have equal ones."""
        return json_md5(
            {
                "iteration": self.iteration,
                "stage": self.stage,
                "config": self.config,
                "inputs": dict(self.inputs),
                "outputs": {name: [out.md5, out.rows] for name, out in self.outputs.items()},
                "metrics": {name: repr(value) for name, value in self.metrics.items()},
            }
        )


@dataclass(frozen=True)
class Point:
    """The first thing not done yet."""

    iteration: int
    stage: str


class Ledger:
    """The commits of one run."""

    def __init__(self, run_dir: Path, config_digest: str) -> None:
        """Open the ledger of `run_dir`; whose configuration has `config_digest`."""
        self.run_dir = run_dir
        self.config_digest = config_digest
        self._sound: set[Output] = set()

    def stage_dir(self, iteration: int, stage: str) -> Path:
        """Return the folder of one stage of one iteration."""
        return self.iteration_dir(iteration) / stage

    def iteration_dir(self, iteration: int) -> Path:
        """Return the folder of one iteration."""
        return self.run_dir / f"iter_{iteration:04d}"

    def is_committed(self, iteration: int, stage: str) -> bool:
        """Say whether the stage has a commit, without looking at its outputs."""
        return self._commit_file(iteration, stage).is_file()

    def committed(self, iteration: int, stage: str, *, verify: bool = True) -> Commit | None:
        """Return the commit, or None where the stage is not done.

        With `verify` every output that was not pruned is hashed again.

        Raises:
            UserError: the commit or an output is damaged, missing or of another configuration;
                the text names the file.
        """
        if not self.is_committed(iteration, stage):
            return None
        commit = _read_commit(self._commit_file(iteration, stage))
        if commit.config != self.config_digest:
            raise UserError(
                f"{self._commit_file(iteration, stage)}: made with another configuration; "
                "give the run another name with --run"
            )
        if verify:
            for output in commit.outputs.values():
                self._check(output, iteration, stage)
        return commit

    def commit(
        self,
        iteration: int,
        stage: str,
        inputs: Mapping[str, str],
        produced: Produced,
        seconds: float,
    ) -> Commit:
        """Put the outputs and metrics on disk, then the commit, and return it."""
        outputs = {name: self._output(*made) for name, made in sorted(produced.outputs.items())}
        commit = Commit(
            iteration=iteration,
            stage=stage,
            config=self.config_digest,
            inputs=dict(inputs),
            outputs=outputs,
            metrics={name: float(value) for name, value in sorted(produced.metrics.items())},
            seconds=seconds,
            time=time.time(),
        )
        folder = self.stage_dir(iteration, stage)
        write_json(folder / "metrics.json", _finite(commit.metrics))
        self._write(commit)
        return commit

    def prune(self, commit: Commit, name: str) -> Commit:
        """Delete one output; the commit says so first, so that a kill in between is harmless."""
        outputs = dict(commit.outputs)
        outputs[name] = replace(outputs[name], pruned=True)
        pruned = replace(commit, outputs=outputs)
        self._write(pruned)
        remove(self.path(outputs[name]))
        return pruned

    def path(self, output: Output) -> Path:
        """Return where `output` lies."""
        return self.run_dir / output.path

    def sound(self, commit: Commit, name: str) -> Path:
        """Return where the output `name` lies, to be read: it is what the stage committed.

        It is hashed at the first reading in this process, unless the process made it.

        Raises:
            UserError: it is damaged, missing or deleted by the retention rule.
        """
        output = commit.outputs[name]
        path = self.path(output)
        if output.pruned:
            raise UserError(
                f"{path}: needed again, but deleted by the retention rule; start another run with "
                "--run NAME"
            )
        if output not in self._sound:
            self._check(output, commit.iteration, commit.stage)
        return path

    def check_all(self, name: str) -> None:
        """Hash every output `name` that this process has neither made nor hashed.

        Raises:
            UserError: one is damaged or missing.
        """
        for commit in self.commits():
            output = commit.outputs.get(name)
            if output is not None and output not in self._sound:
                self._check(output, commit.iteration, commit.stage)

    def next_point(self, iterations: int, stages: Callable[[int], Sequence[str]]) -> Point | None:
        """Return the first stage without a commit; None when all `iterations` are done.

        Args:
            iterations: how many the run has.
            stages: the stages of an iteration, in order (evolution is not in every one).
        """
        for iteration in range(iterations):
            for stage in stages(iteration):
                if not self.is_committed(iteration, stage):
                    return Point(iteration, stage)
        return None

    def commits(self, stage: str | None = None) -> Iterator[Commit]:
        """Iterate over all commits (of one stage), by iteration, without hashing outputs."""
        for file in sorted(self.run_dir.glob(f"iter_*/{stage or '*'}/commit.json")):
            yield _read_commit(file)

    def _write(self, commit: Commit) -> None:
        path = self._commit_file(commit.iteration, commit.stage)
        write_record(path, COMMIT_VERSION, _commit_json(commit))

    def _commit_file(self, iteration: int, stage: str) -> Path:
        return self.stage_dir(iteration, stage) / "commit.json"

    def _output(self, path: Path, rows: int) -> Output:
        with writing(path):
            sync_tree(path)
        output = Output(path.relative_to(self.run_dir).as_posix(), content_md5(path), rows)
        self._sound.add(output)
        return output

    def _check(self, output: Output, iteration: int, stage: str) -> None:
        if output.pruned:
            return
        path = self.path(output)
        remedy = (
            "restore it (`dvc checkout` for a versioned shard) or delete "
            f"{self.stage_dir(iteration, stage)} and what came after it to redo the stage"
        )
        if not path.exists():
            raise UserError(f"{path}: committed by stage {stage} but missing; {remedy}")
        if content_md5(path) != output.md5:
            raise UserError(f"{path}: changed since stage {stage} committed it; {remedy}")
        self._sound.add(output)


def run_stage(
    ledger: Ledger,
    iteration: int,
    stage: str,
    inputs: Mapping[str, str],
    body: Callable[[Path], Produced],
) -> Commit:
    """Return the stage's commit; where there is none, run `body` on a fresh folder and commit.

    Args:
        ledger: of the run.
        iteration: k.
        stage: name of the stage.
        inputs: name -> md5 of everything the body reads besides the configuration.
        body: gets the stage's empty folder and returns what it made.

    Raises:
        UserError: the commit there was made from other inputs, or an output is damaged.
    """
    folder = ledger.stage_dir(iteration, stage)
    done = ledger.committed(iteration, stage)
    if done is not None:
        stale = [name for name, md5 in inputs.items() if done.inputs.get(name) != md5]
        if stale:
            raise UserError(
                f"{folder / 'commit.json'}: made from another {', '.join(stale)}; delete {folder} "
                "and what came after it to redo the stage"
            )
        return done
    with writing(folder):
        remove(folder)
        folder.mkdir(parents=True)
    started = time.monotonic()
    produced = body(folder)
    return ledger.commit(iteration, stage, inputs, produced, time.monotonic() - started)


def remove(path: Path) -> None:
    """Delete a file or a folder; nothing there is fine."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _finite(metrics: Mapping[str, float]) -> dict[str, float | None]:
    """Write what JSON cannot say as null."""
    return {name: value if math.isfinite(value) else None for name, value in metrics.items()}


def _commit_json(commit: Commit) -> dict[str, Any]:
    outputs = {
        name: {"path": out.path, "md5": out.md5, "rows": out.rows}
        | ({"pruned": True} if out.pruned else {})
        for name, out in commit.outputs.items()
    }
    return {
        "iteration": commit.iteration,
        "stage": commit.stage,
        "config": commit.config,
        "inputs": dict(commit.inputs),
        "outputs": outputs,
        "metrics": {name: repr(value) for name, value in commit.metrics.items()},
        "content": commit.content,
        "seconds": commit.seconds,
        "time": commit.time,
    }


def _read_commit(path: Path) -> Commit:
    remedy = f"delete {path.parent} and what came after it to redo the stage"
    return read_record(path, READABLE, _commit, remedy=remedy)


def _commit(content: dict[str, Any]) -> Commit:
    declared = content.pop("content")
    content["outputs"] = {n: Output(**out) for n, out in content["outputs"].items()}
    content["metrics"] = {n: float(value) for n, value in content["metrics"].items()}
    commit = Commit(**content)
    if commit.content != declared:
        raise ValueError("changed by hand")
    return commit
