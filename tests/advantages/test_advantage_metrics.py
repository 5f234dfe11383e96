import math

import pytest

from trajevolve.advantages.metrics import advantage_metrics
from trajevolve.advantages.registry import estimator
from trajevolve.config import RunConfig
from trajevolve.trajectory import Group

CONFIG = RunConfig()


def summary(*groups, method="trajevolve", original=None):
    """Of groups whose own members are all still there, unless `original` says otherwise."""
    if original is None:
        original = [Group(group.task_id, group.sampled) for group in groups]
    filled = [[estimator(method)(group, CONFIG) for group in some] for some in (groups, original)]
    return advantage_metrics(*filled, CONFIG)


def test_groups_are_classified_by_the_sampled_outcomes(make_trajectory):
    won, lost = make_trajectory([1]), make_trajectory([None], success=False)
    metrics = summary(
        Group("a", (won, won)),
        Group("b", (lost, lost), (make_trajectory([1], evolved=True),)),
        Group("c", (won, lost)),
        Group("d", (lost, lost)),
    )
    assert metrics["all_success_groups"] == 0.25
    assert metrics["all_failure_groups"] == 0.5
    assert metrics["flat_groups"] == 0.5


def test_spread_due_to_rho(make_trajectory):
    clean, clumsy = make_trajectory([1, 1]), make_trajectory([1, 0])
    lost = make_trajectory([None], success=False)
    assert summary(Group("a", (clean, clumsy)))["rho_spread_share"] == 1.0
    assert summary(Group("a", (clean, lost)))["rho_spread_share"] == 0.0
    # Var(αρ) of (0.5, 0) is 1/16, Var(R) of (10, 0) is 25
    assert summary(Group("a", (clumsy, lost)))["rho_spread_share"] == pytest.approx(
        (1 / 16) / (25 + 1 / 16)
    )
    assert summary(Group("a", (clumsy, lost)), method="grpo")["rho_spread_share"] == 0.0


def test_sampled_and_all_members_apart(make_trajectory):
    lost = make_trajectory([None, None, None], success=False)
    metrics = summary(Group("a", (lost, lost), (make_trajectory([1], evolved=True),)))
    assert (metrics["sampled/count"], metrics["members/count"]) == (2, 3)
    assert (metrics["sampled/reward_mean"], metrics["members/reward_mean"]) == (0, 10 / 3)
    assert (metrics["sampled/success_rate"], metrics["members/success_rate"]) == (0, 1 / 3)
    assert (metrics["sampled/steps"], metrics["members/steps"]) == (3, 7 / 3)
    assert metrics["sampled/reward_std"] == 0
    assert metrics["members/reward_std"] == pytest.approx(math.sqrt(200 / 9))


def test_the_policys_own_count_where_evolved_ones_replaced_them(make_trajectory):
    lost, won = make_trajectory([None, None], success=False), make_trajectory([1, 0])
    child = make_trajectory([1], evolved=True)
    metrics = summary(Group("a", (won,), (child,)), original=[Group("a", (won, lost))])
    assert (metrics["sampled/count"], metrics["members/count"]) == (2, 2)
    assert (metrics["sampled/success_rate"], metrics["members/success_rate"]) == (0.5, 1)
    assert metrics["sampled/rho_of_successes"] == 0.5
    assert metrics["all_success_groups"] == 0


def test_magnitudes_average_over_steps(make_trajectory):
    metrics = summary(Group("a", (make_trajectory([1, 0, "i1", "i1"]),)))
    assert metrics["episode_advantage_abs"] == 0
    assert metrics["step_advantage_abs"] == 0.5
    assert metrics["credited_steps"] == 0.5
    assert metrics["advantage_abs"] == 0.25


def test_no_value_is_ever_nan(make_trajectory):
    lost = make_trajectory([], success=False)
    assert advantage_metrics([], [], CONFIG) == {}
    assert all(math.isfinite(value) for value in summary(Group("a", (lost,))).values())
