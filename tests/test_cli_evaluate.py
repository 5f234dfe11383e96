"""`evaluate`: whose configuration counts, what it is compared with, and what it says of both."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trajevolve.cli.configuration import evaluation_settings
from trajevolve.cli.main import main
from trajevolve.config import load_config
from trajevolve.manifest import open_run

CORRIDOR = "toys.corridor:Corridor"
Evaluate = Callable[..., dict[str, Any]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    return tmp_path


@pytest.fixture
def evaluate(here: Path, capsys: pytest.CaptureFixture[str]) -> Evaluate:
    """Evaluate the random policy and return the JSON."""

    def run(*arguments: object) -> dict[str, Any]:
        command = ["evaluate", "--policy", "random", *map(str, arguments), "--json"]
        assert main(command) == 0
        return dict(json.loads(capsys.readouterr().out))

    return run


def checkpoint_of(run: Path, *settings: str) -> Path:
    """Start a run, with a folder where its first checkpoint would lie."""
    open_run(run, load_config(None, settings))
    folder = run / "iter_0000" / "update" / "checkpoint"
    folder.mkdir(parents=True)
    (folder / "checkpoint.json").write_text("{}")
    return folder


def chosen(model: Path | None = None, **options: Any) -> dict[str, Any]:
    keys = {"env": "env.name", "limit": "env.step_limit"}
    given = {keys[name]: value for name, value in options.items()}
    return {"env.name": None, "model.name": model and str(model), **given}


def test_the_step_limit_is_that_of_params_yaml_here(evaluate: Evaluate, here: Path) -> None:
    bare = evaluate("--env", CORRIDOR)
    assert (bare["step_limit"], bare["configuration"]) == (30, "defaults (no params.yaml here)")
    (here / "params.yaml").write_text(f"env: {{name: '{CORRIDOR}', step_limit: 7}}\n")
    assert (evaluate()["step_limit"], evaluate()["configuration"]) == (7, "params.yaml")
    assert evaluate("--limit", 3)["step_limit"] == 3
    assert evaluate("--set", "env.step_limit=4")["step_limit"] == 4
    (here / "other.yaml").write_text("env: {step_limit: 9}\n")
    other = evaluate("--config", "other.yaml", "--env", CORRIDOR)
    assert (other["step_limit"], other["configuration"]) == (9, "other.yaml")


def test_params_of_another_environment_do_not_count(here: Path) -> None:
    (here / "params.yaml").write_text("env: {step_limit: 7}\nagent: {max_response_tokens: 8}\n")
    settings, origin = evaluation_settings(None, [], chosen(env=CORRIDOR))
    assert (settings.env.step_limit, settings.agent.max_response_tokens) == (30, 24)
    assert "another environment" in origin
    settings, origin = evaluation_settings(None, [], chosen(env="alfworld"))
    assert (settings.env.step_limit, origin) == (7, "params.yaml")


def test_a_checkpoint_is_evaluated_as_its_run_was(here: Path) -> None:
    (here / "params.yaml").write_text("env: {step_limit: 7}\n")
    model = checkpoint_of(
        here / "runs" / "mine", "env.step_limit=11", "agent.layout=window",
        "evaluation.temperature=0.7", "evaluation.panel_size=5",
    )  # fmt: skip
    settings, origin = evaluation_settings(None, [], chosen(model))
    assert settings.model.name == str(model)
    assert (settings.env.step_limit, settings.agent.layout) == (11, "window")
    assert (settings.evaluation.temperature, settings.evaluation.panel_size) == (0.7, 5)
    assert origin == str(here / "runs" / "mine")
    settings, _ = evaluation_settings(None, ["seed=3"], chosen(model, limit=6))
    assert (settings.env.step_limit, settings.seed, settings.agent.layout) == (6, 3, "window")


def test_an_exported_model_is_prompted_as_it_was_trained(here: Path) -> None:
    (here / "params.yaml").write_text("env: {step_limit: 7}\nagent: {layout: dialogue}\n")
    (here / "policy").mkdir()
    (here / "policy" / "agent.json").write_text('{"layout": "window"}')
    settings, origin = evaluation_settings(None, [], chosen(here / "policy"))
    assert (settings.env.step_limit, settings.agent.layout) == (7, "window")
    assert origin == "params.yaml"


def test_fewer_tasks_than_asked_for_are_said(
    evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    result = evaluate("--env", CORRIDOR, "--tasks", 5)
    assert (result["overall"]["tasks"], result["tasks_asked"]) == (1, 5)
    assert main(["evaluate", "--policy", "random", "--env", CORRIDOR, "--tasks", "5"]) == 0
    assert "holds 1 task, not the 5 asked for" in capsys.readouterr().err
    assert evaluate("--env", CORRIDOR)["tasks_asked"] == 200


def test_the_panel_is_of_the_size_that_is_configured(
    evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = ("--env", "webshop", "--limit", 1)
    assert evaluate(*shop, "--set", "evaluation.panel_size=3")["overall"]["tasks"] == 3
    assert evaluate(*shop)["overall"]["tasks"] == 144  # of 200
    assert "holds" not in capsys.readouterr().err
    whole = evaluate(*shop, "--split", "test", "--set", "evaluation.panel_size=3")
    assert (whole["overall"]["tasks"], whole["tasks_asked"]) == (144, None)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("BrokenReplay", "KeyError: "), ("StuckInReplay", "TimeoutError: no answer within 0.5 s")],
)
def test_a_success_that_cannot_be_verified_is_said_and_json_stays_json(
    here: Path, capsys: pytest.CaptureFixture[str], name: str, reason: str
) -> None:
    environment = ("--env", f"faults.misbehaving:{name}", "--set", "env.step_timeout_s=0.5")
    play = ("evaluate", "--policy", "random", *environment, "--tasks", "2", "--limit", "300")
    assert main([*play, "--json"]) == 0
    said = capsys.readouterr()
    overall = json.loads(said.out)["overall"]
    assert (overall["successes"], overall["redundancy"]) == (2, None)
    (warning,) = [line for line in said.err.splitlines() if line.startswith("warning: ")]
    assert warning.startswith("warning: 2 of 2 successes left without labels: ")
    assert reason in warning and "(east)" in warning
    assert main([*play, "--no-verify", "--json"]) == 0
    assert "warning" not in capsys.readouterr().err


def test_prompts_that_do_not_fit_are_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play = ("evaluate", "--model", "builtin", "--split", "generated:eval", "--tasks", "2")
    assert main([*play, "--limit", "3", "--set", "agent.max_prompt_tokens=30"]) == 0
    assert "warning: 4 of 6 prompts, in 2 episodes, did not fit" in capsys.readouterr().err
    assert main([*play, "--limit", "3"]) == 0
    assert "warning" not in capsys.readouterr().err


def failure(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    assert main(["evaluate", *map(str, arguments)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1
    return said


def test_another_step_limit_is_not_compared(
    evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate("--env", CORRIDOR, "--limit", 5, "--output", "five.json")
    common = ("--policy", "random", "--env", CORRIDOR, "--against", "five.json")
    said = failure(capsys, *common, "--limit", 6, "--output", "six.json")
    for part in ("five.json", "six.json", "step limit 5", "has 6", "--limit 5"):
        assert part in said
    assert not Path("six.json").exists()
    compared = evaluate("--env", CORRIDOR, "--limit", 5, "--against", "five.json")
    assert compared["comparison"]["tasks"] == 1


def test_other_tasks_are_refused_before_they_are_played(
    evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    first = evaluate("--tasks", 2, "--limit", 2, "--output", "two.json", "--no-verify")
    common = ("--policy", "random", "--tasks", 3, "--limit", 2, "--against", "two.json")
    said = failure(capsys, *common)  # nothing about episodes comes before the error
    assert "two.json: holds 2 tasks, this evaluation 3, " in said
    assert first["tasks_asked"] == 2


def test_another_temperature_of_a_model_is_not_compared(
    evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier = evaluate("--tasks", 1, "--limit", 2, "--output", "hot.json", "--no-verify")
    Path("hot.json").write_text(json.dumps(earlier | {"temperature": 1.0}))
    said = failure(
        capsys, "--model", "builtin", "--tasks", 1, "--limit", 2, "--against", "hot.json"
    )
    assert "hot.json" in said and "temperature 1.0" in said and "0.4" in said


def test_other_options_of_the_environment_are_not_compared(
    evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier = evaluate("--env", CORRIDOR, "--limit", 5)
    Path("easy.json").write_text(json.dumps(earlier | {"options": {"simplified": "yes"}}))
    said = failure(
        capsys, "--policy", "random", "--env", CORRIDOR, "--limit", 5, "--against", "easy.json"
    )
    assert 'env.options {"simplified": "yes"}, this evaluation has {}' in said


def test_an_evaluation_of_a_run_tells_its_conditions_by_the_run(
    evaluate: Evaluate, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint_of(here / "runs" / "mine", f"env.name={CORRIDOR}", "env.step_limit=5")
    stage = here / "runs" / "mine" / "iter_0000" / "evaluation_before"
    stage.mkdir()
    result = evaluate("--env", CORRIDOR, "--limit", 5)
    own = {key: result[key] for key in ("schema_version", "overall", "types", "episodes")}
    (stage / "evaluation.json").write_text(json.dumps(own))
    path = stage / "evaluation.json"
    assert "comparison" in evaluate("--env", CORRIDOR, "--limit", 5, "--against", path)
    common = ("--policy", "random", "--env", CORRIDOR, "--against")
    assert "step limit 5" in failure(capsys, *common, path, "--limit", 4)
    shutil.copy(path, "alone.json")
    assert "expected a file written by" in failure(capsys, *common, "alone.json")
