"""How the shipped policy was made: clumsy episodes in generated rooms, then behaviour cloning."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from trajevolve.agent.agents import LanguageAgent, ScriptedAgent
from trajevolve.agent.contract import Decision, Turn
from trajevolve.config import AgentConfig, EnvConfig
from trajevolve.envs.alfworld.clumsy import Clumsiness
from trajevolve.models.cloning import CloningConfig, clone
from trajevolve.models.small import SmallArchitecture, build_model
from trajevolve.models.tokenizer import build_tokenizer, name_groups
from trajevolve.rollout import Episode, play
from trajevolve.seeds import derive_seed
from trajevolve.trajectory import Trajectory

CHUNK = 64
MANY = ("cabinet", "drawer", "shelf")
RARE_WORDS = "nothing happens hot cold cool heat clean sliced slice on off none step far admissible"


@dataclass(frozen=True)
class Phase:
    """A stretch of cloning.

    Attributes:
        stream: names its games, which no other phase sees.
        cloning: optimiser settings.
        clumsiness: of the expert.
    """

    stream: str
    cloning: CloningConfig
    clumsiness: Clumsiness


@dataclass(frozen=True)
class WarmupConfig:
    """The recipe.

    Attributes:
        seed: of games, slips, weights and order.
        step_limit: steps of a demonstrated episode.
        renamed_share: share of episodes whose names get other numbers of the same kind, so that
            every name of the domain is seen.
        difficulties: generated rooms are drawn from these in turn.
        phases: what is cloned, in order.
        architecture: sizes of the model.
    """

    seed: int = 20240229
    step_limit: int = 30
    renamed_share: float = 0.5
    difficulties: tuple[str, ...] = ("default", "easy", "default", "hard")
    phases: tuple[Phase, ...] = (
        Phase(
            "names",
            CloningConfig(1200),
            Clumsiness(careful_share=0.0, careless=(0.3, 0.95), confuse=0.14),
        ),
        Phase("modes", CloningConfig(900, matrix_lr=0.012, lr=2e-3), Clumsiness()),
    )
    architecture: SmallArchitecture = field(default_factory=SmallArchitecture)


class Demonstrator:
    """An agent that decides like one and lays out tokens like another."""

    def __init__(self, expert: ScriptedAgent, tokenizer: Any, config: AgentConfig) -> None:
        self.expert = expert
        self.writer = LanguageAgent(None, tokenizer, config, 1.0)  # type: ignore[arg-type]
        self.layout = config.layout

    def act(self, turns: Sequence[Turn]) -> list[Decision]:
        """Let the expert choose, and write its answers as the model would."""
        return [self.writer.force(turn, self.expert.choose(turn), ()) for turn in turns]

    def force(self, turn: Turn, response: str, response_ids: tuple[int, ...]) -> Decision:
        """Write a recorded response."""
        return self.writer.force(turn, response, response_ids)

    def answer(self, action: str) -> str:
        """Write the response text that says `action`."""
        return self.writer.answer(action)

    def release(self, slots: Any) -> None:
        """Forget finished episodes."""
        self.expert.release(slots)


def alfworld_tokenizer() -> Any:
    """Build the tokenizer from the domain's names and the texts of a fixed set of games."""
    from trajevolve.agent.agents import RandomAgent
    from trajevolve.envs.alfworld import vocabulary
    from trajevolve.envs.alfworld.environment import AlfworldEnvironment
    from trajevolve.envs.alfworld.generator import generate_games

    bases = {name.lower() for name in vocabulary.OBJECT_TYPES | vocabulary.RECEPTACLE_TYPES}
    names = {name: 40 if name in MANY else 9 for name in bases}
    texts: list[str] = [RARE_WORDS]
    games = generate_games(120, seed=1, stream="vocabulary")
    episodes = [Episode(task.id, task, number) for number, task in enumerate(games)]
    for trajectory in play(episodes, RandomAgent(), AlfworldEnvironment, EnvConfig(step_limit=40)):
        for step in trajectory.steps:
            texts += [step.observation, *(step.admissible or ())]
    return build_tokenizer(texts, names)


def demonstrations(tokenizer: Any, config: WarmupConfig, phase: Phase) -> Iterator[Trajectory]:
    """Yield clumsy episodes of fresh games for ever, tokens included."""
    from trajevolve.envs.alfworld.clumsy import ClumsyExpert
    from trajevolve.envs.alfworld.environment import AlfworldEnvironment
    from trajevolve.envs.alfworld.generator import generate_games

    agent = Demonstrator(ClumsyExpert(phase.clumsiness), tokenizer, AgentConfig())
    groups = list(name_groups(tokenizer).values())
    for chunk in itertools.count():
        seed = derive_seed(config.seed, phase.stream, chunk)
        difficulty = config.difficulties[chunk % len(config.difficulties)]
        games = generate_games(CHUNK, seed=seed, difficulty=difficulty, stream=phase.stream)
        episodes = [Episode(g.id, g, derive_seed(seed, n)) for n, g in enumerate(games)]
        limit = EnvConfig(step_limit=config.step_limit)
        rng = np.random.default_rng(seed)
        for trajectory in play(episodes, agent, AlfworldEnvironment, limit):
            renamed = rng.random() < config.renamed_share
            yield rename(trajectory, groups, rng) if renamed else trajectory


def rename(
    trajectory: Trajectory, groups: Sequence[Sequence[int]], rng: np.random.Generator
) -> Trajectory:
    """Permute the numbers of each kind of name in the tokens of `trajectory`."""
    table: dict[int, int] = {}
    for group in groups:
        table.update(zip(group, rng.permutation(group).tolist(), strict=True))
    steps = tuple(
        replace(
            step,
            prompt_ids=tuple(table.get(token, token) for token in step.prompt_ids),
            response_ids=tuple(table.get(token, token) for token in step.response_ids),
        )
        for step in trajectory.steps
    )
    return replace(trajectory, steps=steps)


def warm_up_policy(
    out: Path, config: WarmupConfig, report: Callable[[int, float, float], None] | None = None
) -> None:
    """Make tokenizer and weights and write them to `out` (bfloat16 safetensors)."""
    import torch

    tokenizer = alfworld_tokenizer()
    model = build_model(tokenizer, config.architecture, config.seed)
    for phase in config.phases:
        clone(model, demonstrations(tokenizer, config, phase), phase.cloning, report)
        # Rounded as they are stored, so that a phase can also start from stored weights.
        model.to(torch.bfloat16).to(torch.float32)
    model.to(torch.bfloat16).save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "recipe.json").write_text(json.dumps(asdict(config), indent=2) + "\n")
