"""Many episodes in one process, as a run plays them: memory and open files have to stay flat.

Usage: ``python benchmarks/soak.py [--episodes 10000] [--record FILE]``. Chunks of episodes in
generated rooms are played, verified in hindsight, written as a Parquet shard and read back. One
chunk in twenty is played by the built-in policy (so that its key-value cache is in it), the others
by the clumsy expert. Memory is sampled after every chunk. It is flat when the mean of the last
quarter is at most 5 MB + 2 % above the mean of the second one; the first is warm-up, in which
caches of bounded size fill.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from trajevolve.agent.contract import Agent
from trajevolve.config import CreditConfig, EnvConfig, RunConfig
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.envs.alfworld.clumsy import ClumsyExpert
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.generator import generate_games
from trajevolve.envs.contract import Task
from trajevolve.policy import Policy
from trajevolve.rollout import Episode, play
from trajevolve.seeds import derive_seed
from trajevolve.storage import read_shard, write_shard

ROOT = Path(__file__).resolve().parent.parent
GAMES = 600
CHUNK = 50
EPISODES_PER_TASK = 5
MODEL_EVERY = 20
STEP_LIMIT = 20
ALLOWED_MB, ALLOWED_SHARE = 5.0, 0.02
MEGABYTE = 1e6


@dataclass(frozen=True)
class Sample:
    """The process after some episodes.

    Attributes:
        episodes: played so far.
        rss_mb: resident memory in MB.
        uss_mb: memory that is this process's alone, in MB.
        handles: open file descriptors.
    """

    episodes: int
    rss_mb: float
    uss_mb: float
    handles: int


class Soak:
    """What stays alive from chunk to chunk: the environment, both agents and the games."""

    def __init__(self, games: int, folder: Path) -> None:
        """Make `games` games; shards are written in `folder`."""
        self.config = RunConfig()
        self.tasks = generate_games(games, 0, "easy", stream="soak")
        self.environment = AlfworldEnvironment()
        self.expert = ClumsyExpert()
        self.policy = Policy(self.config)
        self.folder = folder
        self.played = self.by_model = self.successes = self.verified = 0

    def chunk(self, number: int, episodes: int) -> None:
        """Play, verify, write and read back one chunk."""
        modelled = number % MODEL_EVERY == 0
        agent: Agent = self.policy.agent(1.0) if modelled else self.expert
        planned = [
            Episode(f"{number}/{i}", self._task(number, i), derive_seed(number, i))
            for i in range(episodes)
        ]
        played = play(planned, agent, AlfworldEnvironment, EnvConfig(step_limit=STEP_LIMIT))
        by_id = {episode.task.id: episode.task for episode in planned}
        labelled, stats = verify_trajectories(self.environment, by_id, played, CreditConfig())
        shard = write_shard(self.folder / f"chunk{number % 3}.parquet", labelled)
        if read_shard(shard.path) != labelled:
            raise AssertionError("the shard is not what was written")
        self.played += episodes
        self.by_model += episodes * modelled
        self.successes += stats.successes
        self.verified += stats.verified

    def _task(self, chunk: int, position: int) -> Task:
        return self.tasks[(chunk * CHUNK + position) // EPISODES_PER_TASK % len(self.tasks)]


def measure(episodes: int) -> Sample:
    """Look at this process (Linux)."""
    page = os.sysconf("SC_PAGE_SIZE")
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * page
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    private = sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))
    handles = len(os.listdir("/proc/self/fd"))
    return Sample(episodes, resident / MEGABYTE, private / MEGABYTE, handles)


def soak(episodes: int, games: int = GAMES, chunk: int = CHUNK) -> tuple[Soak, list[Sample]]:
    """Play `episodes` episodes and return what was played, and a sample after each chunk."""
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="soak") as folder:
        work = Soak(games, Path(folder))
        samples = []
        for number in range(episodes // chunk):
            work.chunk(number, chunk)
            samples.append(measure(work.played))
    return work, samples


def growth(samples: Sequence[Sample], name: str) -> dict[str, float]:
    """Compare the last quarter with the second, and fit a line to all but the first.

    Returns:
        means of both quarters and what is allowed, in MB, and the slope in MB per 1,000 episodes.
    """
    values = np.array([getattr(sample, name) for sample in samples])
    quarter = len(values) // 4
    second = float(values[quarter : 2 * quarter].mean())
    last = float(values[-quarter:].mean())
    places = np.array([sample.episodes for sample in samples[quarter:]]) / 1000
    slope = float(np.polyfit(places, values[quarter:], 1)[0])
    allowed = ALLOWED_MB + ALLOWED_SHARE * second
    found = {"second_quarter": second, "last_quarter": last, "allowed": allowed, "slope": slope}
    return {key: round(value, 2) for key, value in found.items()}


def is_flat(samples: Sequence[Sample]) -> bool:
    """Say whether neither memory nor open files grow after the first quarter."""
    rises = [growth(samples, name) for name in ("rss_mb", "uss_mb")]
    memory = all(r["last_quarter"] - r["second_quarter"] <= r["allowed"] for r in rises)
    handles = [sample.handles for sample in samples[len(samples) // 4 :]]
    return memory and max(handles) == min(handles)


def record_of(work: Soak, samples: Sequence[Sample], seconds: float) -> dict[str, Any]:
    """Say what was played and how memory went."""
    return {
        "command": f"python benchmarks/soak.py --episodes {work.played}",
        "flat": is_flat(samples),
        "episodes": work.played,
        "by_the_model": work.by_model,
        "successes": work.successes,
        "verified": work.verified,
        "rss_mb": growth(samples, "rss_mb"),
        "uss_mb": growth(samples, "uss_mb"),
        "handles": sorted({sample.handles for sample in samples}),
        "cpu_seconds": round(seconds, 1),
        "samples": [
            {key: round(value, 1) for key, value in asdict(sample).items()}
            for sample in samples[:: max(1, len(samples) // 20)]
        ],
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "packages": {name: version(name) for name in ("torch", "transformers", "pyarrow")},
    }


def main() -> int:
    """Soak, write the record, and return 1 when something grows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--record", type=Path, default=ROOT / "docs" / "records" / "soak.json")
    options = parser.parse_args()
    started = time.process_time()
    work, samples = soak(options.episodes)
    record = record_of(work, samples, time.process_time() - started)
    options.record.parent.mkdir(parents=True, exist_ok=True)
    options.record.write_text(json.dumps(record, indent=2) + "\n")
    print(json.dumps({key: record[key] for key in ("flat", "rss_mb", "uss_mb", "handles")}))
    return int(not record["flat"])


if __name__ == "__main__":
    sys.exit(main())
