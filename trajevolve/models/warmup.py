"""How a shipped policy was made: clumsy episodes of generated tasks, then behaviour cloning."""

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
from trajevolve.files import write_folder
from trajevolve.models.cloning import CloningConfig, clone
from trajevolve.models.practice import Practice
from trajevolve.models.small import SmallArchitecture, build_model
from trajevolve.rollout import Episode, play
from trajevolve.seeds import derive_seed
from trajevolve.trajectory import Trajectory


@dataclass(frozen=True)
class Phase:
    """A stretch of cloning.

    Attributes:
        stream: names its tasks, which no other phase sees.
        cloning: optimiser settings.
        clumsiness: of the expert.
    """

    stream: str
    cloning: CloningConfig
    clumsiness: Any


@dataclass(frozen=True)
class WarmupConfig:
    """The recipe.

    Attributes:
        practice: the environment's part.
        phases: what is cloned, in order.
        seed: of tasks, slips, weights and order.
        step_limit: steps of a demonstrated episode.
        renamed_share: share of episodes whose names are exchanged for others of the same kind, so
            that every name is seen and none is known.
        architecture: sizes of the model.
    """

    practice: Practice
    phases: tuple[Phase, ...]
    seed: int = 20240229
    step_limit: int = 30
    renamed_share: float = 0.5
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


def demonstrations(tokenizer: Any, config: WarmupConfig, phase: Phase) -> Iterator[Trajectory]:
    """Yield clumsy episodes of fresh tasks for ever, tokens included."""
    practice = config.practice
    agent = Demonstrator(practice.expert(phase.clumsiness), tokenizer, AgentConfig())
    groups = practice.exchangeable(tokenizer)
    limit = EnvConfig(step_limit=config.step_limit)
    for number in itertools.count():
        seed = derive_seed(config.seed, phase.stream, number)
        lesson = practice.lesson(config.seed, phase.stream, number)
        episodes = [Episode(t.id, t, derive_seed(seed, n)) for n, t in enumerate(lesson.tasks)]
        rng = np.random.default_rng(seed)
        for trajectory in play(episodes, agent, lesson.make_environment, limit):
            renamed = rng.random() < config.renamed_share
            yield rename(trajectory, groups, rng) if renamed else trajectory


def rename(
    trajectory: Trajectory, groups: Sequence[Sequence[int]], rng: np.random.Generator
) -> Trajectory:
    """Exchange the names of each group in the tokens of `trajectory` at random."""
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
    """Make tokenizer and weights and write them to `out` (bfloat16 safetensors).

    Raises:
        UserError: `out` cannot be written; nothing is left there.
    """
    import torch

    tokenizer = config.practice.tokenizer()
    model = build_model(tokenizer, config.architecture, config.seed)
    for phase in config.phases:
        clone(model, demonstrations(tokenizer, config, phase), phase.cloning, report)
        # Rounded as they are stored, so that a phase can also start from stored weights.
        model.to(torch.bfloat16).to(torch.float32)

    def fill(folder: Path) -> None:
        model.to(torch.bfloat16).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        (folder / "recipe.json").write_text(json.dumps(asdict(config), indent=2) + "\n")

    write_folder(out, fill)
