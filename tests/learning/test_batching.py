from dataclasses import replace

import numpy as np
import pytest
import torch

from trajevolve.learning.batching import micro_batches, mini_batches, to_batch
from trajevolve.learning.sequences import to_sequences
from trajevolve.trajectory import Step, Trajectory

CPU = torch.device("cpu")


def trajectory(*steps, layout="dialogue", **fields):
    made = tuple(
        Step("o", None, "r", "a", True, prompt_ids=p, response_ids=r, advantage=a)
        for p, r, a in steps
    )
    return Trajectory("t", "g", "k", "x", 0, made, True, 1.0, 10.0, layout=layout, **fields)


TWO_STEPS = (((1, 2), (3, 4), 0.5), ((5,), (6,), -1.0))


def test_dialogue_is_one_sequence_with_loss_on_responses_only():
    (row,) = to_sequences([trajectory(*TWO_STEPS)], "step-mean")
    assert row.ids.tolist() == [1, 2, 3, 4, 5, 6]
    assert row.targets.tolist() == [2, 3, 5]
    assert row.step_of.tolist() == [0, 0, 1]
    assert row.advantage.tolist() == [0.5, 0.5, -1.0]
    assert row.weight.tolist() == [0.25, 0.25, 0.5]
    assert row.steps == 2


def test_window_is_one_sequence_a_step():
    first, second = to_sequences([trajectory(*TWO_STEPS, layout="window")], "step-mean")
    assert (first.ids.tolist(), first.targets.tolist()) == ([1, 2, 3, 4], [2, 3])
    assert (second.ids.tolist(), second.targets.tolist()) == ([5, 6], [1])
    assert (second.step_of.tolist(), second.advantage.tolist()) == ([1], [-1.0])


def test_layouts_train_on_the_same_tokens(make_trajectories):
    dialogue = to_sequences(make_trajectories(6), "trajectory-mean")
    window = to_sequences(make_trajectories(6, layout="window"), "trajectory-mean")
    for name in ("weight", "advantage", "step_of"):
        joined = [
            np.concatenate([getattr(row, name) for row in rows]) for rows in (dialogue, window)
        ]
        assert np.array_equal(*joined)
    targets = [np.concatenate([r.ids[r.targets] for r in rows]) for rows in (dialogue, window)]
    assert np.array_equal(*targets)


def test_a_step_without_response_is_no_target():
    steps = (*TWO_STEPS, ((7,), (), 9.0))
    (row,) = to_sequences([trajectory(*steps)], "step-mean")
    assert row.targets.tolist() == [2, 3, 5]
    assert len(to_sequences([trajectory(*steps, layout="window")], "step-mean")) == 2
    assert to_sequences([trajectory()], "step-mean") == []


def test_a_response_without_anything_before_it_is_refused():
    with pytest.raises(ValueError, match="first step has no prompt"):
        to_sequences([trajectory(((), (1,), 0.0))], "step-mean")


def test_mini_batches_count_steps_and_keep_every_sequence(make_trajectories):
    rows = to_sequences(make_trajectories(40), "step-mean")
    batches = mini_batches(rows, 12, np.random.default_rng(0))
    assert sorted(id(r) for b in batches for r in b) == sorted(id(r) for r in rows)
    sizes = [sum(row.steps for row in batch) for batch in batches]
    assert len(sizes) > 3
    assert all(12 <= size <= 12 + 4 for size in sizes[:-1])
    assert 6 <= sizes[-1] <= 12 + 4 + 5


def test_a_short_rest_joins_the_batch_before_it(make_trajectories):
    rows = to_sequences(make_trajectories(9, layout="window"), "step-mean")
    count = len(rows)
    assert count % (count - 2) < (count - 2) / 2
    assert [len(b) for b in mini_batches(rows, count - 2, np.random.default_rng(0))] == [count]
    assert [len(b) for b in mini_batches(rows, 2 * count, np.random.default_rng(0))] == [count]
    most = count - count // 3
    sizes = [len(b) for b in mini_batches(rows, most, np.random.default_rng(0))]
    assert sizes == ([most, count - most] if 2 * (count - most) >= most else [count])
    assert mini_batches([], 4, np.random.default_rng(0)) == []


def test_shuffling_follows_the_seed(make_trajectories):
    rows = to_sequences(make_trajectories(20), "step-mean")

    def order(seed):
        batches = mini_batches(rows, 5, np.random.default_rng(seed))
        return [id(row) for batch in batches for row in batch]

    assert order(1) == order(1) != order(2)


def test_micro_batches_fit_the_padded_tokens(make_trajectories):
    rows = to_sequences(make_trajectories(30), "step-mean")
    batches = micro_batches(rows, 64)
    assert sorted(id(r) for b in batches for r in b) == sorted(id(r) for r in rows)
    assert all(len(batch) * max(map(len, batch)) <= 64 for batch in batches)
    assert [len(batch) for batch in micro_batches(rows, 1)] == [1] * len(rows)


def test_a_batch_points_at_the_positions_that_predict_responses():
    short = trajectory(((7,), (8, 9), 2.0))
    rows = to_sequences([trajectory(*TWO_STEPS), short], "token-mean")
    rows = [replace(row, evolved=index == 1) for index, row in enumerate(rows)]
    batch = to_batch(rows, CPU)
    assert batch.ids.tolist() == [[1, 2, 3, 4, 5, 6], [7, 8, 9, 0, 0, 0]]
    assert batch.ids.flatten()[batch.where].tolist() == [2, 3, 5, 7, 8]
    assert batch.targets.tolist() == [3, 4, 6, 8, 9]
    assert batch.step_of.tolist() == [0, 0, 1, 2, 2]
    assert batch.evolved.tolist() == [False, False, False, True, True]
