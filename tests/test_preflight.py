"""What is looked at before a run starts, by whoever starts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from prefect.logging import disable_run_logger

from trajevolve.config import parse_config
from trajevolve.errors import UserError
from trajevolve.manifest import run_folder
from trajevolve.preflight import check
from trajevolve.tracking import flatten
from trajevolve_flows.launch import run_training, submit_training
from trajevolve_flows.train import train

SMALL: dict[str, Any] = {"rollout": {"groups": 1}, "evaluation": {"panel_size": 1}}
MISTAKES = {
    "method": ({"method": "nope"}, "method: 'nope' is unknown"),
    "device": ({"model": {"device": "gpu"}}, "model.device 'gpu': Expected one of"),
    "no such device here": ({"model": {"device": "meta:x"}}, "model.device 'meta:x': "),
    "exploration": (
        {"env": {"name": "webshop"}, "credit": {"exploration_neutral": True}},
        "credit.exploration_neutral: environment 'webshop' does not tell",
    ),
    "folder of MLflow": ({"tracking": {"uri": "mlruns"}}, "tracking.uri 'mlruns': expected a data"),
    "adapter": ({"discriminator": {"adapter": "/nowhere"}}, "/nowhere holds no adapter"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_flow_finds_what_would_stop_it_before_it_starts(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deployment run does not come by the command, which looks too."""
    content, message = MISTAKES[name]
    monkeypatch.chdir(tmp_path)
    overrides = flatten({**SMALL, **content})
    with disable_run_logger(), pytest.raises(UserError) as caught:
        train.fn("a", overrides=overrides)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_nobody_where_the_run_is_to_be_tracked() -> None:
    uri = "http://127.0.0.1:9"  # a port that is nobody's but the system's
    with pytest.raises(UserError, match=r"tracking\.uri .*: no server answers there; start it"):
        check(parse_config({**SMALL, "tracking": {"uri": uri}}))


def test_a_preset_that_a_file_overrules() -> None:
    content: dict[str, Any] = {**SMALL, "preset": "verl_agent_compat", "tracking": {}}
    assert not [line for line in check(parse_config(content)) if "preset" in line]
    content["env"] = {"step_limit": 20}
    content["agent"] = {"layout": "dialogue", "max_response_tokens": 8}
    (said,) = (line for line in check(parse_config(content)) if "preset" in line)
    assert said == (
        "preset verl_agent_compat is overruled in 3 keys: env.step_limit = 20 (50), "
        "agent.layout = dialogue (window), agent.max_response_tokens = 8 (512); what neither "
        "the file nor --set names keeps its values"
    )


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../a", "a/..", "/a", "-a", "a b", "a\n"])
@pytest.mark.parametrize("how", ["run", "submit", "flow"])
def test_a_name_that_leads_elsewhere(
    how: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    with disable_run_logger(), pytest.raises(UserError, match="expected a name of letters"):
        match how:
            case "run":
                run_training(parse_config({}), name)
            case "submit":
                submit_training(parse_config({}), name)
            case _:
                train.fn(name)
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_a_run() -> None:
    assert run_folder("demo-1.b_2") == Path("runs/demo-1.b_2")
