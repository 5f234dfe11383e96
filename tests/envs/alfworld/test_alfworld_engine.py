"""The real engine, where it is installed; its absence, where it is not."""

import gzip
import io
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from against_engine.commands import KINDS
from against_engine.equality import compare
from against_engine.games import GameOnDisk, sample_games

from trajevolve.cli.playing import episode
from trajevolve.credit.rows import verify_rows
from trajevolve.envs.alfworld.domain import TASK_TYPES
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.export import write_games
from trajevolve.envs.contract import Environment, Outcome
from trajevolve.errors import UserError

installed = pytest.mark.skipif(
    find_spec("fast_downward") is None,
    reason="the extra alfworld is not installed (make install EXTRAS=alfworld)",
)


@pytest.fixture
def engine(real_data: Path) -> Environment:
    return AlfworldEnvironment(real_data, "engine")


def test_a_missing_engine_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "alfworld.agents.environment.alfred_tw_env", None)
    with pytest.raises(UserError, match="make install EXTRAS=alfworld"):
        AlfworldEnvironment(backend="engine")


@installed
@pytest.mark.slow
@pytest.mark.timeout(1200)  # 80 CPU seconds, and much longer on a machine that does other work
def test_ten_games_of_all_types_play_alike_on_engine_and_simulator(
    tmp_path: Path, real_data: Path, engine: Environment
) -> None:
    games = sample_games(10, 5, real_data, tmp_path)
    assert {game.type for game in games} == set(TASK_TYPES)
    assert Counter(game.origin for game in games) == {"published": 6, "generated": 4}
    *_, total = compare(AlfworldEnvironment(real_data), engine, games, actions=12, seed=5)
    assert total.differences == []
    assert sum(total.sent.values()) == 120
    assert total.wins > 0
    assert total.executed["elsewhere"] < total.sent["elsewhere"]


def texts(outcomes: list[Outcome]) -> list[str]:
    return [outcome.observation.text for outcome in outcomes]


@installed
@pytest.mark.slow
def test_a_generated_game_is_won_in_the_engine_by_its_walkthrough(
    tmp_path: Path, real_data: Path, engine: Environment
) -> None:
    file = write_games(tmp_path, 1, seed=12, difficulty="easy", data=real_data).files[0]
    task = engine.task(str(file))
    engine.reset(task)
    walkthrough = json.loads(file.read_text())["walkthrough"]
    outcomes = [engine.step(command) for command in walkthrough]
    won = [outcome.success for outcome in outcomes]
    assert won == [False] * (len(won) - 1) + [True]
    simulator = AlfworldEnvironment(real_data)
    simulator.reset(task)
    explored = simulator.exploring(walkthrough, texts([simulator.step(c) for c in walkthrough]))
    assert 0 < len(explored) < len(walkthrough)
    assert engine.exploring(walkthrough, texts(outcomes)) == explored


class Faulty(AlfworldEnvironment):
    """A simulator that answers one command wrongly."""

    fault: Callable[[Outcome], Outcome] = staticmethod(lambda outcome: outcome)

    def step(self, action: str) -> Outcome:
        outcome = super().step(action)
        return self.fault(outcome) if self.canonical(action) == "look" else outcome


def retold(outcome: Outcome, **changes: Any) -> Outcome:
    return replace(outcome, observation=replace(outcome.observation, **changes))


FAULTS: dict[str, Callable[[Outcome], Outcome]] = {
    "text": lambda outcome: retold(outcome, text=outcome.observation.text + " "),
    "commands": lambda outcome: retold(
        outcome,
        admissible=outcome.observation.admissible[:-1],  # type: ignore[index]
    ),
    "feasibility": lambda outcome: replace(outcome, feasible=False),
    "won": lambda outcome: replace(outcome, success=True, done=True),
}


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_the_comparison_sees_every_kind_of_difference(tmp_path: Path, fault: str | None) -> None:
    files = write_games(tmp_path, 2, seed=9, difficulty="easy").files
    games = [GameOnDisk(file, "generated", "any") for file in files]
    judge = Faulty()
    if fault is not None:
        judge.fault = FAULTS[fault]
    *_, total = compare(AlfworldEnvironment(), judge, games, actions=60, seed=0)
    assert len(total.differences) == (0 if fault is None else len(games))
    assert all(difference["sent"][-1].strip() == "look" for difference in total.differences)


def test_every_kind_of_text_is_drawn_and_few_of_the_bad_ones_can_be_executed(
    tmp_path: Path,
) -> None:
    file = write_games(tmp_path, 1, seed=9, difficulty="easy").files[0]
    env = AlfworldEnvironment()
    games = [GameOnDisk(file, "generated", "any")]
    *_, total = compare(env, AlfworldEnvironment(), games, actions=1500, seed=1)
    assert total.sent.keys() == {*KINDS, "plan"}
    assert total.executed["admissible"] == total.sent["admissible"] > 100
    assert total.executed["plan"] == total.sent["plan"] > 100
    for kind in ("case", "empty", "long"):
        assert total.executed[kind] == 0 < total.sent[kind]
    for kind in ("elsewhere", "malformed", "non-ASCII"):
        assert total.executed[kind] < total.sent[kind] / 3


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
