"""Labels on the simulator against a verifier written apart, which drives the real engine."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from against_engine.games import GameOnDisk, sample_games
from against_engine.labels import against_downward, against_replay
from against_engine.machines import Downward, Engines
from against_engine.record import DEFAULT_DATA
from against_engine.trajectories import Success, clumsy_successes

from trajevolve.envs.alfworld.domain import TASK_TYPES
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.export import write_games

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("fast_downward") is None,
        reason="the extra alfworld is not installed (make install EXTRAS=alfworld)",
    ),
    pytest.mark.skipif(
        not DEFAULT_DATA.is_dir(), reason=f"the published games are not at {DEFAULT_DATA}"
    ),
]


@pytest.fixture(scope="module")
def engines():
    """The engine's translator replaces sys.argv, and importing alfworld sets ALFWORLD_DATA."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", sys.argv)
        patch.setitem(os.environ, "ALFWORLD_DATA", str(DEFAULT_DATA))
        yield Engines()


@pytest.fixture(scope="module")
def successes(tmp_path_factory):
    """One redundant success of each type, three of published games, three of generated ones."""
    games = sample_games(12, 7, DEFAULT_DATA, tmp_path_factory.mktemp("games"))
    return clumsy_successes([*games[:3], *games[9:]], each=1, attempts=24, seed=7)


def test_labels_equal_those_driven_by_libdownward(engines, successes):
    compared = list(against_downward(engines, successes))
    assert {one.success.game.type for one in compared} == set(TASK_TYPES)
    assert {one.success.game.origin for one in compared} == {"published", "generated"}
    assert [one.differences for one in compared] == [[]] * len(TASK_TYPES)
    assert sum(one.invalid for one in compared) > 0
    assert all(one.redundant["cumulative"] > one.invalid for one in compared)


def test_states_of_libdownward_can_be_gone_back_to(engines, successes):
    """The verifier that judges stands on state numbers: the same way leads to the same state."""
    success = successes[0]
    machine = Downward(engines, success.game.path)
    ways = []
    for _ in range(2):
        machine.start()
        assert not machine.solved()
        states = [machine.state()]
        for action in success.actions:
            machine.do(action)
            states.append(machine.state())
        assert machine.solved()
        ways.append(states)
    assert ways[0] == ways[1]
    assert len(set(ways[0])) > 3


def test_labels_equal_those_of_naive_replay_in_the_whole_engine(engines, tmp_path: Path):
    file = write_games(tmp_path, 1, seed=4, difficulty="easy", data=DEFAULT_DATA).files[0]
    environment = AlfworldEnvironment()
    task = environment.task(str(file))
    environment.reset(task)
    plan = environment.plan()
    first = plan[0]
    actions = (first, "open moon 1", "look", plan[1], first, *plan[1:])
    success = Success(GameOnDisk(file, "generated", task.type), task, actions)
    replayed = against_replay(engines, success, repeats=3)
    assert replayed.differences == []
    # Every executed action but the two queries is left out once, after the replay as it is.
    assert replayed.resets > len(plan)
