"""A tiny policy that half knows its way, and one run of the flow in a process."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from toys.lane import Lane
from trajevolve.agent.agents import LanguageAgent
from trajevolve.agent.contract import Decision, Turn
from trajevolve.config import AgentConfig, EnvConfig, RunConfig, parse_config
from trajevolve.experiment import Experiment
from trajevolve.rollout import Episode, play
from trajevolve.schedule import all_stages
from trajevolve.stages import STAGES
from trajevolve.trajectory import Trajectory

ENVIRONMENT = "toys.lane:Lane"
DETOUR = 0.3


class Teacher(LanguageAgent):
    """Takes the shortest way, but for a detour now and then."""

    def act(self, turns: Sequence[Turn]) -> list[Decision]:
        return [self.force(turn, self._choose(turn), ()) for turn in turns]

    def _choose(self, turn: Turn) -> str:
        generator = np.random.default_rng(turn.seed)
        if generator.random() < DETOUR:
            return str(generator.choice(turn.observation.admissible or ("look",)))
        return "forth" if turn.task.id == "east" else "back"


class Silent:
    """A backend nobody asks."""

    def release(self, slots: object) -> None:
        pass


def make_model(folder: Path) -> None:
    """Clone the teacher for a moment, and save the result in Hugging Face layout."""
    import torch

    from trajevolve.models.alfworld_words import tokenizer_of
    from trajevolve.models.cloning import CloningConfig, clone
    from trajevolve.models.small import SmallArchitecture, build_model

    torch.manual_seed(0)
    tokenizer = tokenizer_of(["your task is to go east west middle forth back look"], {})
    model = build_model(tokenizer, SmallArchitecture(32, 2, 2, 64, 512), seed=0)
    teacher = Teacher(Silent(), tokenizer, AgentConfig(), 1.0)  # type: ignore[arg-type]
    settings = CloningConfig(batches=50, batch_size=16, warmup=5, matrix_lr=0.05, lr=0.01)
    clone(model, _lessons(teacher), settings)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _lessons(teacher: Teacher) -> Iterator[Trajectory]:
    number = 0
    while True:
        tasks = Lane().tasks("all") * 4
        episodes = [Episode("", task, number * 8 + i) for i, task in enumerate(tasks)]
        yield from play(episodes, teacher, Lane, EnvConfig(step_limit=12))
        number += 1


def toy_config(model: Path, **changes: Any) -> RunConfig:
    """Configuration of a run of seconds that has every stage."""
    content: dict[str, Any] = {
        "iterations": 2,
        "threads": 1,
        "env": {"name": ENVIRONMENT, "split": "all", "step_limit": 8},
        "model": {"name": str(model)},
        "rollout": {"groups": 2, "group_size": 4},
        "discriminator": {
            "model": str(model),
            "adapter": None,
            "lora_rank": 2,
            "lora_alpha": 4,
            "lr": 0.01,
        },
        "evolution": {"every": 2},
        "learner": {"lr": 0.001, "mini_batch_steps": 16},
        "evaluation": {"every": 1, "panel": "all", "selection": "all", "panel_size": 2},
        "versioning": {"enabled": False},
        "tracking": {"enabled": False},
    }
    return parse_config({**content, **changes})


@contextmanager
def trained_run(config: RunConfig, project: Path, name: str) -> Iterator[Experiment]:
    """Do all stages of a run, and close it after the block; Prefect and the record are left out."""
    with closing(Experiment(project / "runs" / name, config, project)) as experiment:
        for iteration, stage in all_stages(config):
            STAGES[stage](experiment, iteration)
        yield experiment


def main(arguments: Sequence[str]) -> int:
    """Train in the working directory: ``python -m toys.training CONFIG.json NAME``."""
    from trajevolve_flows.launch import run_training

    config = parse_config(json.loads(Path(arguments[0]).read_text()))
    print(json.dumps(run_training(config, arguments[1])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
