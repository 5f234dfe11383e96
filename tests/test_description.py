"""Runs are told apart by what was changed, in texts that Markdown leaves alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trajevolve.config import load_config, parse_config
from trajevolve.description import (
    changes,
    changes_text,
    code,
    plain,
    run_description,
    run_tags,
    variant,
)

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ({}, "trajevolve"),
        ({"method": "grpo"}, "grpo"),
        ({"credit": {"lam": 0}}, "trajevolve, credit.lam=0.0"),
        (
            {"credit": {"alpha": 0}, "evolution": {"enabled": False}},
            "trajevolve, credit.alpha=0.0, evolution.enabled=false",
        ),
        ({"method": "grpo", "evolution": {"enabled": True}}, "grpo, evolution.enabled=true"),
        (
            {"evolution": {"strategies": ["elimination"]}},
            'trajevolve, evolution.strategies=["elimination"]',
        ),
        ({"preset": "paper"}, "trajevolve"),
        ({"seed": 3, "learner": {"lr": 0.1}, "evolution": {"every": 2}}, "trajevolve"),
    ],
)
def test_a_variant_is_the_method_and_the_switches_thrown(
    content: dict[str, Any], name: str
) -> None:
    assert variant(parse_config(content)) == name


def test_the_default_parameters_file_throws_switches_that_a_baseline_does_not_have() -> None:
    params = ROOT / "params.yaml"
    thrown = "credit.step_advantage=centred, credit.invalid_advantage=-2.0"
    assert variant(load_config(params)) == f"trajevolve, {thrown}"
    assert variant(load_config(params, ["method=grpo"])) == "grpo"


def test_changes_name_what_differs_from_the_preset_and_nothing_else() -> None:
    apart = {"seed": 4, "iterations": 7, "threads": 1, "tracking": {"enabled": False}}
    assert changes(parse_config(apart)) == {}
    assert changes_text(parse_config(apart)) == "nothing"
    paper = parse_config({"preset": "paper", "learner": {"lr": 2e-6}})
    assert changes(paper) == {"learner.lr": 2e-6}
    shop = parse_config({"env": {"name": "webshop", "split": "generated:train"}})
    assert changes(shop) == {"env.split": "generated:train"}
    machine = parse_config({"env": {"workers": 3, "step_timeout_s": 9.0}})
    assert changes(machine) == {}
    own = parse_config({"env": {"name": "scienceworld", "options": {"heap_mb": 300}}})
    assert changes(own) == {"env.options.heap_mb": 300}


def test_what_a_baseline_switches_off_is_a_change() -> None:
    text = "method=grpo, discriminator.enabled=false, evolution.enabled=false"
    assert changes_text(parse_config({"method": "grpo"})) == text


def test_tags_have_what_a_compare_view_needs() -> None:
    tags = run_tags(parse_config({"method": "grpo", "seed": 5, "credit": {"mode": "independent"}}))
    assert tags["variant"] == "grpo, credit.mode=independent"
    assert "credit.mode=independent" in tags["changed"]
    assert (tags["seed"], tags["environment"], tags["preset"]) == ("5", "alfworld", "default")


def test_a_description_says_what_is_on_where_it_lies_and_how_it_goes_on() -> None:
    config = parse_config({"evolution": {"enabled": False}, "credit": {"lam": 0.25}})
    text = run_description(config, Path("/p/runs/mine"))
    assert "| evolution\u00a0\u00a0 | off |" in text
    assert "| λ, step advantage\u00a0\u00a0 | 0.25, signed |" in text
    assert "`trajevolve train --config runs/mine/params.yaml --run mine`" in text
    assert "`/p/runs/mine`" in text and "`trajevolve view mine`" in text
    assert "Result" not in text


def test_the_texts_of_others_stay_text() -> None:
    assert code("a|b`c\nd") == "`a\\|b'c d`"
    assert plain("pick_two_obj*") == "pick\\_two\\_obj\\*"
    text = run_description(parse_config({"model": {"name": "x`\n# <b>y"}}), Path("runs/r"))
    assert "\n# " not in text.replace("\n### ", "")
