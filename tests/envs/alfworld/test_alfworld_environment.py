import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.generator import generate_games
from trajevolve.envs.checker import check_environment
from trajevolve.envs.contract import Kind
from trajevolve.errors import UserError

GAMES = generate_games(12, 31)


def walked(game: int, seed: int, steps: int) -> AlfworldEnvironment:
    """An environment after a random walk that did not solve the game."""
    env, rng = AlfworldEnvironment(), np.random.default_rng(seed)
    env.reset(GAMES[game])
    for _ in range(steps):
        mark = env.snapshot()
        options = env.candidates()
        if env.step(options[int(rng.integers(len(options)))]).done:
            env.restore(mark)
    return env


walks = {
    "game": st.integers(0, len(GAMES) - 1),
    "seed": st.integers(0, 10**6),
    "steps": st.integers(0, 20),
}


@settings(max_examples=40, deadline=None)
@given(**walks, number=st.integers(1, 40))
def test_admissible_is_exactly_what_can_be_executed(
    game: int, seed: int, steps: int, number: int
) -> None:
    env = walked(game, seed, steps)
    listed, mark, key = set(env.candidates()), env.snapshot(), env.state_key()
    room = env._room
    assert room is not None
    objects, places = room.simulator.objects, room.simulator.receptacles
    tried = {
        *listed,
        *(f"{verb} {p}" for verb in ("go to", "open", "close", "examine") for p in places),
        *(f"take {o} from {p}" for o in objects for p in places),
        *(f"move {o} to {p}" for o in objects for p in places),
        *(f"{v} {o} with {p}" for v in ("heat", "cool", "clean") for o in objects for p in places),
        *(f"use {o}" for o in objects),
        *(f"examine {o}" for o in objects),
        *(f"slice {o} with {k}" for o in objects for k in objects),
        f"take mug {number} from drawer {number}",
    }
    for command in sorted(tried):
        moved = env.advance(command)
        assert moved.feasible == (command in listed), command
        if not moved.feasible:
            assert env.snapshot() is mark
        elif env.kind(command) is Kind.INFORMATION:
            assert env.state_key() == key
        env.restore(mark)


@settings(max_examples=40, deadline=None)
@given(**walks, more=st.lists(st.integers(0, 10**6), max_size=10))
def test_advance_agrees_with_step_and_snapshots_go_back(
    game: int, seed: int, steps: int, more: list[int]
) -> None:
    env = walked(game, seed, steps)
    mark, key, options = env.snapshot(), env.state_key(), env.candidates()
    actions = []
    outcomes = []
    for draw in more:
        listed = env.candidates()
        actions.append(listed[draw % len(listed)])
        outcomes.append(env.step(actions[-1]))
    end = env.state_key()
    env.restore(mark)
    assert env.state_key() == key and env.candidates() == options
    for action, outcome in zip(actions, outcomes, strict=True):
        moved = env.advance(action)
        assert moved == type(moved)(outcome.feasible, outcome.success, outcome.done)
    assert env.state_key() == end


@settings(max_examples=60, deadline=None)
@given(**walks, action=st.text(max_size=30))
def test_nonsense_changes_nothing(game: int, seed: int, steps: int, action: str) -> None:
    env = walked(game, seed, steps)
    before, listed = env.snapshot(), env.candidates()
    if env.canonical(action) in listed:
        return
    outcome = env.step(action)
    assert outcome.observation.text == "Nothing happens."
    assert not outcome.feasible and outcome.observation.admissible == listed
    assert env.snapshot() is before


def test_the_checker_finds_nothing() -> None:
    report = check_environment(AlfworldEnvironment(), GAMES[:6], seed=0)
    assert report.passed, str(report)


def test_an_episode_ends_with_its_first_success() -> None:
    env = AlfworldEnvironment()
    env.reset(GAMES[3])
    plan = env.plan()
    assert plan is not None and env.distance() == len(plan)
    outcomes = [env.step(action) for action in plan]
    assert [o.done for o in outcomes] == [False] * (len(plan) - 1) + [True]
    last = outcomes[-1]
    assert (last.success, last.reward, last.score) == (True, 1.0, 1.0)
    assert env.success() and env.distance() == 0 and env.plan() == []


def test_the_old_verb_is_an_alias() -> None:
    env = AlfworldEnvironment()
    assert env.canonical("put mug 1 in/on desk 2") == "move mug 1 to desk 2"
    assert env.canonical("  go   to desk 1 ") == "go to desk 1"
    env.reset(GAMES[0])
    plan = env.plan()
    assert plan is not None
    for action in plan[:-1]:
        env.step(action)
    _, thing, number, _, place, other = plan[-1].split()
    assert env.step(f"put {thing} {number} in/on {place} {other}").success
    # advance understands it as well.
    env.reset(GAMES[0])
    for action in plan[:-1]:
        env.advance(action)
    assert env.advance(f"put {thing} {number} in/on {place} {other}").success


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("look", Kind.INFORMATION),
        ("inventory", Kind.INFORMATION),
        ("examine mug 1", Kind.INFORMATION),
        ("help", Kind.INFORMATION),
        ("go to desk 1", Kind.CHANGING),
        ("use desklamp 1", Kind.CHANGING),
        ("put mug 1 in/on desk 1", Kind.CHANGING),
        ("dance", Kind.CHANGING),
    ],
)
def test_kinds(action: str, kind: Kind) -> None:
    assert AlfworldEnvironment().kind(action) is kind


def test_generated_splits() -> None:
    env = AlfworldEnvironment(difficulty="8-8,8-8")
    drawn = env.tasks("generated:train", 7, seed=3)
    assert len({task.digest for task in drawn}) == 7
    assert env.tasks("generated:train", 7, seed=3) == drawn
    assert env.task(drawn[5].id) == drawn[5]
    assert len(env.tasks("generated:select")) == 120
    some = env.tasks("generated:eval", 20, seed=1)
    assert len(some) == 20 and set(some) <= set(env.tasks("generated:eval"))
    with pytest.raises(UserError, match="generated:train, generated:select or generated:eval"):
        env.tasks("generated:test")


def test_tasks_travel_between_processes() -> None:
    copy = pickle.loads(pickle.dumps(GAMES[0]))
    assert copy == GAMES[0] and copy.payload.text() == GAMES[0].payload.text()


def test_use_before_reset_is_a_defect_of_the_caller() -> None:
    with pytest.raises(RuntimeError, match="reset"):
        AlfworldEnvironment().step("look")


def test_options_are_checked() -> None:
    with pytest.raises(UserError, match="backend 'magic': expected simulator or engine"):
        AlfworldEnvironment(backend="magic")
    with pytest.raises(UserError, match="difficulty 'mild'"):
        AlfworldEnvironment(difficulty="mild")
