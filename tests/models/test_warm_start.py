"""The recipes of the built-in weights: their tasks, demonstrations and labels."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults.disks import largest_file

from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.generator import generate_games
from trajevolve.envs.webshop.generated import generated_catalogue
from trajevolve.errors import UserError
from trajevolve.models.alfworld_practice import AlfworldPractice
from trajevolve.models.practice import CHUNK, Lesson
from trajevolve.models.recipes import discriminator_recipe, policy_recipe
from trajevolve.models.warmup import demonstrations, warm_up_policy
from trajevolve.models.warmup_discriminator import (
    DiscriminatorRecipe,
    verified_successes,
    warm_up_discriminator,
)
from trajevolve.models.webshop_practice import WebshopPractice
from trajevolve.seeds import derive_seed


def test_lessons_hold_goals_to_train_on_and_those_held_out_no_other_stream_has() -> None:
    practice = WebshopPractice()
    train = set(map(int, generated_catalogue().split("train")))
    seen: dict[str, set[int]] = {"a": set(), "b": set(), "b-heldout": set()}
    for stream, goals in seen.items():
        for number in range(3):
            tasks = practice.lesson(1, stream, number).tasks
            assert len({task.id for task in tasks}) == CHUNK
            goals |= {int(task.id) for task in tasks}
        assert goals <= train
    assert seen["b-heldout"].isdisjoint(seen["a"] | seen["b"])


def test_lessons_are_the_same_each_time_and_new_ones_go_on() -> None:
    practice = WebshopPractice()
    whole = len(generated_catalogue().split("train")) * 85 // 100 // CHUNK

    def ids(stream: str, number: int) -> list[str]:
        return [task.id for task in practice.lesson(1, stream, number).tasks]

    assert ids("a", 0) == ids("a", 0)
    assert set(ids("a", 0)).isdisjoint(ids("a", 1))
    assert ids("a", whole) != ids("a", 0) != ids("b", 0)


def test_demonstrations_hold_the_tokens_that_the_policy_will_see() -> None:
    recipe = policy_recipe("webshop")
    tokenizer: Any = recipe.practice.tokenizer()
    for trajectory in itertools.islice(demonstrations(tokenizer, recipe, recipe.phases[0]), 8):
        first = trajectory.steps[0]
        assert tokenizer.convert_ids_to_tokens(first.prompt_ids[:2]) == ["<bos>", "<obs>"]
        said = tokenizer.decode(first.response_ids, skip_special_tokens=True)
        assert said.startswith("search[") and said == first.response
        tokens = [t for s in trajectory.steps for t in (*s.prompt_ids, *s.response_ids)]
        assert tokenizer.unk_token_id not in tokens


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


def test_a_policy_that_does_not_fit_on_the_disk_leaves_nothing(tmp_path: Path) -> None:
    recipe = replace(policy_recipe("alfworld"), phases=())
    with pytest.raises(UserError, match=r"policy: cannot be written"), largest_file(10_000):
        warm_up_policy(tmp_path / "policy", recipe)
    assert list(tmp_path.iterdir()) == []
    warm_up_policy(tmp_path / "policy", recipe)
    assert {"config.json", "model.safetensors", "recipe.json", "tokenizer.json"} <= {
        path.name for path in (tmp_path / "policy").iterdir()
    }
    assert [path.name for path in tmp_path.iterdir()] == ["policy"]


class FewRooms(AlfworldPractice):
    """Lessons of four rooms."""

    def lesson(self, seed: int, stream: str, number: int) -> Lesson:
        rooms = generate_games(4, seed=derive_seed(seed, stream, number), stream=stream)
        return Lesson(rooms, AlfworldEnvironment)


def test_a_discriminator_appears_with_its_recipe_or_not_at_all(tmp_path: Path) -> None:
    recipe = DiscriminatorRecipe(FewRooms(), training=4, heldout=4, epochs=1)
    rate: Any = np.float32(recipe.lr)
    with pytest.raises(TypeError, match="float32 is not JSON"):
        warm_up_discriminator("builtin", tmp_path / "judge", replace(recipe, lr=rate))
    assert list(tmp_path.iterdir()) == []
    warm_up_discriminator("builtin", tmp_path / "judge", recipe)
    assert {"adapter_model.safetensors", "checkpoint.json", "recipe.json"} <= {
        path.name for path in (tmp_path / "judge").iterdir()
    }
    assert [path.name for path in tmp_path.iterdir()] == ["judge"]


def test_environments_without_a_recipe_are_named() -> None:
    with pytest.raises(UserError, match="no warm start"):
        policy_recipe("mars")
    with pytest.raises(UserError, match="adapter=null"):
        discriminator_recipe("scienceworld")
