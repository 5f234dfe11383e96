"""Episodes recorded from the real engine, told in every format: the same labels."""

import gzip
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from trajevolve.credit.rows import verify_records
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.formats.detect import to_rows
from trajevolve.formats.records import read_records

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "alfworld"
EPISODES = 12


@pytest.fixture(scope="module")
def episodes() -> list[dict[str, Any]]:
    if not DATA.is_dir():
        pytest.skip(f"the published games are not at {DATA}")
    with gzip.open(DATA / "engine_transcripts.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line, _ in zip(lines, range(EPISODES), strict=False)]


def labels(records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Labels and minimal sequences by task."""
    stream = io.BytesIO("\n".join(map(json.dumps, records)).encode())
    rows = verify_records(to_rows(read_records(stream)), AlfworldEnvironment(DATA))
    return {each.task.id if each.task else "": (each.row.get("labels"), each.row.get("minimal"))
            for each in rows}  # fmt: skip


def test_every_format_gives_the_labels_of_plain_rows(episodes: list[dict[str, Any]]) -> None:
    plain = labels(
        {"task": each["game"], "actions": [step["action"] for step in each["steps"]]}
        for each in episodes
    )
    found = [value for value, _ in plain.values() if value]
    assert len(plain) == EPISODES and "" not in plain
    assert any(0 in value for value in found)

    def talk(episode: dict[str, Any]) -> dict[str, Any]:
        turns = [{"role": "user", "content": episode["observation"]}]
        for step in episode["steps"]:
            old = re.sub(r"move (\S+ \d+) to (\S+ \d+)", r"put \1 in/on \2", step["action"])
            turns.append({"role": "assistant", "content": f"Thought: so\nAction: {old}"})
            turns.append({"role": "user", "content": step["observation"]})
        file = f"/elsewhere/json_2.1.1/{episode['game']}/game.tw-pddl"
        return {"messages": turns, "meta": {"gamefile": file}}

    assert labels(map(talk, episodes)) == plain
    longest = max(len(each["steps"]) for each in episodes)
    steps = [
        {
            "traj_uid": each["game"],
            "extra.gamefile": f"C/{each['game']}/game.tw-pddl",
            "output": f"<think></think><action>{each['steps'][t]['action']}</action>",
        }
        for t in range(longest)
        for each in episodes
        if t < len(each["steps"])
    ]
    assert labels(steps) == plain
