import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajevolve.advantages.normalise import normalise
from trajevolve.advantages.registry import ESTIMATORS, estimator
from trajevolve.config import RunConfig, parse_config
from trajevolve.errors import UserError
from trajevolve.trajectory import Group, redundancy_ratio

CONFIG = RunConfig()


def credit(**fields):
    return parse_config({"credit": fields})


def parts(group, method="trajevolve", config=CONFIG):
    return estimator(method)(group, config)


def step_advantages(group, **fields):
    filled = parts(group, config=credit(**fields))
    return [[step.step_advantage for step in member.steps] for member in filled]


def test_redundancy_ratio_counts_all_steps_of_a_success(make_trajectory):
    assert redundancy_ratio(make_trajectory([1, 0, 0, "i1"])) == 0.5
    assert redundancy_ratio(make_trajectory([None, None])) == 0.0
    assert redundancy_ratio(make_trajectory([0, 0], success=False)) == 0.0
    assert redundancy_ratio(make_trajectory([])) == 0.0


def test_trajevolve_by_hand(make_trajectory):
    group = Group("g", (make_trajectory([1, 0]), make_trajectory([1]), make_trajectory([0, 1, 1])))
    filled = parts(group)
    # ρ = 1/2, 0, 1/3; R̃ = 9.5, 10, 9 2/3; mean 9.7222; population std 0.207870
    assert [t.rho for t in filled] == pytest.approx([1 / 2, 0, 1 / 3])
    assert [t.shaped_reward for t in filled] == pytest.approx([9.5, 10, 9 + 2 / 3])
    episode = [-1.069040, 1.336300, -0.267260]
    assert [t.episode_advantage for t in filled] == pytest.approx(episode, abs=1e-4)
    assert [s.step_advantage for s in filled.sampled[0].steps] == [1.0, -1.0]
    assert [s.advantage for s in filled.sampled[0].steps] == pytest.approx(
        [-1.069040 + 0.5, -1.069040 - 0.5], abs=1e-4
    )


def test_alpha_and_lambda_are_weights(make_trajectory):
    group = Group("g", (make_trajectory([1, 0]), make_trajectory([1])))
    off = parts(group, config=credit(alpha=0.0, lam=0.0))
    assert [t.shaped_reward for t in off] == [10.0, 10.0]
    assert [s.advantage for t in off for s in t.steps] == [0.0, 0.0, 0.0]
    double = parts(group, config=credit(alpha=2.0, lam=0.25))
    assert [t.shaped_reward for t in double] == [9.0, 10.0]
    assert double.sampled[1].steps[0].advantage == pytest.approx(1 + 0.25, abs=1e-5)


def test_signed_penalty_and_centred(make_trajectory):
    group = Group("g", (make_trajectory([1, 0, "i1"]), make_trajectory([0, 0], success=False)))
    assert step_advantages(group) == [[1, -1, 0], [-1, -1]]
    assert step_advantages(group, step_advantage="penalty") == [[0, -1, 0], [-1, -1]]
    # the mean of y over the four credited steps is 1/4; the information step is not one of them
    assert step_advantages(group, step_advantage="centred") == [[0.75, -0.25, 0], [-0.25, -0.25]]


def test_invalid_steps_can_have_an_advantage_of_their_own(make_trajectory):
    failure = make_trajectory([0, "x", "x"], success=False)
    group = Group("g", (make_trajectory([1, 0, "x"]), failure))
    assert step_advantages(group) == [[1, -1, -1], [-1, -1, -1]]
    assert step_advantages(group, step_advantage="centred") == [
        pytest.approx([5 / 6, -1 / 6, -1 / 6]),
        pytest.approx([-1 / 6] * 3),
    ]
    # the mean of y is over the three valid steps
    assert step_advantages(group, step_advantage="centred", invalid_advantage=-2) == [
        pytest.approx([2 / 3, -1 / 3, -2]),
        pytest.approx([-1 / 3, -2, -2]),
    ]
    assert step_advantages(group, invalid_advantage=0.0) == [[1, -1, 0], [-1, 0, 0]]
    unjudged = step_advantages(group, invalid_advantage=-2, failed_step_credit=False)
    assert unjudged == [[1, -1, -2], [0, -2, -2]]
    # six failures that only repeat what cannot be done: their mean alone would excuse them all
    stuck = Group("g", (make_trajectory([0, *"xxxx"], success=False),) * 6)
    assert step_advantages(stuck, step_advantage="centred") == [[0] * 5] * 6
    alone = step_advantages(stuck, step_advantage="centred", invalid_advantage=-1)
    assert alone == [[0, -1, -1, -1, -1]] * 6


def test_failures_use_predictions_only_where_switched_on(make_trajectory):
    group = Group("g", (make_trajectory([1, 0], success=False),) * 2)
    filled = parts(group)
    assert [t.episode_advantage for t in filled] == [0.0, 0.0]
    assert [s.advantage for s in filled.sampled[0].steps] == [0.5, -0.5]
    assert step_advantages(group, failed_step_credit=False) == [[0, 0], [0, 0]]
    untrained = Group("g", (make_trajectory([None, None], success=False),))
    assert step_advantages(untrained) == [[0, 0]]


def test_an_unverified_success_gets_no_step_credit(make_trajectory):
    group = Group("g", (make_trajectory([None, None]),))
    assert step_advantages(group) == [[0, 0]]


def test_evolved_members_take_part_and_stay_apart(make_trajectory):
    group = Group("g", (make_trajectory([1, 0]),), (make_trajectory([1], evolved=True),))
    filled = parts(group)
    assert len(filled.sampled) == len(filled.evolved) == 1
    assert filled.sampled[0].episode_advantage == pytest.approx(-1, abs=1e-5)
    assert filled.evolved[0].episode_advantage == pytest.approx(1, abs=1e-5)


def test_grpo_ignores_labels(make_trajectory):
    group = Group("g", (make_trajectory([0, 0]), make_trajectory([1], success=False, reward=-0.1)))
    filled = parts(group, "grpo")
    assert [s.advantage for s in filled.sampled[0].steps] == pytest.approx([1, 1], abs=1e-5)
    assert [t.shaped_reward for t in filled] == [10.0, -0.1]
    assert [t.rho for t in filled] == [1.0, 0.0]
    assert {s.step_advantage for t in filled for s in t.steps} == {0.0}


def test_ddof_of_the_deviation():
    assert normalise([0, 2]) == pytest.approx([-1, 1], abs=1e-5)
    assert normalise([0, 2], ddof=1) == pytest.approx([-(2**-0.5), 2**-0.5], abs=1e-5)


def test_equal_values_give_exact_zeros():
    assert normalise([0.1 + 0.2, 0.3]) == (0.0, 0.0)
    assert normalise([5.0], ddof=1) == (0.0,)
    assert normalise([]) == ()


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=8), st.sampled_from([0, 1]))
def test_normalised_values_are_finite_centred_and_keep_the_order(values, ddof):
    result = normalise(values, ddof)
    assert all(math.isfinite(value) for value in result)
    assert sum(result) == pytest.approx(0, abs=1e-4)
    ranked = sorted(zip(values, result, strict=True))
    assert all(low[1] <= high[1] for low, high in pairwise(ranked))


@given(
    st.lists(st.sampled_from([0, 1, "i1"]), min_size=1, max_size=6),
    st.lists(st.sampled_from([0, 1, None]), min_size=1, max_size=6),
)
def test_success_always_outranks_failure(make_trajectory, success, failure):
    group = Group("g", (make_trajectory(success), make_trajectory(failure, success=False)))
    won, lost = parts(group)
    assert won.shaped_reward >= 9.0 > lost.shaped_reward
    assert won.episode_advantage > 0.99 and lost.episode_advantage < -0.99


def test_unknown_method_names_the_allowed_ones():
    with pytest.raises(UserError, match=r"did you mean 'grpo'\? allowed: grpo, trajevolve"):
        estimator("gpro")
    assert set(ESTIMATORS) >= {"grpo", "trajevolve"}
