"""What a run tells about itself, whoever listens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trajevolve.trajectory import Trajectory


@dataclass(frozen=True)
class Dataset:
    """A shard that a stage wrote: name of the stage, content md5, rows and where it lies."""

    name: str
    md5: str
    rows: int
    path: Path


@dataclass(frozen=True)
class Place:
    """Where a run is looked at.

    Attributes:
        page: address of the run's page; of a store that is no server, its path on one.
        table: the same of a table of all runs of the experiment.
        command: what starts such a server, "" where there is one.
        run_id: MLflow's id of the run.
    """

    page: str
    table: str
    command: str
    run_id: str


class Tracker(Protocol):
    """What a run tells about itself."""

    run_id: str

    @property
    def place(self) -> Place | None:
        """Where the run is looked at; None where it is not tracked."""
        ...

    def log_metrics(self, iteration: int, metrics: Mapping[str, float], time: float) -> None:
        """Log numbers of one iteration, committed at `time` (seconds since the epoch)."""
        ...

    def log_datasets(self, iteration: int, datasets: Iterable[Dataset]) -> None:
        """Name the shards an iteration wrote."""
        ...

    def log_trajectories(self, iteration: int, trajectories: Sequence[Trajectory]) -> None:
        """Show trajectories as traces, a span a step, with their labels as feedback."""
        ...

    def tag(self, tags: Mapping[str, str]) -> None:
        """Set tags: links, paths of checkpoints, hashes."""
        ...

    def describe(self, text: str) -> None:
        """Set the description of the run, Markdown, in the place of the last one."""
        ...

    def log_text(self, name: str, text: str) -> None:
        """Keep a small file with the run, in the place of one of that name."""
        ...

    def finish(self, succeeded: bool) -> None:
        """Close the run. Idempotent."""
        ...


class NullTracker:
    """Tracking switched off."""

    run_id = ""
    place = None

    def log_metrics(self, iteration: int, metrics: Mapping[str, float], time: float) -> None:
        """Do nothing."""

    def log_datasets(self, iteration: int, datasets: Iterable[Dataset]) -> None:
        """Do nothing."""

    def log_trajectories(self, iteration: int, trajectories: Sequence[Trajectory]) -> None:
        """Do nothing."""

    def tag(self, tags: Mapping[str, str]) -> None:
        """Do nothing."""

    def describe(self, text: str) -> None:
        """Do nothing."""

    def log_text(self, name: str, text: str) -> None:
        """Do nothing."""

    def finish(self, succeeded: bool) -> None:
        """Do nothing."""
