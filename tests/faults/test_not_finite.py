"""Numbers that are none: an optimiser step is left out and counted, sampling stops with one line.

That a skipped update leaves the weights alone and is counted stands in
``tests/learning/test_learner.py``; here is what lies around it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from toys.lane import Lane

from trajevolve.config import EnvConfig, RunConfig
from trajevolve.credit.discriminator import MAX_BAD_STEPS, Discriminator
from trajevolve.credit.discriminator_loading import open_discriminator
from trajevolve.errors import UserError
from trajevolve.optimiser_state import optimiser_tensors
from trajevolve.policy import Policy
from trajevolve.rollout import Episode, play
from trajevolve.storage import read_shard
from trajevolve.trajectory import Group, Trajectory, to_groups

State = dict[str, torch.Tensor]


@pytest.fixture
def groups(half: Path) -> list[Group]:
    return to_groups(read_shard(half / "shards" / "iter_0000_advantages.parquet"))


@pytest.fixture
def policy(config: RunConfig) -> Policy:
    return Policy(config)


@contextmanager
def bad_gradients(model: Any) -> Iterator[None]:
    """Have the loss stay finite and one gradient become NaN."""
    trained = next(p for p in model.parameters() if p.requires_grad)
    hook = trained.register_hook(lambda gradient: gradient * math.nan)
    try:
        yield
    finally:
        hook.remove()


def state(model: Any, optimiser: torch.optim.Optimizer) -> State:
    """Copy weights and moments, by name."""
    held = {**model.state_dict(), **optimiser_tensors(model, optimiser)}
    return {name: tensor.clone() for name, tensor in held.items()}


def same(one: State, other: State) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_bad_updates_in_a_row_are_counted_over_iterations_and_restarts(
    policy: Policy, config: RunConfig, groups: list[Group], tmp_path: Path
) -> None:
    learner = policy.learner
    learner.update(groups, seed=0)
    before = state(learner.model, learner.optimiser)
    with bad_gradients(learner.model):
        metrics = learner.update(groups, seed=0, iteration=1)
    skipped = int(metrics["skipped_updates"])
    assert 1 < skipped < config.learner.max_bad_steps
    assert (metrics["optimiser_steps"], learner.bad_updates) == (0.0, skipped)
    assert same(state(learner.model, learner.optimiser), before)
    policy.save(tmp_path / "checkpoint", 1)

    resumed = Policy(config)
    resumed.load(tmp_path / "checkpoint")
    assert resumed.learner.bad_updates == skipped
    assert same(state(resumed.learner.model, resumed.learner.optimiser), before)
    with bad_gradients(resumed.learner.model), pytest.raises(UserError, match="5 updates in a row"):
        for iteration in range(2, 5):
            resumed.learner.update(groups, seed=0, iteration=iteration)
    assert same(state(resumed.learner.model, resumed.learner.optimiser), before)
    resumed.load(tmp_path / "checkpoint")
    resumed.learner.update(groups, seed=0, iteration=2)
    assert resumed.learner.bad_updates == 0


def test_the_discriminator_stops_likewise(config: RunConfig, half: Path, tmp_path: Path) -> None:
    lessons = read_shard(half / "shards" / "iter_0001_verification.parquet")
    judge = make_judge(config)
    judge.fit(lessons, seed=0)
    before = state(judge.model, judge.optimiser)
    with bad_gradients(judge.model):
        metrics = judge.fit(lessons, seed=1)
    skipped = int(metrics["skipped_updates"])
    assert 0 < skipped == judge.bad_steps < MAX_BAD_STEPS
    assert same(state(judge.model, judge.optimiser), before)
    judge.save(tmp_path / "adapter")

    resumed = make_judge(config)
    resumed.load(tmp_path / "adapter")
    with bad_gradients(resumed.model), pytest.raises(UserError, match="5 steps in a row"):
        resumed.fit(lessons, seed=2, epochs=MAX_BAD_STEPS - skipped)
    assert same(state(resumed.model, resumed.optimiser), before)
    resumed.fit(lessons, seed=3)
    assert resumed.bad_steps == 0


def test_a_discriminator_that_answers_nan_is_not_asked_further(
    config: RunConfig, half: Path
) -> None:
    lessons = read_shard(half / "shards" / "iter_0001_verification.parquet")
    judge = make_judge(config)
    judge.fit(lessons, seed=0)
    spoil(judge.model)
    with pytest.raises(UserError, match="discriminator: its answers are not numbers"):
        judge.predict(lessons)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_sampling_from_nan_is_one_line(policy: Policy, temperature: float) -> None:
    spoil(policy.learner.model)
    episodes = [Episode(task.id, task, seed) for seed, task in enumerate(Lane().tasks("all"))]
    with pytest.raises(UserError, match=r"policy: the probabilities .*\(episode east, step 0\)"):
        play(episodes, policy.agent(temperature), Lane, EnvConfig())


def test_old_probabilities_that_are_nan_are_one_line(policy: Policy, groups: list[Group]) -> None:
    spoil(policy.learner.model)
    members: list[Trajectory] = [replace(t) for group in groups for t in group]
    with pytest.raises(UserError, match="learner: the model gives no numbers for the tokens of "):
        policy.learner.old_logprobs(members)


def make_judge(config: RunConfig) -> Discriminator:
    return open_discriminator(config.discriminator, config.model, config.env.name, 0)


def spoil(model: Any) -> None:
    """Make one weight that every token passes NaN."""
    with torch.no_grad():
        next(p for name, p in model.named_parameters() if name.endswith("norm.weight")).fill_(
            math.nan
        )
