"""The whole pipeline on WebShop: the built-in policy trains, evolves and is measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from toys.training import trained_run

from trajevolve.config import load_config
from trajevolve.experiment import Experiment
from trajevolve.summary import summarise

ROOT = Path(__file__).parents[3]
SMALL = (
    "iterations=2",
    "threads=1",
    "rollout.groups=3",
    "rollout.group_size=4",
    "evolution.every=2",
    "evaluation.panel_size=24",
    "tracking.enabled=false",
    "versioning.enabled=false",
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Experiment]:
    project = tmp_path_factory.mktemp("project")
    config = load_config(ROOT / "params.webshop.yaml", SMALL)
    with trained_run(config, project, "shop") as experiment:
        yield experiment


def test_the_built_in_policy_can_shop_and_has_much_to_learn(trained: Experiment) -> None:
    before = summarise(trained)["before"]
    assert 0.0 < before["success"] < before["score"] < 0.8


def test_every_answer_is_an_action_and_fits(trained: Experiment) -> None:
    steps = [step for t in trained.read(0, "rollout") for step in t.steps]
    assert all(len(step.response_ids) <= 16 for step in steps)
    valid = [step for step in steps if step.valid and step.action]
    assert len(valid) > 0.5 * len(steps)
    assert all(step.action.endswith("]") for step in valid if step.action)


def test_wrong_clicks_and_searches_are_corrected(trained: Experiment) -> None:
    evolved = [t for t in trained.read(1, "evolution") if t.evolution is not None]
    assert {"elimination", "correction"} & {t.evolution.strategy for t in evolved if t.evolution}
    corrected = [t for t in evolved if t.evolution and t.evolution.strategy == "correction"]
    for child in corrected:
        assert any(step.valid for step in child.steps)
