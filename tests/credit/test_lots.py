"""Whole rollouts on several environment objects: nothing but the time is different."""

import random
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.halls import HallsEnvironment, gold, made_clumsy
from toys.timing import ratio

from trajevolve.config import CreditConfig
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.problems import Problem
from trajevolve.trajectory import Step, Trajectory

TASKS = {ref: HallsEnvironment().task(ref) for ref in ("3:0", "3:1", "4:0,2", "2:", "5:3")}


class Dawdling(HallsEnvironment):
    """Waits for a moment before each action."""

    def step(self, action):
        time.sleep(random.random() * 2e-4)
        return super().step(action)


def trajectory(ref, clumsiness, number):
    task = TASKS[ref]
    env = HallsEnvironment()
    env.reset(task)
    steps = []
    for action in made_clumsy(task, clumsiness):
        outcome = env.step(action)
        valid, ticks = outcome.feasible, outcome.costs_step
        steps.append(Step("", None, action, action, valid, costs_step=ticks))
    success = env.solved
    return Trajectory(str(number), ref, "carry", ref, 0, tuple(steps), success, float(success), 1.0)


detours = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), max_size=4)
rollouts = st.lists(st.tuples(st.sampled_from(sorted(TASKS)), detours), max_size=8)


@settings(max_examples=30, deadline=None)
@given(rollouts, st.integers(2, 3), st.sampled_from(["cumulative", "independent"]))
def test_labels_and_counts_do_not_depend_on_how_many_replay(rollout, count, mode):
    given = [trajectory(ref, detour, number) for number, (ref, detour) in enumerate(rollout)]
    credit = CreditConfig(mode=mode)
    alone, one = verify_trajectories(HallsEnvironment(), TASKS, given, credit)
    twice = []
    for _ in range(2):
        environments = [Dawdling() for _ in range(count)]
        env, *beside = environments
        results, stats = verify_trajectories(env, TASKS, given, credit, beside=beside)
        assert stats.transitions == sum(each.executed for each in environments)
        assert stats.resets == sum(each.resets for each in environments)
        assert stats.transitions <= stats.naive
        twice.append(results)
    assert twice[0] == twice[1]  # transitions included
    for ours, theirs in zip(twice[0], alone, strict=True):
        assert ours.steps == theirs.steps
        assert (ours.minimal, ours.rho) == (theirs.minimal, theirs.rho)
    assert (stats.replays, stats.naive, stats.distinct) == (one.replays, one.naive, one.distinct)


def test_lots_of_one_size_go_to_one_environment_each():
    """So nothing is done in vain: each lot costs what it costs alone."""
    refs = ["3:0", "3:1", "4:0,2", "5:3"]
    given = [trajectory(ref, [(1, 1), (4, 0)], number) for number, ref in enumerate(refs)]
    both = threading.Barrier(2)

    class Waiting(Dawdling):
        """Takes its first lot when the other one does."""

        def reset(self, task):
            if not self.resets:
                both.wait(60)
            return super().reset(task)

    environments = [Waiting(), Waiting()]
    _, one = verify_trajectories(HallsEnvironment(), TASKS, given, CreditConfig())
    _, two = verify_trajectories(
        environments[0], TASKS, given, CreditConfig(), beside=environments[1:]
    )
    assert all(each.executed for each in environments)
    assert (two.transitions, two.resets) == (one.transitions, one.resets)


class Forbidden(Dawdling):
    """Cannot take the thing of room 1."""

    def step(self, action):
        if action == "take 1":
            raise ConnectionError("the engine died")
        return super().step(action)


def test_a_failure_loses_one_trajectory_only():
    refs = ["3:0", "3:1", "4:0,2", "5:3"]
    given = [trajectory(ref, [(2, 0)], number) for number, ref in enumerate(refs)]
    results, stats = verify_trajectories(
        Forbidden(), TASKS, given, CreditConfig(), beside=[Forbidden()]
    )
    assert [each.verified for each in results] == [True, False, True, True]
    assert stats.problems == (Problem("1", "3:1", "ConnectionError: the engine died"),)


class Stopped(Dawdling):
    """Is told to stop while it works."""

    def reset(self, task):
        raise SystemExit(3)


def test_what_ends_a_thread_ends_the_verification():
    given = [trajectory(ref, [], number) for number, ref in enumerate(["3:0", "3:1"])]
    with pytest.raises(SystemExit):
        verify_trajectories(Stopped(), TASKS, given, CreditConfig(), beside=[Stopped()])


def test_several_tasks_take_half_the_time_on_two():
    given = [trajectory(ref, [(1, 1), (4, 2)], n) for n, ref in enumerate(["4:0,2", "5:3"])]
    assert len(gold(TASKS["5:3"])) == 10

    def verified(count):
        env, *beside = [HallsEnvironment(2e-3, 1e-2) for _ in range(count)]
        _, stats = verify_trajectories(env, TASKS, given, CreditConfig(), beside=beside)
        assert stats.verified == 2

    assert ratio(lambda: verified(1), lambda: verified(2)) < 0.75
