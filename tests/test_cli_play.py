"""`play` over a pipe: the JSON contract, bad input, limits, and the real engine's answers."""

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from toys.corridor import TASK, Corridor

from trajevolve.cli.main import main
from trajevolve.cli.playing import LONGEST_LINE, episode, read_actions

KEYS = ["observation", "admissible", "valid", "won", "done", "reward"]
GAME = "generated/eval/default/0/0-pick_and_place_simple"
SHARED = Path(__file__).parent.parent.parent / "shared" / "data" / "alfworld"
PLAN = ["go to room 1", "take key", "go to room 2", "go to room 3", "open chest"]


class Stdin:
    """Standard input with bytes in it."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def play(
    content: bytes,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *arguments: str,
    task: str = GAME,
) -> list[dict[str, Any]]:
    monkeypatch.setattr(sys, "stdin", Stdin(content))
    assert main(["play", "--env", "alfworld", "--task", task, *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return [json.loads(line) for line in captured.out.splitlines()]


def test_the_start_and_every_action_have_one_object_with_the_keys_in_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = play(b"look\ngo to the moon\n", monkeypatch, capsys)
    assert [list(answer) for answer in answers] == [KEYS] * 3
    start, look, moon = answers
    assert start["observation"].startswith("-= Welcome to TextWorld, ALFRED! =-")
    assert (start["valid"], start["won"], start["done"], start["reward"]) == (True, False, False, 0)
    assert look["valid"] is True
    assert (moon["valid"], moon["observation"]) == (False, "Nothing happens.")
    assert moon["admissible"] == look["admissible"]


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"   \n",
        b"\x00\x01\x02\n",
        b"\xff\xfe\n",
        b"go to\x00cabinet 1\n",
        b"x" * (3 * LONGEST_LINE) + b"\n",
        b"take" + b" a" * LONGEST_LINE + b"\n",
        b'{"action": "look"}\n',
        "go to cabinet １\n".encode(),
    ],
    ids=[
        "empty",
        "blank",
        "control",
        "not-utf8",
        "nul-inside",
        "long",
        "long-words",
        "json",
        "wide",
    ],
)
def test_a_line_that_is_no_action_is_an_invalid_action(
    line: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = play(line + b"inventory\n", monkeypatch, capsys)
    assert [answer["valid"] for answer in answers] == [True, False, True]


def test_windows_line_ends_and_a_missing_last_one_are_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = play(b"look\r\ninventory", monkeypatch, capsys)
    assert [answer["valid"] for answer in answers] == [True, True, True]


def test_the_limit_ends_the_episode(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = play(b"look\n" * 50, monkeypatch, capsys, "--limit", "3")
    assert [answer["done"] for answer in answers] == [False, False, False, True]
    assert len(play(b"look\n" * 50, monkeypatch, capsys)) == 51


def test_an_episode_ends_when_it_is_won() -> None:
    answers = list(episode(Corridor(), TASK.id, iter([*PLAN, "look", "look"])))
    assert [answer["won"] for answer in answers] == [False] * 5 + [True]
    assert [answer["done"] for answer in answers] == [False] * 5 + [True]
    assert [answer["reward"] for answer in answers] == [0.0] * 5 + [1.0]


def test_long_lines_are_cut_and_the_next_line_is_whole() -> None:
    stream = io.BytesIO(b"a" * (2 * LONGEST_LINE + 5) + b"\nlook\n")
    assert [len(action) for action in read_actions(stream)] == [LONGEST_LINE, 4]


def test_each_answer_is_there_before_the_next_action_is_sent() -> None:
    command = [sys.executable, "-m", "trajevolve", "play", "--env", "alfworld", "--task", GAME]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        first = json.loads(process.stdout.readline())
        for action in first["admissible"][:3]:
            process.stdin.write(action.encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["valid"] is True
        process.stdin.close()
        assert process.wait(30) == 0


def check_against_the_engine(
    transcript: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Play a recorded episode; it goes on after a win, where `play` ends."""
    actions = "".join(step["action"] + "\n" for step in transcript["steps"]).encode()
    data = str(SHARED / "json_2.1.1")
    answers = play(actions, monkeypatch, capsys, "--data", data, task=transcript["game"])
    recorded = [transcript, *transcript["steps"]]
    won = [step.get("won", False) for step in recorded]
    expected = recorded[: won.index(True) + 1] if True in won else recorded
    assert len(answers) == len(expected)
    for answer, step in zip(answers, expected, strict=True):
        assert answer["observation"] == step["observation"]
        assert answer["admissible"] == step["admissible"]
        assert answer["won"] == answer["done"] == step.get("won", False)


def transcripts() -> list[dict[str, Any]]:
    if not SHARED.is_dir():
        pytest.skip("the published games are not at ../shared/data")
    with gzip.open(SHARED / "engine_transcripts.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def test_answers_equal_the_recorded_engine_on_one_game_of_a_type(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for transcript in transcripts()[::6]:
        check_against_the_engine(transcript, monkeypatch, capsys)


@pytest.mark.slow
def test_answers_equal_the_recorded_engine_on_every_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = transcripts()
    assert len(recorded) == 30
    for transcript in recorded:
        check_against_the_engine(transcript, monkeypatch, capsys)
