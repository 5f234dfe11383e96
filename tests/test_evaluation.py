"""Panels: what is counted, Wilson's interval, paired comparison."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys.corridor import TASK, Corridor
from toys.script import Script

from trajevolve.agent.agents import RandomAgent
from trajevolve.config import CreditConfig, EnvConfig
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.errors import UserError
from trajevolve.evaluation import (
    EpisodeResult,
    bootstrap_mean,
    compare,
    measure,
    paired_interval,
    play_panel,
    wilson,
)
from trajevolve.trajectory import Trajectory

DETOUR = ["go to room 1", "take key", "go to room 0", "go to room 1", "go to room 2",
          "go to room 3", "open chest"]  # fmt: skip


def played(actions: list[str], task_id: str = TASK.id, task_type: str = "chest") -> Trajectory:
    task = replace(TASK, id=task_id, type=task_type)
    limit = EnvConfig(step_limit=len(actions))
    trajectories = play_panel([task], Script(actions), Corridor, limit)
    labelled, _ = verify_trajectories(Corridor(), {task_id: task}, trajectories, CreditConfig())
    return labelled[0]


def result(task_id: str, success: bool, steps: int = 10) -> EpisodeResult:
    return EpisodeResult(task_id, "type", success, float(success), steps, 0, None)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (5, 10, 0.2366, 0.7634),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (150, 200, 0.6857, 0.8049),
    ],
)
def test_wilson_equals_published_values(
    successes: int, trials: int, low: float, high: float
) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(0, 500), st.integers(1, 500))
def test_wilson_holds_the_share_and_mirrors(successes: int, more: int) -> None:
    trials = successes + more
    low, high = wilson(successes, trials)
    assert 0.0 <= low <= successes / trials <= high <= 1.0
    mirrored = wilson(more, trials)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-12)


def test_nothing_tried_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_panel_is_counted_by_type() -> None:
    evaluation = measure(
        [
            played(DETOUR, "a"),
            played(["open chest", "look", "go to room 1"], "b"),
            played(["take key", "look"], "c", "key"),
        ]
    )
    chest, key, overall = evaluation.types["chest"], evaluation.types["key"], evaluation.overall
    assert list(evaluation.types) == ["chest", "key"]
    assert (chest.tasks, chest.successes, chest.success) == (2, 1, 0.5)
    assert (chest.steps, chest.steps_successful) == (5.0, 7.0)
    assert chest.redundancy == pytest.approx(2 / 7)  # back to room 0 and again to room 1
    assert chest.invalid_share == pytest.approx(1 / 10)
    assert (key.success, key.steps_successful, key.redundancy) == (0.0, None, None)
    assert overall.invalid_share == pytest.approx(2 / 12)
    assert overall.success_interval == wilson(1, 3)
    assert [episode.task_id for episode in evaluation.episodes] == ["a", "b", "c"]


def test_a_panel_is_played_the_same_way_whatever_stands_before_it() -> None:
    tasks = [replace(TASK, id=f"corridor/{number}") for number in range(70)]
    config = EnvConfig(step_limit=5)
    whole = play_panel(tasks, RandomAgent(), Corridor, config, seed=3)
    alone = play_panel(tasks[65:], RandomAgent(), Corridor, config, seed=3)
    other = play_panel(tasks, RandomAgent(), Corridor, config, seed=4)
    assert [t.actions for t in whole[65:]] == [t.actions for t in alone]
    assert [t.actions for t in whole] != [t.actions for t in other]


@pytest.mark.parametrize("tasks", [[], [TASK, TASK]], ids=["empty", "twice"])
def test_a_panel_has_every_task_once(tasks: list) -> None:
    with pytest.raises(UserError, match="panel"):
        play_panel(tasks, RandomAgent(), Corridor, EnvConfig())


def test_comparison_is_paired_by_task() -> None:
    before = [result("a", False, 20), result("b", True, 10), result("c", False, 20)]
    after = [result("c", True, 8), result("a", True, 12), result("b", True, 10)]
    comparison = compare(before, after)
    assert (comparison.tasks, comparison.only_a, comparison.only_b) == (3, 0, 2)
    assert comparison.success_difference == pytest.approx(2 / 3)
    assert comparison.steps_difference == pytest.approx(-20 / 3)
    low, high = comparison.steps_interval
    assert -12.0 <= low <= -20 / 3 <= high <= 0.0


@pytest.mark.parametrize("other", [[], [result("b", True)], [result("a", True), result("b", True)]])
def test_other_tasks_cannot_be_compared(other: list[EpisodeResult]) -> None:
    with pytest.raises(UserError, match="same tasks"):
        compare([result("a", True)], other)


def test_paired_interval_by_hand() -> None:
    # n = 98, b = 4, c = 14: shares 5/100 and 15/100, difference 0.1, variance (0.2 - 0.01)/100.
    low, high = paired_interval(4, 14, 98)
    assert (low, high) == pytest.approx((0.1 - 0.085433, 0.1 + 0.085433), abs=1e-5)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 100))
def test_swapping_the_two_mirrors_the_interval(only_a: int, only_b: int, equal: int) -> None:
    tasks = only_a + only_b + equal + 1
    low, high = paired_interval(only_a, only_b, tasks)
    assert paired_interval(only_b, only_a, tasks) == pytest.approx((-high, -low))
    assert -1.0 <= low <= (only_b - only_a) / (tasks + 2) <= high <= 1.0


def test_the_bootstrap_depends_on_its_seed_alone() -> None:
    values = [1.0, 2.0, 3.0, 10.0]
    assert bootstrap_mean(values, 1, 200) == bootstrap_mean(values, 1, 200)
    assert bootstrap_mean(values, 1, 200) != bootstrap_mean(values, 2, 200)
    assert bootstrap_mean([2.0, 2.0], 1, 50) == (2.0, 2.0)
