"""Progress on a terminal and silence in a pipe; Ctrl-C, as a terminal sends it to all at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from toys.terminal import on_terminal
from toys.training import make_model, toy_config

from trajevolve.cli.outcome import evolution_line, places, result_line, same_command
from trajevolve.config import load_config

TESTS = Path(__file__).parent
TRAJEVOLVE = [sys.executable, "-m", "trajevolve"]
EVALUATE = [*TRAJEVOLVE, "evaluate", "--policy", "random", "--tasks", "4", "--limit", "6"]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux terminals")


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PREFECT_")}
    return {**kept, "PYTHONPATH": str(TESTS), "OMP_NUM_THREADS": "1"}


@linux
def test_bars_on_a_terminal_and_none_in_a_pipe(tmp_path: Path) -> None:
    status, lines = on_terminal(EVALUATE, tmp_path, environment())
    assert status == 0
    bars = [line for line in lines if "evaluating on generated:eval" in line and "━" in line]
    assert bars
    # Colours may be asked for in a pipe; that makes it no terminal.
    forced = environment() | {"FORCE_COLOR": "1"}
    piped = subprocess.run(
        EVALUATE, cwd=tmp_path, env=forced, capture_output=True, text=True, check=True
    )
    assert piped.stderr == "configuration: defaults (no params.yaml here)\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    make_model(folder / "model")
    content = toy_config(folder / "model").model_dump(mode="json")
    (folder / "params.yaml").write_text(yaml.safe_dump(content))
    return folder


@linux
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_run_is_interrupted_and_goes_on_with_the_command_it_names(project: Path) -> None:
    train = [*TRAJEVOLVE, "train", "--run", "mine", "--set", "threads=1"]
    status, lines = on_terminal(train, project, environment(), interrupt_at="2/2, rollout")
    assert status == 130
    drawn = [line for line in lines if "━" in line]
    # What is over in less than a redraw may never show.
    for words in ("starting Prefect", "iteration 1/2, "):
        assert any(words in line for line in drawn), words
    # Where the bar had stood: the terminal's own ^C stays in that line.
    (said,) = [number for number, line in enumerate(lines) if "interrupted; " in line]
    assert "what is committed in runs/mine stays. To go on:" in lines[said]
    assert lines[said + 1] == "trajevolve train --run mine --set threads=1"
    assert not "".join(lines[said + 2 :])
    assert not any(word in line for line in lines for word in ("Crash", "ERROR", "Traceback"))
    piped = subprocess.run(train, cwd=project, env=environment(), capture_output=True, text=True)
    assert piped.returncode == 0, piped.stderr
    started, resumed, note, chosen, iteration, result = piped.stderr.splitlines()
    assert started == "run runs/mine: trajevolve, 2 iterations, configuration: params.yaml"
    assert note == "note: split all holds 2 tasks, evaluation.selection_size = 64"
    assert chosen.startswith(
        "note: the best checkpoint is chosen on 2 tasks, 2 of them on the panel"
    )
    stage = resumed.removeprefix("going on with ").removesuffix(" in iter_0001")
    assert stage in ("rollout", "verification", "labelling", "discriminator")  # keys take a moment
    assert iteration.startswith("iteration 2/2: success ")
    assert result.startswith("finished: success ")
    for expected in ("95 % interval", "paired tasks (95 %)", "evolved: ", "trajevolve view mine"):
        assert expected in piped.stdout


def test_the_command_to_go_on_can_be_pasted() -> None:
    assert same_command("a", Path("my file.yaml"), ["env.name=x:Y", "evolution.strategies=[]"]) == (
        "trajevolve train --run a --config 'my file.yaml' --set env.name=x:Y "
        "--set 'evolution.strategies=[]'"
    )


def test_what_was_learnt_and_where_it_lies() -> None:
    summary = {
        "evolution": {
            "elimination": {"attempted": 1200, "succeeded": 1100, "used": 900},
            "rollback": {"attempted": 0, "succeeded": 0, "used": 0},
        },
        "updates_of_result": 21,
        "iterations": 28,
        "paths": {"model": "iter_0020/update/checkpoint"},
    }
    assert evolution_line(summary) == "evolved: elimination 1,200 tried, 1,100 solved, 900 used"
    assert result_line(summary).startswith("result: the policy after 21 of 28 updates")
    assert result_line(summary | {"updates_of_result": 28}) == ""
    remote = load_config(None, ["tracking.uri=https://mlflow.example"])
    found = dict(places(summary, Path("runs/demo"), remote))
    assert found["summary"] == "runs/demo/summary.json"
    assert found["steps"] == "trajevolve view demo"
    assert found["MLflow"] == "https://mlflow.example"
    assert "runs/demo/iter_0020/update/checkpoint" in found["model"]
    local = dict(places(summary, Path("runs/demo"), load_config()))
    assert local["MLflow"] == "mlflow ui --backend-store-uri sqlite:///mlflow.db"
    untracked = places(summary, Path("runs/demo"), load_config(None, ["tracking.enabled=false"]))
    assert "MLflow" not in dict(untracked)
