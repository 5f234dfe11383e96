import pytest
from hypothesis import given
from hypothesis import strategies as st

from credit.judging import episode, step
from trajevolve.credit.scoring import fit_baselines, score, score_trajectories

BITS = st.integers(0, 1)


def test_scores_by_hand():
    # Redundant: said 3 times, right 2; there are 2. Necessary: said 3, right 3; there are 4.
    scores = score([0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1])
    assert scores.accuracy == pytest.approx(5 / 6)
    assert scores.precision == {0: pytest.approx(2 / 3), 1: 1.0}
    assert scores.recall == {0: 1.0, 1: pytest.approx(3 / 4)}
    assert scores.macro_f1 == pytest.approx((4 / 5 + 6 / 7) / 2)


@given(st.lists(st.tuples(BITS, BITS), min_size=1))
def test_perfect_is_one_and_everything_stays_a_share(pairs):
    labels, predictions = zip(*pairs, strict=True)
    scores = score(labels, predictions)
    values = [scores.accuracy, scores.macro_f1, *scores.precision.values()]
    assert all(0.0 <= value <= 1.0 for value in values)
    assert score(labels, labels).accuracy == 1.0
    flipped = score([1 - y for y in labels], [1 - y for y in predictions])
    assert flipped.macro_f1 == pytest.approx(scores.macro_f1)


def test_a_class_that_never_occurs_scores_zero():
    scores = score([1, 1], [1, 1])
    assert (scores.recall[0], scores.macro_f1) == (0.0, 0.5)


def test_baselines_count_labels_of_verified_successes():
    success = episode(
        step("open chest", 0),
        step("open chest", 0),
        step("open door", 1),
        step("take key", 1),
        step("search[red shoes]", 0),
        step("look", 1),
        step("go to room 1", 0, valid=False),
    )
    failure = episode(step("take key", 0), step("take key", 0), success=False)
    baselines = fit_baselines([success, failure])
    assert baselines.majority == 0  # 3 of 5
    assert dict(baselines.by_verb) == {"open": 0, "take": 1, "search": 0}
    assert baselines.verb_alone("take bag") == 1
    assert baselines.verb_alone("fly away") == 0


def test_trajectories_are_scored_on_asked_steps_beside_the_baselines():
    baselines = fit_baselines([episode(step("open chest", 0), step("take key", 1))])
    judged = episode(
        step("open chest", 0, predicted=0),
        step("take key", 0, predicted=1),
        step("open door", 1, predicted=1),
        step("look", 1, predicted=1),
        step("take bag", 1),
        step(None, 0, predicted=0),
    )
    metrics = score_trajectories([judged], baselines, "d")
    assert metrics["d/count"] == 3
    assert metrics["d/accuracy"] == pytest.approx(2 / 3)
    assert metrics["d/verb/accuracy"] == pytest.approx(1 / 3)
    assert metrics["d/majority/accuracy"] == pytest.approx(1 / 3)  # tie in training: necessary
    assert score_trajectories([episode(step("take key", 1))], baselines, "d") == {}


def test_failures_are_scored_against_references():
    failed = episode(step("open chest", predicted=1), step("take key", predicted=1), success=False)
    baselines = fit_baselines([])
    metrics = score_trajectories([failed], baselines, "d", references={"e": (0, 1)})
    assert metrics["d/accuracy"] == 0.5
    assert score_trajectories([failed], baselines, "d", references={}) == {}
