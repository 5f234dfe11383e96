"""What `train` looks for before it starts, and what it has to say about the settings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from trajevolve.cli.main import main
from trajevolve.config import load_config
from trajevolve.errors import UserError
from trajevolve.manifest import check_run, open_run
from trajevolve.models.loading import BUILTIN

POLICY = BUILTIN / "alfworld" / "policy"
ADAPTER = BUILTIN / "alfworld" / "discriminator"
CORRIDOR = ("env.name=toys.corridor:Corridor", f"model.name={POLICY}")
LANE = ("env.name=toys.lane:Lane", "env.split=all", f"model.name={POLICY}",
        "evaluation.panel=all", "evaluation.selection=all")  # fmt: skip
FEW = ("rollout.groups=2", "evaluation.panel_size=5")
UNJUDGED = "no failure will be rolled back"
OPTIMISTIC = "the best checkpoint is chosen on"
Train = Callable[..., tuple[int, str]]


@pytest.fixture
def train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Train:
    """Run `train` with settings in an empty folder; return its status and what it said."""
    monkeypatch.chdir(tmp_path)

    def run(*settings: str, options: tuple[str, ...] = ("--dry-run",)) -> tuple[int, str]:
        status = main(["train", *options, *(f"--set={each}" for each in (*FEW, *settings))])
        return status, capsys.readouterr().err

    return run


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """The built-in model's configuration with another hidden size."""
    folder = tmp_path / "wide"
    folder.mkdir()
    content = json.loads((POLICY / "config.json").read_text())
    content["hidden_size"] *= 2
    (folder / "config.json").write_text(json.dumps(content))
    return folder


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """The built-in adapter with one bit turned over."""
    folder = tmp_path / "damaged"
    shutil.copytree(ADAPTER, folder)
    path = folder / "adapter_model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("model=nowhere", "discriminator.model 'nowhere': no such folder; give"),
        ("adapter=nowhere", "discriminator.adapter 'nowhere': nowhere holds no adapter"),
        (f"adapter={POLICY}", "holds no adapter"),
        ("adapter=damaged", "adapter_model.safetensors: damaged"),
        ("lora_rank=8", "'builtin': is of rank 16, discriminator.lora_rank = 8"),
        ("model=wide", "discriminator.model has 256"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--dry-run",)], ids=["", "dry"])
def test_a_discriminator_that_could_not_be_opened(
    options: tuple[str, ...], setting: str, said: str, wide: Path, damaged: Path, train: Train
) -> None:
    status, error = train(f"discriminator.{setting}", options=options)
    assert status == 2
    assert error.startswith("error: ") and said in error
    assert error.count("\n") == 1
    assert not Path("runs").exists()


def test_an_environment_without_built_in_weights_names_the_key(train: Train) -> None:
    status, error = train(*CORRIDOR)
    assert status == 2 and "discriminator.model 'builtin'" in error


def test_a_discriminator_that_can_be_opened_passes(wide: Path, train: Train) -> None:
    assert train(f"discriminator.adapter={ADAPTER}")[0] == 0
    assert train("discriminator.adapter=null", "discriminator.model=wide")[0] == 0
    assert train("discriminator.enabled=false", "discriminator.model=nowhere")[0] == 0


def test_an_oracle_needs_plan_distances(train: Train) -> None:
    oracle = ("evolution.oracle_rollback=true", "discriminator.enabled=false")
    status, error = train(*CORRIDOR, *oracle)
    assert status == 2
    assert "error: evolution.oracle_rollback: environment 'toys.corridor:Corridor'" in error
    assert train(*CORRIDOR, *oracle, "evolution.enabled=false")[0] == 0
    assert train(*LANE, *oracle)[0] == 0


def test_neutral_credit_needs_an_environment_that_tells_exploration(train: Train) -> None:
    neutral = "credit.exploration_neutral=true"
    status, error = train(*CORRIDOR, neutral)
    assert status == 2
    assert "error: credit.exploration_neutral: environment 'toys.corridor:Corridor'" in error
    assert train(neutral)[0] == 0
    assert train(*CORRIDOR, neutral, "method=grpo")[0] == 0


def test_rollback_without_anything_that_judges_is_noted(train: Train) -> None:
    baseline = ("method=grpo", "evolution.enabled=true")
    status, said = train(*baseline)
    assert status == 0 and f"note: {UNJUDGED}: discriminator.enabled = false" in said
    for more in (
        "discriminator.enabled=true",
        "evolution.oracle_rollback=true",
        "evolution.strategies=[elimination, correction]",
        "evolution.enabled=false",
    ):
        status, said = train(*baseline, more)
        assert status == 0 and UNJUDGED not in said
    assert UNJUDGED not in train()[1]


def test_a_checkpoint_chosen_on_the_reported_panel_is_noted(train: Train) -> None:
    same = ("evaluation.selection=generated:eval", "evaluation.selection_size=3")
    status, said = train(*same, "evaluation.every=1", "evaluation.panel_size=200")
    assert status == 0 and f"note: {OPTIMISTIC} 3 tasks, 3 of them on the panel" in said
    # Samples of 3 and of 5 of these 200 games that have none in common.
    assert OPTIMISTIC not in train(*same, "evaluation.every=1")[1]
    assert OPTIMISTIC not in train(*same, "evaluation.panel_size=200")[1]
    assert OPTIMISTIC not in train("evaluation.every=1")[1]


def test_the_plan_of_a_shorter_run_is_refused_as_the_run_would_be(train: Train) -> None:
    open_run(Path("runs") / "mine", load_config(None, [*FEW, "iterations=28"]))
    shorter = load_config(None, [*FEW, "iterations=5"])
    with pytest.raises(UserError, match="a run can only get longer") as caught:
        check_run(Path("runs") / "mine", shorter)
    for options in (("--dry-run", "--run=mine"), ("--run=mine",)):
        assert train("iterations=5", options=options) == (2, f"error: {caught.value}\n")
    assert train("iterations=30", options=("--dry-run", "--run=mine"))[0] == 0
