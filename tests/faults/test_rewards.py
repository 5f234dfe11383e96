"""Rewards and scores that cannot be, or that are huge: a failed episode, or a bounded update."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from toys.lane import Lane
from toys.training import toy_config

from faults.misbehaving import NUMBERS, Paying
from faults.toyrun import go_on
from trajevolve.agent.agents import ScriptedAgent
from trajevolve.agent.contract import Turn
from trajevolve.config import EnvConfig, RunConfig, parse_config
from trajevolve.errors import UserError
from trajevolve.ledger import Ledger
from trajevolve.policy import Policy
from trajevolve.rollout import Episode, play
from trajevolve.storage import read_shard
from trajevolve.trajectory import to_groups

EAST = Lane().task("east")


class Looks(ScriptedAgent):
    def choose(self, turn: Turn) -> str:
        return "look" if len(turn.history) == 1 else "forth"


@pytest.mark.parametrize(("what", "value"), NUMBERS)
def test_a_number_that_cannot_be_fails_the_episode(what: str, value: float) -> None:
    given = {"reward": 0.0, "score": 0.0} | {what: value}
    (played,) = play([Episode("a", EAST, 0)], Looks(), lambda: Paying(**given), EnvConfig())
    assert played.termination.startswith(f"error: ValueError: {what} {value!r}")
    assert "'look'" in played.termination
    assert (played.success, played.reward, len(played)) == (False, 0.0, 1)
    assert math.isfinite(played.score)


@pytest.mark.parametrize("score", [1 + 1e-9, -1e-9])
def test_rounding_is_no_error(score: float) -> None:
    paid = play([Episode("a", EAST, 0)], Looks(), lambda: Paying(0.0, score), EnvConfig())
    assert paid[0].success


@pytest.mark.parametrize("value", [".inf", "-.inf", ".nan"])
def test_the_configuration_holds_numbers_only(value: str) -> None:
    with pytest.raises(UserError, match=r"env\.success_reward: Input should be a finite number"):
        parse_config({"env": {"success_reward": float(value.replace(".", ""))}})


def test_a_huge_reward_leaves_the_update_bounded_and_shows(model: Path, tmp_path: Path) -> None:
    """A step is paid 1e30 and a success 1e30: the group's spread divides both out again."""
    environment = {
        "name": "faults.misbehaving:Paying",
        "split": "all",
        "step_limit": 8,
        "success_reward": 1e30,
    }
    config = toy_config(model, iterations=1, env=environment)
    run_dir = tmp_path / "runs" / "spike"
    go_on(run_dir, config)
    metrics = {c.stage: c.metrics for c in Ledger(run_dir, "").commits()}
    assert metrics["rollout"]["step_reward_max"] == 1e30
    assert all(math.isfinite(v) for of in metrics.values() for v in of.values())
    assert metrics["update"]["skipped_updates"] == 0.0
    trained = read_shard(run_dir / "shards" / "iter_0000_advantages.parquet")
    bound = math.sqrt(config.rollout.group_size) + config.credit.lam
    assert 0 < max(abs(s.advantage) for t in trained for s in t.steps) <= bound


def test_the_gradient_is_clipped_whatever_the_advantages_are(config: RunConfig, half: Path) -> None:
    from dataclasses import replace

    members = read_shard(half / "shards" / "iter_0000_advantages.parquet")
    huge = [
        replace(t, steps=tuple(replace(s, advantage=1e6 * s.advantage) for s in t.steps))
        for t in members
    ]
    settings = config.learner.model_copy(update={"mini_batch_steps": 1000})
    learner = Policy(config.model_copy(update={"learner": settings})).learner
    metrics = learner.update(to_groups(huge), seed=0)
    assert metrics["grad_norm"] > 1e3 * settings.max_grad_norm
    moments = [state["exp_avg"] / 0.1 for state in learner.optimiser.state.values()]
    assert torch.stack([m.norm() for m in moments]).norm() <= settings.max_grad_norm * 1.001
