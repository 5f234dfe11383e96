"""WebShop's warm start: a clumsy shopper in generated shops that nobody is tested in.

The shops have the asins of the one that is played, on other products: an asin is a token to copy
from a page of results, never one to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.envs.contract import Task
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.clumsy import Clumsiness, ClumsyShopper
from trajevolve.envs.webshop.environment import WebshopEnvironment
from trajevolve.envs.webshop.generated import generated_catalogue, practice_catalogue
from trajevolve.envs.webshop.tasks import task_of
from trajevolve.models.cloning import CloningConfig
from trajevolve.models.practice import CHUNK, Lesson
from trajevolve.models.small import SmallArchitecture
from trajevolve.models.warmup import Phase, WarmupConfig
from trajevolve.models.warmup_discriminator import DiscriminatorRecipe
from trajevolve.models.webshop_words import asin_groups, webshop_tokenizer
from trajevolve.seeds import derive_seed

LESSONS = 8
"""Lessons in one shop."""


@dataclass(frozen=True)
class WebshopPractice:
    """Goals of fresh shops; none reads like one of the played shop's ``test`` or ``dev``."""

    environment: str = "webshop"

    def tokenizer(self) -> Any:
        """Build the tokenizer."""
        return webshop_tokenizer()

    def expert(self, clumsiness: Clumsiness | None) -> ScriptedAgent:
        """Make the expert."""
        return ClumsyShopper(clumsiness or Clumsiness())

    def lesson(self, seed: int, stream: str, number: int) -> Lesson:
        """Draw the goals of a lesson."""
        shop_number, place = divmod(number, LESSONS)
        shop_seed = derive_seed(seed, stream, shop_number)
        shop = _shop(shop_seed)
        order = np.random.default_rng(shop_seed).permutation(shop.goals)
        allowed = (task for task in map(_task_in(shop), order) if task.text not in _held_out())
        chosen = [task for task, _ in zip(allowed, range((place + 1) * CHUNK), strict=False)]
        return Lesson(chosen[place * CHUNK :], lambda: WebshopEnvironment(shop))

    def exchangeable(self, tokenizer: Any) -> list[list[int]]:
        """All asins."""
        return asin_groups(tokenizer)


def _task_in(shop: Catalogue) -> Any:
    def task(number: int) -> Task:
        return task_of(shop, int(number))

    return task


@lru_cache(maxsize=1)
def _shop(seed: int) -> Catalogue:
    return practice_catalogue(seed)


@cache
def _held_out() -> frozenset[str]:
    shop = generated_catalogue()
    numbers = (number for split in ("test", "dev") for number in shop.split(split))
    return frozenset(shop.goal(int(number)).instruction for number in numbers)


POLICY = WarmupConfig(
    practice=WebshopPractice(),
    seed=20240302,
    step_limit=20,
    renamed_share=1.0,
    phases=(
        Phase("practice", CloningConfig(800, batch_size=8, observation_weight=0.1), Clumsiness()),
    ),
    architecture=SmallArchitecture(hidden=96, intermediate=256, positions=4096),
)
DISCRIMINATOR = DiscriminatorRecipe(WebshopPractice(), seed=20240303, step_limit=20)
