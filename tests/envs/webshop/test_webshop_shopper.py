"""The expert that shops by title, careful and clumsy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import pytest

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.config import EnvConfig
from trajevolve.credit.verification import verify
from trajevolve.envs.contract import Task
from trajevolve.envs.webshop.clumsy import CAREFUL, Clumsiness, ClumsyShopper
from trajevolve.envs.webshop.environment import WebshopEnvironment
from trajevolve.envs.webshop.shopper import Wish, goal_of
from trajevolve.errors import UserError
from trajevolve.rollout import Episode, Kept, play
from trajevolve.trajectory import Trajectory

LIMIT = EnvConfig(step_limit=20)


@pytest.fixture(scope="module")
def env() -> WebshopEnvironment:
    return WebshopEnvironment("generated")


@pytest.fixture(scope="module")
def tasks(env: WebshopEnvironment) -> Sequence[Task]:
    return env.tasks("train", 120, seed=3)


def shop_with(agent: ScriptedAgent, tasks: Sequence[Task]) -> list[Trajectory]:
    episodes = [Episode(task.id, task, number) for number, task in enumerate(tasks)]
    return play(episodes, agent, partial(WebshopEnvironment, "generated"), LIMIT)


def success(played: Sequence[Trajectory]) -> float:
    return sum(trajectory.success for trajectory in played) / len(played)


def test_a_wish_is_the_words_of_the_instruction_and_the_options(env: WebshopEnvironment) -> None:
    task = env.task("289")
    assert task.text == (
        "please get me teeth whitening and sulfate free bamboo toothbrush in white color and "
        "pack of 6 size, and price lower than 40.00 dollars"
    )
    wish = Wish.of(task.payload, env.shop)
    assert wish.words == ("teeth", "whitening", "sulfate", "free", "bamboo", "toothbrush")
    assert wish.values == ("white", "pack of 6")
    assert wish.query == "teeth whitening sulfate free bamboo toothbrush white pack of 6"
    assert wish.likeness("Dunmere Bamboo Toothbrush for Travel, Teeth Whitening") == 4


def test_the_careful_shopper_mostly_buys_the_right_thing_straight(tasks: Sequence[Task]) -> None:
    played = shop_with(ClumsyShopper(CAREFUL), tasks)
    assert success(played) > 0.7
    assert all(step.valid for trajectory in played for step in trajectory.steps)
    wanted = [2 + len(task.payload.options) for task in tasks]
    spare = [
        len(trajectory.steps) - 1 - least
        for trajectory, least in zip(played, wanted, strict=True)
        if trajectory.success
    ]
    assert min(spare) == 0 and sum(spare) / len(spare) < 0.5


def test_slips_of_every_kind_happen_and_are_found_redundant(
    env: WebshopEnvironment, tasks: Sequence[Task]
) -> None:
    played = shop_with(ClumsyShopper(), tasks)
    assert 0.2 < success(played) < 0.7
    actions = Counter(step.action for trajectory in played for step in trajectory.steps)
    for slip in ("next >", "back to search", "< prev", "description", "features", "reviews"):
        assert actions[f"click[{slip}]"] > 0
    steps = [step for trajectory in played for step in trajectory.steps]
    assert 0.02 < sum(not step.valid for step in steps) / len(steps) < 0.25
    assert any(step.action and not step.action.endswith("]") for step in steps)
    rash = [t for t in played if t.termination == "environment"]
    assert rash and all(t.steps[-1].action == "click[buy now]" for t in rash)
    labels = [
        label
        for task, trajectory in zip(tasks, played, strict=True)
        if trajectory.success
        for label in verify(env, task, [step.action for step in trajectory.steps]).labels or ()
    ]
    assert labels.count(0) / len(labels) > 0.25


def test_the_same_seed_slips_the_same_way(tasks: Sequence[Task]) -> None:
    few = tasks[:10]
    once, again = (shop_with(ClumsyShopper(), few) for _ in range(2))
    assert [t.steps for t in once] == [t.steps for t in again]
    bolder = shop_with(ClumsyShopper(Clumsiness(careful_share=0.0, careless=(1.0, 1.0))), few)
    assert [t.steps for t in bolder] != [t.steps for t in once]


def test_it_goes_on_from_wherever_somebody_else_left_it(env: WebshopEnvironment) -> None:
    """The second best product is open at a tab: it leaves both and buys the best."""
    task = env.task("289")
    wish = Wish.of(task.payload, env.shop)
    listings = [env.shop.listing(row) for row in env.shop.hits(wish.query)[:10]]
    other = min(listings, key=lambda one: wish.likeness(one.title)).asin.lower()
    said = (f"search[{wish.query}]", f"click[{other}]", "click[features]")
    episode = Episode("", task, 0, kept=tuple(Kept(action, (), action) for action in said))
    make = partial(WebshopEnvironment, "generated")
    (played,) = play([episode], ClumsyShopper(CAREFUL), make, LIMIT)
    actions = [step.action for step in played.steps[3:]]
    assert actions[:2] == ["click[< prev]", "click[< prev]"]
    assert actions[2] not in (f"click[{other}]", "click[buy now]")
    assert actions[-1] == "click[buy now]" and played.success


def test_tasks_of_other_environments_are_refused(env: WebshopEnvironment) -> None:
    with pytest.raises(UserError, match="plays webshop"):
        goal_of(Task("x", "alfworld", "t", "text", "digest"))
