"""The whole pipeline on the real simulator: the built-in policy is rolled out and trained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from toys.training import trained_run

from trajevolve.config import load_config
from trajevolve.envs.contract import Kind
from trajevolve.experiment import Experiment

ROOT = Path(__file__).parents[3]
TYPES = "find-non-living-thing,find-living-thing"
SMALL = (
    "iterations=1",
    "threads=1",
    f"env.split=train:{TYPES}",
    "env.workers=2",
    "env.step_limit=16",
    "rollout.groups=2",
    "rollout.group_size=3",
    "evolution.every=1",
    f"evaluation.panel=test:{TYPES}",
    "evaluation.panel_size=2",
    "tracking.enabled=false",
    "versioning.enabled=false",
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def trained(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Experiment]:
    project = tmp_path_factory.mktemp("project")
    config = load_config(ROOT / "params.scienceworld.yaml", SMALL)
    with trained_run(config, project, "science") as experiment:
        yield experiment


def test_the_built_in_policy_speaks_the_simulators_language(trained: Experiment) -> None:
    steps = [step for t in trained.read(0, "rollout") for step in t.steps]
    assert sum(step.valid for step in steps) > 0.3 * len(steps)
    assert all(step.admissible is None for step in steps)


def test_successes_are_verified_on_two_processes(trained: Experiment) -> None:
    metrics = trained.commit(0, "verification").metrics
    assert metrics["verified"] == metrics["successes"]
    assert metrics["transitions"] <= metrics["transitions_naive"]
    assert (metrics["replays"] > 0) == (metrics["successes"] > 0)
    assert len(trained.beside) == 1
    for played in trained.read(0, "verification"):
        if played.verified:
            assert all(played.steps[t].label == 1 for t in played.minimal)
            asked = [step for step in played.steps if step.kind == Kind.INFORMATION and step.valid]
            assert all(step.label == 1 for step in asked)


def test_every_stage_is_committed_and_success_is_a_score_of_100(trained: Experiment) -> None:
    assert trained.next_point() is None
    for played in trained.read(0, "rollout"):
        assert played.success == (played.score == 1.0)
        assert played.success == (played.termination == "success")
