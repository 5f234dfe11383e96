"""WebShop's warm start: a clumsy shopper with the goals to train on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.envs.webshop.clumsy import Clumsiness, ClumsyShopper
from trajevolve.envs.webshop.environment import GENERATED, WebshopEnvironment
from trajevolve.envs.webshop.generated import generated_catalogue
from trajevolve.envs.webshop.tasks import task_of
from trajevolve.models.cloning import CloningConfig
from trajevolve.models.practice import CHUNK, Lesson
from trajevolve.models.small import SmallArchitecture
from trajevolve.models.warmup import Phase, WarmupConfig
from trajevolve.models.warmup_discriminator import DiscriminatorRecipe
from trajevolve.models.webshop_words import webshop_tokenizer
from trajevolve.seeds import derive_seed

HELD_OUT = 0.15
"""Share of the goals that streams named ``…-heldout`` draw from, and no other stream."""


@dataclass(frozen=True)
class WebshopPractice:
    """Goals of the generated shop's ``train``, in another order each time round."""

    environment: str = "webshop"

    def tokenizer(self) -> Any:
        """Build the tokenizer."""
        return webshop_tokenizer()

    def expert(self, clumsiness: Clumsiness | None) -> ScriptedAgent:
        """Make the expert."""
        return ClumsyShopper(clumsiness or Clumsiness())

    def lesson(self, seed: int, stream: str, number: int) -> Lesson:
        """Draw the goals of a lesson."""
        shop = generated_catalogue()
        train = shop.split("train")
        border = len(train) - int(HELD_OUT * len(train))
        goals = train[border:] if stream.endswith("-heldout") else train[:border]
        time_round, place = divmod(number, len(goals) // CHUNK)
        order = np.random.default_rng(derive_seed(seed, stream, time_round)).permutation(goals)
        chosen = order[place * CHUNK : (place + 1) * CHUNK]
        tasks = [task_of(shop, int(goal)) for goal in chosen]
        return Lesson(tasks, partial(WebshopEnvironment, GENERATED))

    def exchangeable(self, tokenizer: Any) -> list[list[int]]:
        """Nothing: an asin always means the same product."""
        return []


POLICY = WarmupConfig(
    practice=WebshopPractice(),
    phases=(
        Phase(
            "names",
            CloningConfig(250, warmup=20),
            Clumsiness(careful_share=1.0, careful=(0.0, 0.25)),
        ),
        Phase("modes", CloningConfig(160, 8, matrix_lr=0.012, lr=2e-3, warmup=20), Clumsiness()),
        Phase("more", CloningConfig(160, 8, matrix_lr=0.012, lr=2e-3, warmup=20), Clumsiness()),
    ),
    seed=20240302,
    step_limit=20,
    renamed_share=0.0,
    architecture=SmallArchitecture(hidden=96, intermediate=256, positions=4096, copying=True),
)
DISCRIMINATOR = DiscriminatorRecipe(
    WebshopPractice(), seed=20240303, training=600, heldout=200, step_limit=20
)
