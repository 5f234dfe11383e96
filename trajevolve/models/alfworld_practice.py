"""ALFWorld's warm start: a clumsy searcher in generated rooms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.envs.alfworld.clumsy import Clumsiness, ClumsyExpert
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.generator import generate_games
from trajevolve.models.alfworld_words import alfworld_tokenizer, name_groups
from trajevolve.models.cloning import CloningConfig
from trajevolve.models.practice import CHUNK, Lesson
from trajevolve.models.warmup import Phase, WarmupConfig
from trajevolve.models.warmup_discriminator import DiscriminatorRecipe
from trajevolve.seeds import derive_seed


@dataclass(frozen=True)
class AlfworldPractice:
    """Fresh rooms.

    Attributes:
        difficulties: of the rooms of successive lessons, in turn.
    """

    environment: str = "alfworld"
    difficulties: tuple[str, ...] = ("default",)

    def tokenizer(self) -> Any:
        """Build the tokenizer."""
        return alfworld_tokenizer()

    def expert(self, clumsiness: Clumsiness | None) -> ScriptedAgent:
        """Make the expert."""
        return ClumsyExpert(clumsiness or Clumsiness())

    def lesson(self, seed: int, stream: str, number: int) -> Lesson:
        """Generate the games of a lesson, which no other stream has."""
        games = generate_games(
            CHUNK,
            seed=derive_seed(seed, stream, number),
            difficulty=self.difficulties[number % len(self.difficulties)],
            stream=stream,
        )
        return Lesson(games, AlfworldEnvironment)

    def exchangeable(self, tokenizer: Any) -> list[list[int]]:
        """Numbered names of the same kind."""
        return name_groups(tokenizer)


POLICY = WarmupConfig(
    practice=AlfworldPractice(difficulties=("default", "easy", "default", "hard")),
    phases=(
        Phase(
            "names",
            CloningConfig(1200),
            Clumsiness(careful_share=0.0, careless=(0.3, 0.95), confuse=0.14),
        ),
        Phase("modes", CloningConfig(900, matrix_lr=0.012, lr=2e-3), Clumsiness()),
    ),
)
DISCRIMINATOR = DiscriminatorRecipe(AlfworldPractice())
