"""Whole rollouts: labels in place, equal trajectories once, failures contained."""

from dataclasses import replace

import pytest
from toys.house import HouseEnvironment, house_task
from toys.lab import LabEnvironment

from trajevolve.config import CreditConfig
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.problems import Problem
from trajevolve.trajectory import Step, Trajectory

DETOUR = house_task("hand", t="ball", b="")
CABINET = house_task("hand", "clothes", cabinet="clothes", bathroom="")
TASKS = {task.id: task for task in (DETOUR, CABINET)}
CUMULATIVE = CreditConfig(mode="cumulative")


def trajectory(task, actions, success=True, id="τ", invalid=(), free=()):
    steps = tuple(
        Step("", None, str(action), action, t not in invalid, costs_step=t not in free)
        for t, action in enumerate(actions)
    )
    return Trajectory(id, task.id, task.type, task.text, 0, steps, success, float(success), 10.0)


def test_labels_ratio_and_survivors_are_filled():
    given = [
        trajectory(DETOUR, ["go t", "go b", "go t", "take ball"], id="a"),
        trajectory(CABINET, ["go cabinet", "open cabinet", "dance", "take clothes"], invalid={2}),
        trajectory(DETOUR, ["go t"], success=False, id="c"),
    ]
    results, stats = verify_trajectories(HouseEnvironment(), TASKS, given, CUMULATIVE)
    assert [step.label for step in results[0].steps] == [1, 0, 0, 1]
    assert results[0].rho == 0.5
    assert results[0].minimal == (0, 3)
    assert results[0].verified
    assert results[0].steps[1].dependents == (2,)
    assert [step.label for step in results[1].steps] == [1, 1, 0, 1]
    assert results[1].rho == 0.25
    assert results[2] is given[2]
    assert (stats.trajectories, stats.successes, stats.verified, stats.distinct) == (3, 2, 2, 2)
    assert stats.mean_redundancy == 0.375
    assert (stats.redundant_steps, stats.steps) == (3, 8)
    assert stats.transitions == results[0].transitions + results[1].transitions
    assert (stats.problems, stats.warning) == ((), "")


def test_independent_labels_come_with_cumulative_survivors():
    """Redundancy elimination needs a sequence that succeeds, whatever the labels' mode."""
    given = [trajectory(DETOUR, ["go t", "go b", "go t", "take ball"])]
    paper = CreditConfig(mode="independent", order="forward", loop_prepass=False)
    results, _ = verify_trajectories(HouseEnvironment(), TASKS, given, paper)
    assert [step.label for step in results[0].steps] == [0, 0, 0, 1]
    assert results[0].minimal == (2, 3)
    assert results[0].rho == 0.75


def test_equal_trajectories_are_verified_once():
    env = HouseEnvironment()
    actions = ["go t", "go b", "go t", "take ball"]
    given = [trajectory(DETOUR, actions, id=str(n)) for n in range(3)]
    results, stats = verify_trajectories(env, TASKS, given, CUMULATIVE)
    assert stats.distinct == 1
    assert stats.verified == 3
    assert stats.transitions == env.executed == results[0].transitions
    assert results[1].transitions == results[2].transitions == 0
    assert {tuple(step.label for step in each.steps) for each in results} == {(1, 0, 0, 1)}


def test_a_success_that_does_not_replay_is_reported_and_unlabelled():
    given = [trajectory(DETOUR, ["go b"], id="odd")]
    results, stats = verify_trajectories(HouseEnvironment(), TASKS, given, CUMULATIVE)
    assert results == given
    assert (stats.unverified, stats.verified, stats.mean_redundancy) == (1, 0, 0.0)
    assert stats.problems == (Problem("odd", DETOUR.id, "its replay does not succeed"),)
    assert stats.warning == (
        f"1 of 1 success left without labels: odd ({DETOUR.id}): its replay does not succeed"
    )


class Fragile(HouseEnvironment):
    """Breaks when the bathroom is entered."""

    def advance(self, action):
        if action == "go bathroom":
            raise ConnectionError("the engine died")
        return super().advance(action)


def test_a_failing_environment_loses_one_trajectory_only():
    short = ["go cabinet", "open cabinet", "take clothes"]
    long = ["go cabinet", "open cabinet", "go bathroom", "go cabinet", "take clothes"]
    given = [trajectory(CABINET, actions, id=str(n)) for n, actions in enumerate([long, short])]
    given.append(trajectory(DETOUR, ["go t", "take ball"], id="2"))
    given.append(replace(given[2], id="3", task_id="nowhere"))
    results, stats = verify_trajectories(Fragile(), TASKS, given, CUMULATIVE)
    assert [each.verified for each in results] == [False, True, True, False]
    assert stats.problems == (
        Problem("0", CABINET.id, "ConnectionError: the engine died"),
        Problem("3", "nowhere", "KeyError: 'nowhere'"),
    )
    assert stats.warning.startswith("2 of 4 successes left without labels: 0 (")


@pytest.mark.parametrize(("free", "labels"), [((), [1, 1, 1, 1, 1]), ((3,), None)])
def test_soft_failures_take_part_and_free_ones_do_not(free, labels):
    """The second `open door` is invalid; only a tick spent on it warms the water."""
    env = LabEnvironment()
    task = env.task("2")
    actions = ["open door", "go kitchen", "activate stove", "open door", "focus on water"]
    given = [trajectory(task, actions, invalid={3}, free=free)]
    results, _ = verify_trajectories(env, {task.id: task}, given, CUMULATIVE)
    assert results[0].verified == (labels is not None)
    assert [step.label for step in results[0].steps] == (labels or [None] * 5)


def test_nothing_given_is_nothing_done():
    results, stats = verify_trajectories(HouseEnvironment(), TASKS, [], CUMULATIVE)
    assert results == []
    assert stats.transitions == 0
