"""The recipes of the built-in weights: their tasks, demonstrations and labels."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace
from typing import Any

import pytest

from trajevolve.envs.webshop.environment import WebshopEnvironment
from trajevolve.envs.webshop.generated import generated_catalogue, practice_catalogue
from trajevolve.errors import UserError
from trajevolve.models.practice import CHUNK
from trajevolve.models.recipes import discriminator_recipe, policy_recipe
from trajevolve.models.warmup import demonstrations
from trajevolve.models.warmup_discriminator import verified_successes
from trajevolve.models.webshop_practice import LESSONS, POLICY, WebshopPractice


def test_practice_shops_have_the_asins_of_the_played_one_on_other_products() -> None:
    played, shop = generated_catalogue(), practice_catalogue(5)
    assert sorted(shop.products.column("asin")) == sorted(played.products.column("asin"))
    assert shop.products.column("asin") != played.products.column("asin")
    titles = set(played.products.column("title"))
    same = [a for a in titles if a in set(shop.products.column("title"))]
    assert len(same) < len(titles) / 4


def test_no_lesson_reads_like_a_held_out_goal_and_none_repeats() -> None:
    practice = WebshopPractice()
    shop = generated_catalogue()
    held_out = {shop.goal(int(n)).instruction for s in ("test", "dev") for n in shop.split(s)}
    texts: list[tuple[str, str]] = []
    for number in (0, 1, LESSONS):
        tasks = practice.lesson(1, "a", number).tasks
        assert len(tasks) == CHUNK and held_out.isdisjoint(task.text for task in tasks)
        texts += [(task.id, task.text) for task in tasks]
    assert len(set(texts)) == len(texts)
    again, other = (practice.lesson(1, stream, 0).tasks for stream in ("a", "b"))
    assert [task.text for task in again] == [text for _, text in texts[:CHUNK]]
    assert [task.text for task in other] != [task.text for task in again]


def test_lessons_are_played_in_their_own_shop() -> None:
    lesson = WebshopPractice().lesson(1, "a", 0)
    environment = lesson.make_environment()
    assert isinstance(environment, WebshopEnvironment)
    assert environment.shop is not generated_catalogue()
    assert lesson.tasks[0].text in environment.reset(lesson.tasks[0]).text


def test_demonstrations_rename_asins_alike_on_pages_and_in_clicks() -> None:
    tokenizer: Any = POLICY.practice.tokenizer()
    (asins,) = POLICY.practice.exchangeable(tokenizer)
    names = set(asins)
    plain, renamed = (
        list(itertools.islice(demonstrations(tokenizer, recipe, recipe.phases[0]), 12))
        for recipe in (replace(POLICY, renamed_share=0.0), POLICY)
    )
    changed = 0
    for before, after in zip(plain, renamed, strict=True):
        seen: set[int] = set()
        for step, other in zip(before.steps, after.steps, strict=True):
            assert len(step.prompt_ids) == len(other.prompt_ids)
            seen |= names & set(other.prompt_ids)
            assert not step.valid or (names & set(other.response_ids)) <= seen
            changed += step.prompt_ids != other.prompt_ids
    assert changed


@pytest.mark.parametrize("environment", ["alfworld", "webshop"])
def test_the_discriminator_learns_from_labelled_successes(environment: str) -> None:
    for trajectory in itertools.islice(
        verified_successes(discriminator_recipe(environment), "t"), 5
    ):
        assert trajectory.success and all(step.label is not None for step in trajectory.steps)


@pytest.mark.parametrize("environment", ["alfworld", "webshop"])
def test_a_recipe_says_everything_it_depends_on(environment: str) -> None:
    content = asdict(policy_recipe(environment))
    assert content["practice"]["environment"] == environment
    assert {"seed", "phases", "architecture", "step_limit", "renamed_share"} <= content.keys()


def test_environments_without_a_recipe_are_named() -> None:
    with pytest.raises(UserError, match="no warm start"):
        policy_recipe("mars")
