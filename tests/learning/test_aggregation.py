import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajevolve.learning.aggregation import token_weights
from trajevolve.trajectory import Step, Trajectory


def trajectory(*lengths: int) -> Trajectory:
    steps = tuple(
        Step("o", None, "r", "a", True, prompt_ids=(1,), response_ids=(2,) * n) for n in lengths
    )
    return Trajectory("t", "g", "k", "x", 0, steps, True, 1.0, 10.0)


PAIR = [trajectory(2, 4), trajectory(5)]


def test_trajectory_mean_is_the_papers_mean_over_steps():
    assert token_weights(PAIR, "trajectory-mean") == [(1 / 8, 1 / 16), (1 / 10,)]


def test_step_mean_weighs_every_step_the_same():
    assert token_weights(PAIR, "step-mean") == [(1 / 6, 1 / 12), (1 / 15,)]


def test_token_mean_weighs_every_token_the_same():
    assert token_weights(PAIR, "token-mean") == [(1 / 11, 1 / 11), (1 / 11,)]


def test_a_step_without_tokens_still_counts_in_the_length():
    assert token_weights([trajectory(2, 0)], "trajectory-mean") == [(1 / 4, 0.0)]


@given(
    st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=5), min_size=1, max_size=5),
    st.sampled_from(["trajectory-mean", "step-mean", "token-mean"]),
)
def test_weights_of_an_iteration_sum_to_one(lengths, aggregation):
    trajectories = [trajectory(*steps) for steps in lengths]
    weights = token_weights(trajectories, aggregation)
    total = sum(
        weight * len(step.response_ids)
        for t, row in zip(trajectories, weights, strict=True)
        for step, weight in zip(t.steps, row, strict=True)
    )
    assert total == pytest.approx(1)
