"""The simulator against the real engine: recorded episodes and published walkthroughs."""

import gzip
import json
from pathlib import Path

import pytest

from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.gamefile import read_game
from trajevolve.envs.alfworld.planner import Planner
from trajevolve.envs.alfworld.problem import parse_problem, render_problem
from trajevolve.envs.alfworld.reader import _members
from trajevolve.envs.alfworld.simulator import Simulator


def test_recorded_engine_episodes_are_equal_in_every_text_and_command(real_data: Path) -> None:
    env = AlfworldEnvironment(real_data)
    compared = 0
    with gzip.open(real_data / "engine_transcripts.jsonl.gz", "rt") as lines:
        for line in lines:
            episode = json.loads(line)
            first = env.reset(env.task(str(real_data / "json_2.1.1" / episode["game"])))
            assert first.text == episode["observation"], episode["game"]
            assert list(first.admissible or ()) == episode["admissible"], episode["game"]
            for step in episode["steps"]:
                where = (episode["game"], step["action"])
                outcome = env.step(step["action"])
                assert outcome.observation.text == step["observation"], where
                assert list(outcome.observation.admissible or ()) == step["admissible"], where
                assert outcome.success == step["won"], where
                assert outcome.feasible == (step["observation"] != "Nothing happens."), where
                compared += 1
    assert compared > 450


def assert_won_exactly_at_the_end(archive: Path) -> int:
    count = 0
    for name, data in _members(archive):
        game = read_game(data, name)
        simulator = Simulator(parse_problem(game.problem, name))
        state, won = simulator.start, []
        for command in game.walkthrough:
            operation = simulator.operation(command)
            assert operation is not None, (name, command)
            after = simulator.apply(state, operation)
            assert after is not None, (name, command)
            state = after
            won.append(simulator.solved(state))
        assert won == [False] * (len(won) - 1) + [True], name
        # The published walkthroughs are shortest plans in steps too.
        assert Planner(simulator).distance(simulator.start) == len(won), name
        count += 1
    return count


def test_walkthroughs_of_valid_seen(real_data: Path) -> None:
    assert assert_won_exactly_at_the_end(real_data / "valid_seen.tar.zst") == 140


@pytest.mark.slow
def test_walkthroughs_of_train(real_data: Path) -> None:
    assert assert_won_exactly_at_the_end(real_data / "train.tar.zst") == 3553


def test_problems_survive_writing_and_reading(real_data: Path) -> None:
    for file in sorted((real_data / "json_2.1.1").glob("valid_*/*/*/game.tw-pddl")):
        problem = parse_problem(read_game(file.read_bytes(), str(file)).problem, str(file))
        assert parse_problem(render_problem(problem), "again") == problem
