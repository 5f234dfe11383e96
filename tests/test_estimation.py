"""Estimates: parameters from file headers, and what they grow with."""

from pathlib import Path

import pytest

from trajevolve.config import RunConfig, load_config
from trajevolve.errors import UserError
from trajevolve.estimation import count_parameters, estimate


@pytest.fixture
def model(tmp_path: Path) -> Path:
    import numpy as np
    from safetensors.numpy import save_file

    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    arrays = {"a": np.zeros((30, 40), np.float32), "b": np.zeros(7, np.float16)}
    save_file(arrays, folder / "model.safetensors", metadata={"format": "pt"})
    save_file({"moments": np.zeros(999, np.float32)}, folder / "optimizer.safetensors")
    return folder


def settings(model: Path, *overrides: str) -> RunConfig:
    device = "model.device=cpu"
    return load_config(None, [f"model.name={model}", device, "iterations=10", *overrides])


def test_parameters_are_those_of_the_model_alone(model: Path) -> None:
    assert count_parameters(model) == 30 * 40 + 7


def test_episodes_by_hand(model: Path) -> None:
    config = settings(
        model,
        "rollout.groups=3",
        "rollout.group_size=4",
        "evolution.every=5",
        "evolution.per_group=2",
        "evaluation.panel_size=20",
        "evaluation.every=4",
        "evaluation.selection_size=7",
        "env.step_limit=6",
    )
    found = estimate(config)
    # 10·3·4 sampled, 2 rounds of 3·2 evolved, the panel twice, the selection twice.
    assert found.episodes == 120 + 12 + 40 + 14
    assert found.steps == 6 * found.episodes


def test_time_grows_with_the_work_and_is_not_given_for_a_gpu(model: Path) -> None:
    less = estimate(settings(model)).seconds
    more = estimate(settings(model, "rollout.group_size=16")).seconds
    assert less is not None and more is not None
    assert more > less
    assert estimate(settings(model, "model.device=cuda")).seconds is None
    science = estimate(settings(model, "env.name=scienceworld"))
    assert science.seconds is not None
    assert science.seconds == pytest.approx(less + 0.1 * science.steps)


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere"):
        estimate(settings(tmp_path / "nowhere"))
