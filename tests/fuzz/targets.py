"""Where input of a user comes in: for each place valid samples, and how to read one input there."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fuzz.judging import Broken, check_text
from fuzz.mutations import BINARY, JSON, TEXT, Mutation
from trajevolve.agent.parse import parse_response
from trajevolve.cli.playing import episode, read_actions
from trajevolve.cli.verifying import write_rows
from trajevolve.config import load_config
from trajevolve.credit.rows import verify_rows
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.generator import draw_games
from trajevolve.envs.alfworld.pack import load_pack, write_pack
from trajevolve.envs.alfworld.reader import Library, read_task
from trajevolve.envs.contract import Task
from trajevolve.errors import UserError
from trajevolve.storage import read_shard, write_shard
from trajevolve.trajectory import Evolution, Step, Trajectory

GAMES = 6
STEPS = 20


@dataclass(frozen=True)
class Target:
    """One place where input comes in.

    Attributes:
        name: for the record.
        share: of all inputs of a long run, in percent.
        kinds: ways to spoil its samples.
        samples: makes the valid samples; called with an empty folder for scratch files.
        read: reads one input, ``read(data, folder)``; raises what the program raises.
        file: name in `folder` that the input is written to first, "" where none is.
    """

    name: str
    share: int
    kinds: Sequence[Mutation]
    samples: Callable[[Path], list[bytes]]
    read: Callable[[bytes, Path], object]
    file: str = ""


@lru_cache(maxsize=1)
def games() -> list[tuple[Task, Any]]:
    """Generated games, one of each type, with their plans."""
    return list(draw_games(GAMES, 0, "easy", stream="fuzz"))


def game_files(folder: Path) -> list[bytes]:
    """Game files with hashes, and one with texts of an unknown domain."""
    from trajevolve.envs.alfworld.gamefile import Game, Texts, write_game

    made = [
        Game(game.sentence, game.problem, True, tuple(game.walkthrough), None)
        for _, game in games()
    ]
    grammar = '"""{"task": [{"rhs": "Your task is to: {task}."}]}"""'
    texts = Texts("(define (domain alfred))", grammar)
    first = made[0]
    other = Game(first.sentence, first.problem, True, first.walkthrough, texts)
    return [write_game(game).encode() for game in (*made, other)]


def play_task(task: Task) -> None:
    """Start `task` as every command does and take a few steps, plans included."""
    environment = AlfworldEnvironment()
    environment.reset(task)
    environment.success()
    for action in environment.candidates()[:STEPS]:
        environment.step(action)
        environment.state_key()
    environment.distance()


def try_task(task: Task) -> None:
    """Play a task of a collection; a refusal names the task, not the collection."""
    try:
        play_task(task)
    except UserError as error:
        check_text(str(error))


def read_game_file(data: bytes, folder: Path) -> None:
    """Read and play a game; every second one is read as the engine's games are."""
    path = str(folder / "game.tw-pddl")
    if len(data) % 2:
        play_task(read_task(data, path, "fuzz/task/trial"))
    else:
        read_task(data, path, "fuzz/task/trial", known=False)


def archive(suffix: str) -> Callable[[Path], list[bytes]]:
    """Samples of an archive of games with `suffix`."""

    def samples(folder: Path) -> list[bytes]:
        import zstandard

        made = []
        for start in (0, 3):
            stream = io.BytesIO()
            with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
                for number, data in enumerate(game_files(folder)[start : start + 2]):
                    long = "l" * (120 * number)
                    name = f"json_2.1.1/train/task{long}/trial{number}/game.tw-pddl"
                    member = tarfile.TarInfo(name)
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))
            made.append(stream.getvalue())
        if suffix == ".tar.zst":
            made = [zstandard.ZstdCompressor().compress(data) for data in made]
        return made

    return samples


def list_split(data: bytes, folder: Path) -> None:
    """List and play the split that lies in `folder`."""
    for task in Library(folder).tasks("train"):
        try_task(task)


def packs(folder: Path) -> list[bytes]:
    """Task packs."""
    made = []
    for count in (2, GAMES):
        path = folder / "pack.parquet"
        write_pack([task for task, _ in games()[:count]], path)
        made.append(path.read_bytes())
    return made


def read_pack(data: bytes, folder: Path) -> None:
    """Read a pack and play its first game."""
    for task in load_pack(folder / "pack.parquet")[:1]:
        try_task(task)


def shards(folder: Path) -> list[bytes]:
    """Shards of trajectories."""
    step = Step("o", ("look",), "look", "look", True, None, prompt_ids=(1,), response_ids=(2,))
    bare = Trajectory("i", "t", "", "x", 0, (step,) * 3, True, 1.0, 1.0)
    evolved = Trajectory(
        "j", "t", "", "x", 0, (step,), False, 0, 0, evolution=Evolution("i", "rollback", 1, 3, 1.0)
    )
    made = []
    for rows in ([bare], [bare, evolved] * 20):
        path = folder / "shard.parquet"
        write_shard(path, rows)
        made.append(path.read_bytes())
    return made


def row_files(folder: Path) -> list[bytes]:
    """Rows for `verify`: a plan, a plan with detours, and nothing done."""
    made = []
    for task, game in games()[:3]:
        plan = list(game.walkthrough)
        detour = ["look", *plan[:1], "inventory", *plan[1:], "nonsense"]
        rows = [{"task": task.id, "actions": plan}, {"task": task.id, "actions": detour, "n": 1.5}]
        made.append("\n".join(map(json.dumps, [*rows, {"task": task.id, "actions": []}])).encode())
    return made


def verify_lines(data: bytes, folder: Path) -> None:
    """Verify lines, and hold every answer against the contract of `verify`."""
    out = io.StringIO()
    lines = io.BytesIO(data)
    write_rows(verify_rows(lines, _environment()), out)
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    expected = sum(bool(line.strip()) for line in data.split(b"\n"))
    if len(answers) != expected:
        raise Broken(f"{len(answers)} answers to {expected} rows")
    for answer in answers:
        if "success" not in answer:
            check_text(answer["error"], "line ")
            if "environment failed" in answer["error"]:
                raise Broken(answer["error"][:300])


def action_texts(folder: Path) -> list[bytes]:
    """Actions for `play`."""
    return ["\n".join([*game.walkthrough, "look", ""]).encode() for _, game in games()]


def play_lines(data: bytes, folder: Path) -> None:
    """Play lines in a game."""
    environment = _environment()
    for answer in episode(environment, games()[0][0].id, read_actions(io.BytesIO(data)), STEPS):
        json.loads(json.dumps(answer, allow_nan=False))


def references(folder: Path) -> list[bytes]:
    """Names of tasks."""
    ids = [task.id.encode() for task, _ in games()]
    return [*ids, b"valid_seen/task/trial", b"game.tw-pddl", b"generated/free/8-12,10-20/3/1-x"]


def find_task(data: bytes, folder: Path) -> None:
    """Look a task up."""
    AlfworldEnvironment(data=folder).task(data.decode(errors="surrogateescape"))


def answers_of_models(folder: Path) -> list[bytes]:
    """Answers in both formats."""
    return [
        b"<think>The mug is in the sink.</think>\n<action>go to sinkbasin 1</action>",
        b"<action>look</action> <think>x</think> <action>inventory</action>",
        b"take mug 1 from sinkbasin 1",
        b"",
    ]


def parse_answer(data: bytes, folder: Path) -> None:
    """Read the action in every way; it is None or a lower-case text without outer blanks."""
    text = data.decode(errors="surrogateescape")
    for answer in ("action", "tagged"):
        for compatibility in ("strict", "verl_agent_compat"):
            parsed = parse_response(text, answer, compatibility)
            action = parsed.action
            if action is not None and (not action or action != action.strip().lower()):
                raise Broken(f"action {action!r}")
            if action is not None and parsed.fallback:
                raise Broken("an action and a fallback")


def configurations(folder: Path) -> list[bytes]:
    """Files with every key and with few."""
    import yaml

    full = yaml.safe_dump(load_config().model_dump(mode="json"))
    anchored = "preset: paper\nenv: &a\n  name: alfworld\n  step_limit: 9\nlearner: {lr: 1.0e-3}\n"
    merged = "learner: &a {lr: 0.1, clip: 0.3}\ndiscriminator: {lr: 0.2}\nx: {<<: [*a, *a]}\n"
    short = b"evolution:\n  strategies: [rollback]\n", b"seed: 3\n", b"learner: {lr: 0.5}\n"
    return [full.encode(), anchored.encode(), merged.encode(), *short]


def read_configuration(data: bytes, folder: Path) -> None:
    """Read a file of settings and hash what it says."""
    load_config(folder / "mine.yaml").digest()


def settings(folder: Path) -> list[bytes]:
    """Values for --set."""
    return [
        b"rollout.groups=4",
        b"preset=paper",
        b"env.name=alfworld",
        b"evolution.strategies=[elimination, rollback]",
        b"learner.lr=1e-4",
        b"method=grpo",
        b"tracking.uri=sqlite:///mlflow.db",
    ]


def apply_setting(data: bytes, folder: Path) -> None:
    """Apply one --set."""
    load_config(overrides=[data.decode(errors="surrogateescape")]).digest()


def run_command(data: bytes, folder: Path) -> None:
    """Hand the input to a command, which one its length says, and check its exit."""
    name = ("verify", "play", "task", "set", "config", "actions")[len(data) % 6]
    path = folder / "input"
    text = data.decode(errors="surrogateescape").replace("\0", "")
    # Which device there is only torch can tell, and its import is slow.
    estimate = ["estimate", "--set", "model.device=cpu"]
    arguments = {
        "verify": ["verify", "--env", "alfworld", "--input", str(path)],
        "play": ["play", "--env", "alfworld", "--task", str(path)],
        "task": ["play", "--env", "alfworld", f"--task={text}"],
        "set": [*estimate, f"--set={text}"],
        "config": [*estimate, "--config", str(path)],
        "actions": ["play", "--env", "alfworld", "--task", games()[0][0].id, "--limit", "9"],
    }
    check_exit(arguments[name], data, allowed=(0, 1, 2) if name == "verify" else (0, 2))


def check_exit(arguments: list[str], stdin: bytes, allowed: Sequence[int]) -> None:
    """Run a command in this process; raise Broken at a bad status, a traceback or two errors."""
    from trajevolve.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(arguments)
    finally:
        sys.stdin = before
    errors = [line for line in err.getvalue().splitlines() if line.startswith("error: ")]
    if "Traceback" in out.getvalue() + err.getvalue() or status not in allowed:
        raise Broken(f"{arguments[0]} ended with {status}: {err.getvalue()[-300:]!r}")
    if status == 2 and len(errors) != 1:
        raise Broken(f"{arguments[0]}: {len(errors)} errors: {err.getvalue()[-300:]!r}")
    for line in errors:
        check_text(line)


def command_input(folder: Path) -> list[bytes]:
    """Input of commands: rows, games, settings, actions."""
    found = [*row_files(folder), *game_files(folder)[:2], *settings(folder)]
    return [*found, *references(folder), *action_texts(folder), *configurations(folder)]


@lru_cache(maxsize=1)
def _environment() -> AlfworldEnvironment:
    return AlfworldEnvironment()


TARGETS: tuple[Target, ...] = (
    Target("answers of a model", 23, TEXT, answers_of_models, parse_answer),
    Target("rows of verify", 12, JSON, row_files, verify_lines),
    Target("actions of play", 6, TEXT, action_texts, play_lines),
    Target("names of tasks", 10, TEXT, references, find_task),
    Target("configuration files", 10, TEXT, configurations, read_configuration, "mine.yaml"),
    Target("--set", 12, TEXT, settings, apply_setting),
    Target("game files", 12, JSON, game_files, read_game_file),
    Target("archives .tar", 3, BINARY, archive(".tar"), list_split, "train.tar"),
    Target("archives .tar.zst", 2, BINARY, archive(".tar.zst"), list_split, "train.tar.zst"),
    Target("task packs", 6, BINARY, packs, read_pack, "pack.parquet"),
    Target(
        "shards",
        3,
        BINARY,
        shards,
        lambda data, folder: read_shard(folder / "shard.parquet"),
        "shard.parquet",
    ),
    Target("commands", 1, JSON, command_input, run_command, "input"),
)
