"""The real engine, where it is installed; its absence, where it is not."""

import gzip
import io
import json
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from trajevolve.cli.playing import episode
from trajevolve.credit.rows import verify_rows
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.export import write_games
from trajevolve.envs.contract import Environment
from trajevolve.errors import UserError

installed = pytest.mark.skipif(
    find_spec("fast_downward") is None, reason="the extra alfworld is not installed"
)


@pytest.fixture
def engine(real_data: Path) -> Environment:
    return AlfworldEnvironment(real_data, "engine")


def test_a_missing_engine_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "alfworld.agents.environment.alfred_tw_env", None)
    with pytest.raises(UserError, match="make install EXTRAS=alfworld"):
        AlfworldEnvironment(backend="engine")


def walk(env: AlfworldEnvironment, engine: Environment, steps: int, seed: int) -> None:
    """Take the same random steps on both; texts, commands and flags have to be equal."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        options = [*env.candidates(), "open moon 1", "help", "look", "inventory"]
        action = options[int(rng.integers(len(options)))]
        expected = env.step(action)
        assert engine.step(action) == expected, action
        if expected.done:
            return


@installed
@pytest.mark.slow
def test_generated_games_of_all_types_play_alike_on_engine_and_simulator(
    tmp_path: Path, real_data: Path, engine: Environment
) -> None:
    written = write_games(tmp_path, 6, seed=12, difficulty="easy", data=real_data)
    simulator = AlfworldEnvironment(real_data)
    for seed, file in enumerate(written.files):
        task, same = simulator.task(str(file)), engine.task(str(file))
        assert (task.type, task.text, task.digest) == (same.type, same.text, same.digest)
        assert engine.reset(same) == simulator.reset(task)
        won = []
        for command in json.loads(file.read_text())["walkthrough"]:
            outcome = engine.step(command)
            assert outcome == simulator.step(command), (file, command)
            won.append(outcome.success)
        assert won == [False] * (len(won) - 1) + [True]
        assert engine.reset(same) == simulator.reset(task)
        walk(simulator, engine, 15, seed)


@installed
@pytest.mark.slow
def test_a_recorded_game_is_played_again(real_data: Path, engine: Environment) -> None:
    with gzip.open(real_data / "engine_transcripts.jsonl.gz", "rt") as lines:
        recorded = json.loads(next(lines))
    ref = str(real_data / "json_2.1.1" / recorded["game"])
    steps = recorded["steps"]
    first, *answers = episode(engine, ref, iter([step["action"] for step in steps]))
    assert [first[key] for key in ("observation", "admissible")] == [
        recorded[key] for key in ("observation", "admissible")
    ]
    for step, answer in zip(steps, answers, strict=True):
        assert {key: answer[key] for key in step if key != "action"} == {
            key: step[key] for key in step if key != "action"
        }
        assert answer["valid"] == (step["observation"] != "Nothing happens.")


@installed
@pytest.mark.slow
def test_the_engine_labels_steps_like_the_simulator(real_data: Path, engine: Environment) -> None:
    simulator = AlfworldEnvironment(real_data)
    task = simulator.tasks("generated:eval", 1)[0]
    simulator.reset(task)
    plan = simulator.plan()
    assert plan is not None
    actions = ["look", "open moon 1", "go to nowhere", *plan]
    rows = ["no row", json.dumps({"task": task.id, "actions": actions})]
    expected, found = list(verify_rows(rows, simulator)), list(verify_rows(rows, engine))
    assert found[0] == expected[0] and "error" in found[0]
    # Without snapshots more transitions are executed for the same labels.
    assert found[1].pop("transitions") >= expected[1].pop("transitions")
    assert found[1] == expected[1] and found[1]["success"]
    assert found[1]["labels"] == [1, 0, 0] + [1] * len(plan)


BROKEN: dict[str, Callable[[str], str]] = {
    "declares twice": lambda text: text.replace("(:objects", "(:objects agent1 - agent", 1),
    "undeclared": lambda text: text.replace("(:init", "(:init (openable nothing_bar_1)", 1),
    "cut off": lambda text: text[: len(text) // 2],
    "no PDDL": lambda text: "room",
}


@installed
@pytest.mark.slow
def test_unreadable_games_are_errors_of_one_line_and_harm_no_other_game(
    tmp_path: Path, real_data: Path, engine: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", ["the", "command"])
    printed = io.StringIO()
    monkeypatch.setattr(sys, "stdout", printed)
    with pytest.raises(RuntimeError, match="reset"):
        engine.step("look")
    game = json.loads(write_games(tmp_path, 1, seed=3, data=real_data).files[0].read_text())
    good = tmp_path / "game.tw-pddl"
    good.write_text(json.dumps(game))
    for name, breaks in BROKEN.items():
        bad = tmp_path / "bad.tw-pddl"
        bad.write_text(json.dumps({**game, "pddl_problem": breaks(game["pddl_problem"])}))
        with pytest.raises(UserError, match=r"TextWorld cannot read the game \(") as caught:
            engine.reset(engine.task(str(bad)))
        assert "\n" not in str(caught.value), name
        with pytest.raises(RuntimeError, match="reset"):
            engine.step("look")
    engine.reset(engine.task(str(good)))
    assert engine.step("look").feasible
    engine.close()
    engine.close()
    assert sys.argv == ["the", "command"] and "ALFWORLD_DATA" not in os.environ
    assert not printed.getvalue()


@installed
@pytest.mark.slow
def test_games_with_the_old_verb_are_played_with_either(
    tmp_path: Path, real_data: Path, engine: Environment
) -> None:
    file = write_games(
        tmp_path, 1, seed=5, difficulty="easy", types=("pick_and_place_simple",), data=real_data
    ).files[0]
    game = json.loads(file.read_text())
    old = game["grammar"].replace('"move {o} to {r}"', '"put {o} in/on {r}"')
    file.write_text(json.dumps({**game, "grammar": old}))
    task = engine.task(str(file))
    *approach, last = game["walkthrough"]
    _, thing, number, _, place, which = last.split()
    put = f"put {thing} {number} in/on {place} {which}"
    for action in (last, put):
        engine.reset(task)
        assert all(engine.step(command).feasible for command in approach)
        assert put in engine.candidates()
        assert engine.canonical(action) == put
        assert engine.step(action).success
