"""Several environment objects for one trajectory: the same answers, in less time, for no more."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.halls import HallsEnvironment, gold, made_clumsy
from toys.lab import LabEnvironment
from toys.naive import Naive
from toys.timing import ratio

from trajevolve.credit.replay import ReplayError, ReplayGraph, SpentError
from trajevolve.credit.verification import verify

MODES = ["cumulative", "independent"]
ORDERS = ["backward", "forward"]
LAB_STEPS = ["open door", "go kitchen", "go hall", "activate stove", "wait", "look around"]
LAB_WAY_OUT = ["open door", "go kitchen", "activate stove", "wait", "wait", "focus on water"]


@st.composite
def recorded(draw):
    """Draw a class of environment, a task and a successful, clumsy trajectory of it."""
    if draw(st.booleans()):
        steps = st.sampled_from([*LAB_STEPS, "examine stove", "dance"])
        needed = draw(st.sampled_from(["1", "2", "3"]))
        actions = draw(st.lists(steps, max_size=10)) + LAB_WAY_OUT
        return LabEnvironment, LabEnvironment().task(needed), actions
    task = HallsEnvironment().task(draw(st.sampled_from(["2:0", "3:", "4:0,2", "6:1,2,4"])))
    clumsiness = draw(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 5)), max_size=7))
    return HallsEnvironment, task, made_clumsy(task, clumsiness)


def counting(kind):
    """Make an environment that waits for a moment of its own before each action."""

    class Dawdling(kind):
        def step(self, action):
            time.sleep(random.random() * 2e-4)
            return super().step(action)

    return Dawdling()


@settings(max_examples=60, deadline=None)
@given(recorded(), st.sampled_from(MODES), st.sampled_from(ORDERS), st.integers(2, 4))
def test_answers_are_those_of_one_environment_and_cost_no_more_than_naive_replay(
    record, mode, order, count
):
    kind, task, actions = record
    alone = verify(kind(), task, actions, mode=mode, order=order)
    environments = [counting(kind) for _ in range(count)]
    env, *beside = environments
    together = verify(env, task, actions, mode=mode, order=order, beside=beside)
    assert together.labels == alone.labels
    assert together.dependents == alone.dependents
    assert together.minimal == alone.minimal
    assert (together.replays, together.naive) == (alone.replays, alone.naive)
    assert together.transitions == sum(each.executed for each in environments)
    assert alone.transitions <= alone.naive
    assert together.transitions <= together.naive


@settings(max_examples=30, deadline=None)
@given(recorded(), st.sampled_from(ORDERS))
def test_transitions_do_not_depend_on_timing(record, order):
    kind, task, actions = record
    counts = {
        verify(env, task, actions, order=order, beside=beside).transitions
        for env, *beside in [[counting(kind) for _ in range(3)] for _ in range(3)]
    }
    assert len(counts) == 1


@settings(max_examples=60, deadline=None)
@given(recorded())
def test_naive_counts_what_naive_replay_executes(record):
    """Backward passes without memory, as the second implementation makes them."""
    kind, task, actions = record
    env = kind()
    naive = Naive(env, task, actions)
    assert naive.base()
    naive.cumulative(backward=True)
    # It starts again after every action that cannot be executed, not only where time was spent.
    assert verify(kind(), task, actions).naive <= env.executed


def test_naive_by_hand():
    env = LabEnvironment()
    actions = ["open door", "look around", "go kitchen", "activate stove", "focus on water"]
    result = verify(env, env.task("1"), actions)
    assert result.labels == (1, 1, 1, 1, 1)
    # The base, and without the last, stove, kitchen and door: in the last two what follows is
    # infeasible, and tried all the same. The free look is part of complete replay.
    assert (result.replays, result.naive) == (5, 5 + 4 * 4)
    # Executed: 4 for the base; nothing without the last, which the base has shown; 2 + 1, 1 + 2
    # and 0 + 3 for the others. The look is executed once.
    assert result.transitions == env.executed == 5 + 3 * 3


def test_what_could_be_in_vain_is_not_executed_where_it_would_cost_too_much():
    """Nearly everything goes, so that most of what is executed ahead is in vain."""
    task = HallsEnvironment().task("2:")
    actions = ["open 1", "drop 0", "take 0", "open 1", "drop 0", "take 0", "go 1", "finish"]
    env, *beside = [HallsEnvironment() for _ in range(4)]
    result = verify(env, task, actions, beside=beside)
    assert result.labels == (1, 0, 0, 0, 0, 0, 1, 1)
    assert result.transitions <= result.naive == 46


def test_a_lane_goes_on_from_where_it_stands():
    graph = ReplayGraph(HallsEnvironment(), HallsEnvironment().task("3:"))
    (lane,) = graph.lanes
    opened = graph.follow(graph.root, "open 1").node
    there = graph.follow(opened, "go 1").node
    lane.go(opened)
    assert (lane.resets, lane.transitions) == (2, 3)
    lane.go(there)
    assert (lane.resets, lane.transitions) == (2, 4)


def test_a_lane_that_has_spent_what_it_may_stays_where_it_is():
    graph = ReplayGraph(HallsEnvironment(), HallsEnvironment().task("3:"))
    (lane,) = graph.lanes
    opened = graph.follow(graph.root, "open 1").node
    there = graph.follow(opened, "go 1").node
    lane.go(graph.root)
    lane.depart(lane.transitions + 1)
    with pytest.raises(SpentError):
        lane.go(there)
    assert lane.at is opened
    with pytest.raises(SpentError):
        lane.follow(opened, "drop 0")
    lane.publish()
    assert lane.at is opened
    lane.go(there)
    assert (lane.resets, lane.transitions) == (2, 4)


def test_lanes_under_way_know_nothing_of_each_other():
    """So what they execute does not depend on which is faster."""
    task = HallsEnvironment().task("3:")
    graph = ReplayGraph(HallsEnvironment(), task, beside=[HallsEnvironment()])
    edges = [lane.follow(graph.root, "open 1") for lane in graph.lanes]
    assert [lane.transitions for lane in graph.lanes] == [1, 1]
    assert graph.root.edges == {}
    for lane in graph.lanes:
        lane.publish()
    assert graph.follow(graph.root, "open 1") is edges[0]
    assert graph.transitions == 2


def test_two_lanes_that_find_out_the_same_stand_at_one_node():
    task = HallsEnvironment().task("3:")
    graph = ReplayGraph(HallsEnvironment(), task, beside=[HallsEnvironment()])
    first, second = graph.lanes
    for lane in graph.lanes:
        lane.depart()
    opened = first.follow(graph.root, "open 1")
    twin = second.follow(graph.root, "open 1")
    second.follow(twin.node, "go 1")
    assert second.follow(twin.node, "open 1").ticks  # it is open already
    assert twin.node is not opened.node
    first.publish()
    assert second.follow(graph.root, "open 1") is twin
    second.publish()
    assert graph.root.edges["open 1"] is opened
    there = opened.node.edges["go 1"].node
    assert there.parent is opened.node
    assert opened.node.edges["open 1"].node.parent is opened.node
    assert second.at is opened.node.edges["open 1"].node


def test_free_queries_are_not_replayed_and_ticking_ones_are():
    env = LabEnvironment()
    actions = ["look around", "inventory", "open door", "examine stove", "go kitchen"]
    actions += ["activate stove", "examine stove", "focus on water"]
    seen = []

    class Seen(LabEnvironment):
        def step(self, action):
            seen.append(action)
            return super().step(action)

    result = verify(Seen(), env.task("2"), actions)
    assert result.labels == (1, 1, 1, 0, 1, 1, 1, 1)  # nothing to examine in the hall
    assert seen.count("look around") == seen.count("inventory") == 1
    assert seen.count("examine stove") > 2


def test_two_environments_take_little_more_than_half_the_time():
    """A path of 18 steps made clumsy."""
    task = HallsEnvironment().task("8:0,2,5")
    actions = made_clumsy(task, [(3, 1), (9, 0), (14, 5), (11, 3), (7, 2)])

    def verified(count):
        env, *beside = [HallsEnvironment(2e-3, 1e-2) for _ in range(count)]
        assert verify(env, task, actions, beside=beside).success

    assert ratio(lambda: verified(1), lambda: verified(2)) < 0.7


class Remembering(HallsEnvironment):
    """Notes what it is asked to do, and after what; with `known`, dies of anything else."""

    def __init__(self, known=None):
        super().__init__()
        self.known, self.seen = known, set()

    def reset(self, task):
        self.past = ()
        return super().reset(task)

    def step(self, action):
        tried = (*self.past, action)
        self.seen.add(tried)
        if self.known is not None and tried not in self.known:
            raise ConnectionError("the engine died")
        outcome = super().step(action)
        if outcome.feasible or outcome.costs_step:
            self.past = tried
        return outcome


def test_what_fails_ahead_of_time_does_not_matter():
    """What one environment alone never executes was not asked for."""
    task = HallsEnvironment().task("5:0,2")
    actions = made_clumsy(task, [(2, 4), (3, 1), (6, 3), (8, 2), (11, 0)])
    alone_env = Remembering()
    alone = verify(alone_env, task, actions)
    environments = [Remembering(alone_env.seen) for _ in range(2)]
    together = verify(environments[0], task, actions, beside=environments[1:])
    assert any(not each.seen <= alone_env.seen for each in environments)
    assert (together.labels, together.minimal) == (alone.labels, alone.minimal)


class Mortal(HallsEnvironment):
    """Dies after so many actions."""

    def step(self, action):
        if self.executed >= 40:
            raise ConnectionError("the engine died")
        return super().step(action)


def test_what_fails_when_asked_for_is_an_error():
    task = HallsEnvironment().task("5:0,2")
    with pytest.raises(ConnectionError, match="the engine died"):
        verify(Mortal(), task, gold(task), beside=[Mortal()])


class Drifting(HallsEnvironment):
    """Has other doors open from its third reset on."""

    def reset(self, task):
        observation = super().reset(task)
        if self.resets > 2:
            self.rooms = 1
        return observation


def test_an_environment_that_does_not_replay_is_found_out():
    task = HallsEnvironment().task("5:0,2")
    with pytest.raises(ReplayError, match="check-env"):
        verify(Drifting(), task, gold(task), beside=[Drifting()])
