"""Which stages an iteration has."""

from __future__ import annotations

from trajevolve.config import parse_config
from trajevolve.schedule import all_stages, evaluates, evolves, stages

ITERATION = ["rollout", "verification", "labelling", "discriminator", "advantages", "update"]


def test_an_ordinary_iteration_follows_the_algorithm() -> None:
    assert stages(parse_config({"iterations": 40}), 7) == ITERATION


def test_evolution_comes_every_f_iterations_before_the_advantages() -> None:
    config = parse_config({"iterations": 12, "evolution": {"every": 5}})
    assert [k for k in range(12) if evolves(config, k)] == [4, 9]
    named = stages(config, 4)
    assert named.index("discriminator") < named.index("evolution") < named.index("advantages")
    off = parse_config({"iterations": 12, "evolution": {"enabled": False}})
    assert not any(evolves(off, k) for k in range(12))


def test_both_ends_are_measured_once() -> None:
    config = parse_config({"iterations": 3, "evaluation": {"every": 2}})
    everything = list(all_stages(config))
    assert everything[0] == (0, "evaluation_before")
    assert everything[-1] == (3, "evaluation_after")
    assert [k for k, stage in everything if stage == "evaluation"] == [1]
    assert not evaluates(parse_config({}), 9)


def test_without_a_discriminator_nothing_is_labelled_by_it() -> None:
    config = parse_config({"discriminator": {"enabled": False}})
    assert stages(config, 1) == ["rollout", "verification", "advantages", "update"]


def test_a_run_of_no_iterations_only_measures() -> None:
    assert list(all_stages(parse_config({"iterations": 0}))) == [(0, "evaluation_after")]
