"""The page that a finished run leaves in its folder: how it began and how it ended.

A whole run may hold tens of thousands of trajectories; ``trajevolve view`` shows those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from trajevolve.config import RunConfig
from trajevolve.envs.contract import Environment
from trajevolve.schedule import evolves
from trajevolve.viewer.collect import document, gather_evidence, limited
from trajevolve.viewer.evidence import Wanted
from trajevolve.viewer.page import write_page
from trajevolve.viewer.source import read_source

PAGE = "trajectories.html"
MOST = 1000
"""Trajectories on the page."""


def write_ends(run_dir: Path, config: RunConfig, environment: Environment) -> Path:
    """Write the page of :func:`ends` and return its path.

    Redundant steps have their evidence where a replay is cheap: where the environment can go back
    to a state.

    Raises:
        UserError: the run holds no trajectories, or the page cannot be written.
    """
    shown = ends(config)
    source = limited(read_source(run_dir, lambda *_: environment, shown), MOST)
    note = f"iterations {', '.join(map(str, shown))}; all: trajevolve view {run_dir.name}"
    source = replace(source, notes=(note, *source.notes))
    wanted: Wanted = "redundant" if environment.spec.snapshots else "none"
    path = run_dir / PAGE
    write_page(path, document(source, gather_evidence(source, wanted), wanted))
    return path


def ends(config: RunConfig) -> Sequence[int]:
    """List the first iteration, the last that evolved trajectories, and the last."""
    last = config.iterations - 1
    evolved = [k for k in range(config.iterations) if evolves(config, k)][-1:]
    return sorted({0, *evolved, last})
