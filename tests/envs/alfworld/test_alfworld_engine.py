"""The real engine, where it is installed; its absence, where it is not."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.export import write_games
from trajevolve.errors import UserError

installed = pytest.mark.skipif(
    find_spec("fast_downward") is None, reason="the extra alfworld is not installed"
)


@pytest.mark.skipif(find_spec("fast_downward") is not None, reason="the engine is installed")
def test_a_missing_engine_says_how_to_get_it() -> None:
    with pytest.raises(UserError, match="make install EXTRAS=alfworld"):
        AlfworldEnvironment(backend="engine")


@installed
@pytest.mark.slow
def test_generated_games_play_alike_on_engine_and_simulator(
    tmp_path: Path, real_data: Path
) -> None:
    written = write_games(tmp_path, 6, seed=12, difficulty="easy", data=real_data)
    engine, simulator = AlfworldEnvironment(real_data, "engine"), AlfworldEnvironment(real_data)
    rng = np.random.default_rng(0)
    for file in written.files:
        task = simulator.task(str(file))
        assert engine.reset(engine.task(str(file))) == simulator.reset(task)
        for turn in range(80):
            options = [*simulator.candidates(), "open moon 1", "help", "look", "inventory"]
            action = options[int(rng.integers(len(options)))]
            plan = simulator.plan()
            if turn > 25 or rng.random() < 0.4:
                assert plan, file
                action = plan[0]
            expected = simulator.step(action)
            assert engine.step(action) == expected, (file, action)
            if expected.done:
                break
        assert expected.done
    engine.close()
