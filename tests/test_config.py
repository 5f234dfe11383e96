"""params.yaml: presets, overrides, and one clear line for every mistake."""

import hashlib
import json
from pathlib import Path

import pytest

from trajevolve.config import RunConfig, load_config, parse_config
from trajevolve.errors import UserError
from trajevolve.presets import PRESETS

ROOT = Path(__file__).parents[1]


def test_the_shipped_file_is_valid_and_overrides_win():
    config = load_config(ROOT / "params.yaml", ["rollout.groups=3", "env=alfworld", "seed=7"])
    assert (config.rollout.groups, config.env.name, config.seed) == (3, "alfworld", 7)


def test_presets_are_valid_and_what_is_written_beats_them():
    for name in PRESETS:
        assert load_config(None, [f"preset={name}"]).preset == name
    paper = load_config(None, ["preset=paper", "rollout.groups=2"])
    assert (paper.rollout.groups, paper.rollout.group_size, paper.learner.lr) == (2, 8, 1e-6)
    assert (paper.credit.mode, paper.agent.layout, paper.iterations) == (
        "independent",
        "window",
        150,
    )


def test_a_baseline_switches_off_what_it_does_not_use():
    grpo = load_config(None, ["method=grpo"])
    assert not grpo.evolution.enabled and not grpo.discriminator.enabled
    assert load_config(None, ["method=grpo", "evolution.enabled=true"]).evolution.enabled
    assert load_config().evolution.enabled


def test_the_digest_covers_what_decides_the_result():
    base = RunConfig()
    assert parse_config({"tracking": {"enabled": False}}).digest() == base.digest()
    assert parse_config({"iterations": 7}).digest() == base.digest()
    assert parse_config({"seed": 1}).digest() != base.digest()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("rollout.group=3", "unknown key 'rollout.group'; did you mean 'groups'? allowed here"),
        ("nothing=1", "unknown key 'nothing'; allowed here: schema_version, preset, method"),
        ("learner.clip=2", "learner.clip: Input should be less than 1, got 2"),
        ("rollout.group_size=1", "rollout.group_size: Input should be greater than or equal to 2"),
        ("credit.mode=both", "credit.mode: Input should be 'cumulative' or 'independent'"),
        ("rollout.groups=many", "rollout.groups: Input should be a valid integer"),
        ("preset=papers", "preset: 'papers' is unknown; allowed: default, paper"),
        ("schema_version=2", "schema_version: Input should be 1"),
        ("seed", "expected a.b=value"),
        ("rollout=3", "rollout has keys of its own; name one, as in rollout.groups=...; they are"),
        ("learner=fast", "name one, as in learner.lr=..."),
        ("seed.x.y=1", "seed: Input should be a valid integer"),
        ("rollout.groups=[", "not valid YAML"),
    ],
)
def test_mistakes_are_named(override, message):
    with pytest.raises(UserError) as caught:
        load_config(None, [override])
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("rollout.group=2", "--set rollout.group: unknown key"),
        ("nothing=1", "--set nothing: unknown key"),
        ("preset=mine", "--set preset: preset: 'mine' is unknown"),
        ("env=3", "--set env: env.name: Input should be a valid string"),
        ("seed.x=1", "--set seed.x: seed: Input should be a valid integer"),
        ("evolution.strategies=[a]", "--set evolution.strategies: evolution.strategies.0: "),
    ],
)
def test_a_mistake_is_said_to_be_where_it_was_made(tmp_path, override, message):
    path = tmp_path / "params.yaml"
    path.write_text("learner: {clip: 0.3}\n")
    with pytest.raises(UserError) as caught:
        load_config(path, ["learner.clip=0.1", override])
    assert str(caught.value).startswith(message)
    path.write_text("rollout: {grops: 3}\n")
    with pytest.raises(UserError) as caught:
        load_config(path, ["rollout.groups=4"])
    assert str(caught.value).startswith(f"{path}: unknown key 'rollout.grops'")
    with pytest.raises(UserError, match=r"^the command line: env\.step_limit: "):
        load_config(None, ["env.step_limit=5"], over=["env.step_limit=0"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not valid YAML"),
        ("- 1\n- 2\n", "expected keys with values, got list"),
        ("env:\n  nam: x\n", "unknown key 'env.nam'; did you mean 'name'?"),
        ("env: 3\n", "env: Input should be a valid dictionary"),
    ],
)
def test_files_with_mistakes_are_named(tmp_path, text, message):
    path = tmp_path / "params.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        load_config(path)
    assert str(path) in str(caught.value) and message in str(caught.value)


def test_a_missing_or_unreadable_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"no such file; give a params\.yaml"):
        load_config(tmp_path / "none.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="cannot be read"):
        load_config(tmp_path / "binary.yaml")


def test_what_was_added_counts_where_it_is_set_and_processes_never_do():
    """Runs from before there were options go on: without any the digest is what it was."""
    plain = load_config(None, []).digest()
    with_options = load_config(None, ["env.options.size=3"])
    assert with_options.env.options == {"size": 3} and with_options.digest() != plain
    assert load_config(None, ["credit.exploration_neutral=true"]).digest() != plain
    assert load_config(None, ["env.workers=3"]).digest() == plain
    before = load_config(None, []).model_dump(mode="json")
    for name in ("options", "workers", "step_timeout_s"):
        del before["env"][name]
    del before["credit"]["exploration_neutral"], before["credit"]["invalid_advantage"]
    for name in ("tracking", "versioning", "iterations"):
        del before[name]
    assert plain == hashlib.md5(json.dumps(before, sort_keys=True).encode()).hexdigest()


def test_scienceworld_names_its_simplifications_unless_others_are_set():
    assert load_config(None, ["env=scienceworld"]).env.options == {"simplifications": "easy"}
    others = load_config(None, ["env=scienceworld", "env.options.simplifications=none"])
    assert others.env.options == {"simplifications": "none"}
    assert others.env.step_limit == 30 and others.evaluation.panel == "test"
