"""Shortest plans against plain breadth-first search over every admissible command."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajevolve.envs.alfworld.domain import TASK_TYPES
from trajevolve.envs.alfworld.games import ground
from trajevolve.envs.alfworld.generator import generate_games
from trajevolve.envs.alfworld.planner import Planner, command_of
from trajevolve.envs.alfworld.problem import Goal, Problem
from trajevolve.envs.alfworld.rooms import Difficulty, furnish
from trajevolve.envs.alfworld.simulator import Simulator, State
from trajevolve.envs.alfworld.texts import Narrator

TINY = Difficulty("tiny", (3, 4), (2, 4))


def successors(simulator: Simulator, narrator: Narrator, state: State) -> Iterator[State]:
    for command in narrator.admissible(state):
        operation = simulator.operation(command)
        assert operation is not None
        after = simulator.apply(state, operation)
        assert after is not None, command
        if after is not state:
            yield after


def breadth_first(simulator: Simulator, start: State) -> float:
    """Length of the shortest way to success without any knowledge of the goal."""
    narrator = Narrator(simulator, "")
    seen = {simulator.key(start)}
    layer, depth = [start], 0
    while layer:
        if any(simulator.solved(state) for state in layer):
            return depth
        following = []
        for state in layer:
            for after in successors(simulator, narrator, state):
                key = simulator.key(after)
                if key not in seen:
                    seen.add(key)
                    following.append(after)
        layer, depth = following, depth + 1
    return math.inf


def tiny_room(seed: int, kind: str) -> Simulator | None:
    """A small room in which many things lie in two receptacles."""
    rng = np.random.default_rng(seed)
    found = furnish(rng, kind, TINY)
    if found is None:
        return None
    problem, _ = found
    if len(problem.pairs("inReceptacle")) > 5:
        return None
    receptacles = [fact[0] for fact in problem.pairs("receptacleType")]
    extra = tuple(
        (fact[0], receptacles[int(rng.integers(len(receptacles)))])
        for fact in problem.pairs("inReceptacle")
        if rng.random() < 0.15
    )
    inside = tuple(dict.fromkeys(problem.pairs("inReceptacle") + extra))
    return Simulator(replace(problem, facts={**problem.facts, "inReceptacle": inside}))


def wander(simulator: Simulator, rng: np.random.Generator, steps: int) -> State:
    narrator, state = Narrator(simulator, ""), simulator.start
    for _ in range(steps):
        options = list(successors(simulator, narrator, state))
        state = options[int(rng.integers(len(options)))]
    return state


def compare(seeds: range) -> int:
    compared = 0
    for seed in seeds:
        simulator = tiny_room(seed, TASK_TYPES[seed % 6])
        if simulator is None:
            continue
        state = wander(simulator, np.random.default_rng(seed), seed % 7)
        planner = Planner(simulator)
        assert planner.distance(state) == breadth_first(simulator, state), seed
        compared += 1
    return compared


def test_distances_equal_breadth_first_search() -> None:
    assert compare(range(60)) > 20


def test_what_is_in_the_hand_is_dropped_for_something_nearer_to_the_end() -> None:
    # Here another soapbar lies both within reach and in the cabinet where it has to end.
    assert compare(range(2210, 2211)) == 1


@pytest.mark.slow
def test_distances_equal_breadth_first_search_on_many_rooms() -> None:
    assert compare(range(60, 1000)) > 300


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.integers(0, 5), steps=st.integers(0, 25))
def test_each_step_of_a_plan_brings_the_goal_one_nearer(seed: int, kind: int, steps: int) -> None:
    task = generate_games(1, seed, "8-10,8-14", [TASK_TYPES[kind]])[0]
    room = ground(task)
    state = wander(room.simulator, np.random.default_rng(seed), steps)
    plan = room.planner.plan(state)
    if plan is None:
        assert math.isinf(room.planner.distance(state))
        return
    for left, command in zip(range(len(plan), 0, -1), plan, strict=True):
        assert room.planner.distance(state) == left
        operation = room.simulator.operation(command)
        assert operation is not None and command_of(room.simulator, operation) == command
        after = room.simulator.apply(state, operation)
        assert after is not None
        state = after
    assert room.simulator.solved(state)


def test_something_that_fits_nowhere_is_a_dead_end(kitchen: Problem) -> None:
    contains = tuple(f for f in kitchen.pairs("canContain") if f[1] != "KnifeType")
    simulator = Simulator(replace(kitchen, facts={**kitchen.facts, "canContain": contains}))
    planner, state = Planner(simulator), simulator.start
    assert planner.distance(state) == 6
    for command in ("go to diningtable 1", "take knife 1 from diningtable 1"):
        operation = simulator.operation(command)
        assert operation is not None
        state = simulator.apply(state, operation) or state
    assert planner.distance(state) == math.inf
    assert planner.plan(state) is None
    assert breadth_first(simulator, state) == math.inf


def test_a_goal_nobody_can_reach_has_no_plan(kitchen: Problem) -> None:
    goal = Goal("pick_heat_then_place_in_recep", "KnifeType", "ShelfType")
    simulator = Simulator(replace(kitchen, goal=goal))
    assert Planner(simulator).plan(simulator.start) is None
