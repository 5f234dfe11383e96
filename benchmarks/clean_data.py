"""How much of recorded trajectories of the published ALFWorld games is redundant.

What there is to clean: the walkthroughs in the game files (a planner's, which knows the state),
the episodes recorded from the real engine, and episodes that agents play here on valid_seen: the
expert that searches as a player has to, the same expert slipping, and the built-in language model.
They are written as plain rows, ReAct conversations with the old verb ``put ... in/on ...``, and
step records of verl-agent, read back by `verify`'s converters, verified and counted.

    python benchmarks/clean_data.py [--data DIR] [--train-games N]
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import re
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from against_engine.record import DEFAULT_DATA, surroundings, write_record

from trajevolve.agent.contract import Agent
from trajevolve.agent.parse import write_response
from trajevolve.cli.policies import make_agent
from trajevolve.config import EnvConfig, load_config
from trajevolve.credit.rows import verify_records
from trajevolve.envs.alfworld.clumsy import ClumsyExpert
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.evaluation import play_panel
from trajevolve.formats.detect import Format, to_rows
from trajevolve.formats.records import read_records
from trajevolve.reports.redundancy import Counts, Redundancy
from trajevolve.trajectory import Trajectory

RECORD = Path(__file__).parents[1] / "docs" / "records" / "clean_data.json"
LIMIT, SEED = 30, 0
MOST_VERBS = 6
_MOVE = re.compile(r"move (\S+ \S+) to (\S+ \S+)")

Row = dict[str, Any]


def archives(data: Path, folder: Path) -> Path:
    """Make a data folder of the archives alone: where some games lie unpacked, only those count."""
    for split in ("train", "valid_seen"):
        (folder / f"{split}.tar.zst").symlink_to(data.resolve() / f"{split}.tar.zst")
    return folder


def walkthroughs(data: Path, split: str, most: int | None = None) -> Iterator[Row]:
    """Yield the walkthroughs of a split's archive as plain rows."""
    import zstandard

    with (data / f"{split}.tar.zst").open("rb") as raw:
        stream = zstandard.ZstdDecompressor().stream_reader(raw)
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isfile() else None
                if content is None or most == 0:
                    continue
                most = None if most is None else most - 1
                task = "/".join(Path(member.name).parts[-4:-1])
                yield {"task": task, "actions": json.load(content)["walkthrough"]}


def engine_episodes(data: Path) -> Iterator[Row]:
    """Yield the episodes recorded from the real engine as plain rows."""
    with gzip.open(data / "engine_transcripts.jsonl.gz", "rt") as lines:
        for episode in map(json.loads, lines):
            actions = [step["action"] for step in episode["steps"]]
            yield {"task": episode["game"], "actions": actions}


def played(data: Path, agent: Agent) -> list[Trajectory]:
    """Let `agent` play valid_seen once."""
    tasks = AlfworldEnvironment(data).tasks("valid_seen")
    config = EnvConfig(data=str(data), step_limit=LIMIT)
    return play_panel(tasks, agent, lambda: AlfworldEnvironment(data), config, SEED)


def as_conversations(trajectories: Iterable[Trajectory]) -> Iterator[Row]:
    """Write episodes as ETO and AgentGym log them, verbs of the releases before 0.4 included."""
    for trajectory in trajectories:
        turns = [{"from": "human", "value": "Solve the task."}, {"from": "gpt", "value": "OK"}]
        for step in trajectory.steps:
            action = _MOVE.sub(r"put \1 in/on \2", step.action or "")
            turns.append({"from": "human", "value": step.observation})
            turns.append({"from": "gpt", "value": f"Thought: on with it.\nAction: {action}"})
        file = f"/logs/json_2.1.1/{trajectory.task_id}/game.tw-pddl"
        yield {"id": trajectory.id, "game_file": file, "conversations": turns}


def as_steps(trajectories: Sequence[Trajectory]) -> Iterator[Row]:
    """Write episodes as a batched rollout does: the first step of all, then the second."""
    for number in range(max(map(len, trajectories))):
        for trajectory in trajectories:
            if number < len(trajectory):
                step = trajectory.steps[number]
                yield {
                    "traj_uid": trajectory.id,
                    "extra.gamefile": f"/data/{trajectory.task_id}/game.tw-pddl",
                    "response": write_response(step.action or step.response),
                }


def clean(data: Path, rows: Iterable[Row], format: Format) -> dict[str, Any]:
    """Verify rows of a format as the command does; return what was counted."""
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    environment = AlfworldEnvironment(data)
    found = Redundancy("alfworld", environment.canonical)
    started = time.process_time()
    records = to_rows(read_records(io.BytesIO(text)))
    for each in verify_records(records, environment):
        found.add(each)
    most = found.redundant_verbs.most_common(MOST_VERBS)
    return {
        "format": format,
        **figures(found.total),
        "errors": len(found.errors),
        "by_type": {name: figures(each) for name, each in sorted(found.by_type.items())},
        "redundant_verbs": {verb: [count, found.verbs[verb]] for verb, count in most if count},
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def figures(counts: Counts) -> dict[str, Any]:
    """Sums and the redundant share."""
    share = round(counts.redundant / counts.steps, 4) if counts.steps else None
    return {**asdict(counts), "redundant_share": share}


def measure(unpacked: Path, data: Path, train_games: int | None) -> dict[str, Any]:
    """Clean every source; `unpacked` holds the games that were recorded, `data` whole splits."""
    config = load_config(None, [f"env.data={data}"])
    sources: dict[str, tuple[Format, Callable[[], Iterable[Row]]]] = {
        "walkthroughs, train": ("rows", lambda: walkthroughs(data, "train", train_games)),
        "walkthroughs, valid_seen": ("rows", lambda: walkthroughs(data, "valid_seen")),
        "recorded from the engine": ("rows", lambda: engine_episodes(unpacked)),
        "searching expert, valid_seen": (
            "conversations",
            lambda: as_conversations(played(data, make_agent(config, "expert", 1.0))),
        ),
        "slipping expert, valid_seen": (
            "conversations",
            lambda: as_conversations(played(data, ClumsyExpert())),
        ),
        "built-in model, valid_seen": (
            "verl-agent",
            lambda: as_steps(played(data, make_agent(config, None, 1.0))),
        ),
    }
    results = {}
    for name, (format, rows) in sources.items():
        recorded = name.startswith("recorded")
        results[name] = clean(unpacked if recorded else data, rows(), format)
        print(name, json.dumps(results[name]), file=sys.stderr)
    return results


def main() -> None:
    """Collect, verify, record, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--train-games", type=int, help="of train: the first N only")
    parser.add_argument("--record", type=Path, default=RECORD)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = measure(
            arguments.data, archives(arguments.data, Path(folder)), arguments.train_games
        )
    record = {
        "measured": "redundant steps of successes by cumulative verification, backward order",
        "command": f"python {' '.join(['benchmarks/clean_data.py', *sys.argv[1:]])}",
        **surroundings(),
        "step_limit_of_played_episodes": LIMIT,
        "seed": SEED,
        "sources": results,
    }
    write_record(arguments.record, record)


if __name__ == "__main__":
    main()
