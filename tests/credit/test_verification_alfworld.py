"""The same properties on generated ALFWorld games, with the simulator's texts and without."""

import re

import numpy as np
import pytest
from toys.naive import Naive
from toys.wrappers import Limited

from trajevolve.credit.verification import verify
from trajevolve.envs.checker import check_environment
from trajevolve.envs.registry import make_env

ENV = make_env("alfworld")
GAMES = ENV.tasks("generated:train", 6, 11)


def clumsy(task, seed, slips=0.5):
    """Follow a shortest plan with random admissible and impossible actions in between."""
    rng = np.random.default_rng(seed)
    ENV.reset(task)
    actions = []
    while not ENV.success():
        action = (ENV.plan() or ["look"])[0]
        if rng.random() < slips and len(actions) < 18:
            options = [*ENV.candidates(), "take the moon", action]
            action = options[int(rng.integers(len(options)))]
        actions.append(action)
        ENV.step(action)
    return actions


@pytest.mark.parametrize("task", GAMES, ids=lambda task: task.type)
@pytest.mark.parametrize("seed", [0, 1])
def test_labels_equal_those_of_naive_replay(task, seed):
    actions = clumsy(task, seed)
    naive = Naive(ENV, task, actions)
    assert naive.base()
    labels, dependents = naive.independent()
    result = verify(ENV, task, actions, mode="independent")
    assert list(result.labels) == labels
    assert [set(fallen) for fallen in result.dependents] == dependents
    for order in ("backward", "forward"):
        labels, survivors = naive.cumulative(backward=order == "backward")
        result = verify(ENV, task, actions, order=order, loop_prepass=False)
        assert list(result.labels) == labels
        assert list(result.minimal) == survivors


@pytest.mark.parametrize("task", GAMES, ids=lambda task: task.type)
def test_survivors_succeed_and_are_one_minimal(task):
    actions = clumsy(task, 2)
    result = verify(ENV, task, actions)
    naive = Naive(ENV, task, actions)
    naive.base()
    assert naive.replay(result.minimal) == (True, list(result.minimal), set())
    for t in result.minimal:
        if not naive.is_information(t):
            assert not naive.replay([p for p in result.minimal if p != t])[0]


def test_replay_only_gives_the_same_labels():
    actions = clumsy(GAMES[0], 3)
    shared = verify(ENV, GAMES[0], actions, loop_prepass=False)
    alone = verify(Limited(ENV), GAMES[0], actions)
    assert (alone.labels, alone.dependents, alone.minimal) == (
        shared.labels,
        shared.dependents,
        shared.minimal,
    )
    assert shared.transitions < alone.transitions


def test_the_old_verb_is_accepted():
    task = next(game for game in GAMES if "place" in game.type)
    ENV.reset(task)
    plan = ENV.plan()
    old = [re.sub(r"^move (.*) to ", r"put \1 in/on ", action) for action in plan]
    assert old != plan
    assert verify(ENV, task, old).labels == (1,) * len(plan)


def test_the_simulator_keeps_the_contract():
    report = check_environment(ENV, GAMES[:2], 0)
    assert report.passed, str(report)
