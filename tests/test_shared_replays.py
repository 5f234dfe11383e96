"""Stages and the verify command use as many environment objects as can work at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from toys.slow_lane import LoneLane, SlowLane
from toys.training import make_model, toy_config
from typer.testing import CliRunner

from trajevolve.cli.main import app
from trajevolve.config import RunConfig
from trajevolve.experiment import Experiment
from trajevolve.schedule import stages
from trajevolve.stages import STAGES


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    make_model(folder)
    return folder


def configured(model: Path, lane: str) -> RunConfig:
    environment = {"name": f"toys.slow_lane:{lane}", "split": "all", "step_limit": 8}
    return toy_config(model, env=environment, evolution={"every": 1}, iterations=1)


def verified(config: RunConfig, project: Path) -> Mapping[str, float]:
    """Run one iteration, evolution included, and return the verification's metrics."""
    experiment = Experiment(project / "runs" / "r", config, project)
    for stage in stages(config, 0):
        STAGES[stage](experiment, 0)
    metrics = experiment.commit(0, "verification").metrics
    beside = list(experiment.beside)
    assert len(beside) == (experiment.environment.spec.concurrent or 0) - 1
    assert all(lane.tasks_reset for lane in beside if isinstance(lane, SlowLane))
    experiment.close()
    assert all(lane.closed for lane in SlowLane.made)
    return metrics


@pytest.mark.slow
def test_a_run_on_two_objects_verifies_what_one_on_one_does(model: Path, tmp_path: Path) -> None:
    SlowLane.made.clear()
    two = verified(configured(model, "SlowLane"), tmp_path / "two")
    one = verified(configured(model, "LoneLane"), tmp_path / "one")
    cost = {"transitions", "resets"}
    for name in two.keys() - cost:
        assert two[name] == one[name], name
    assert two["verified"] > 0
    assert two["transitions"] <= two["transitions_naive"]
    assert two["replays"] > two["verified"]


def test_the_verify_command_shares_replays_out(tmp_path: Path) -> None:
    row = {"task": "east", "actions": ["forth", "back", "look", "forth", "forth", "forth"]}
    rows = tmp_path / "rows.jsonl"
    rows.write_text(f"{json.dumps(row)}\n" * 2)
    answers = []
    for lane in (SlowLane, LoneLane):
        SlowLane.made.clear()
        name = f"toys.slow_lane:{lane.__name__}"
        result = CliRunner().invoke(app, ["verify", "--env", name, "--input", str(rows)])
        assert result.exit_code == 0, result.output
        answers.append([json.loads(line) for line in result.stdout.splitlines()])
        assert len(SlowLane.made) == (lane.spec.concurrent or 0)
        assert all(made.closed and made.executed for made in SlowLane.made)
    for two, one in zip(*answers, strict=True):
        assert two.pop("transitions") >= one.pop("transitions")
        assert two == one
        assert two["success"]
