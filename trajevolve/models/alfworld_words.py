"""ALFWorld's tokens: words, and numbered names (``desk 1``) as one token each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from trajevolve.models.tokenizer import Reading, build_tokenizer

NUMBERS = 100
MANY = ("cabinet", "drawer", "shelf")
RARE_WORDS = "nothing happens hot cold cool heat clean sliced slice on off none step far admissible"

READING = Reading(
    dropped=(
        r"-= .*? =-",
        r"you are in the middle of a room\. looking quickly around you, ",
        r"you arrive at [^.]*\. (?=on the |the )",
        r"[^a-z0-9 ]",
        r"\b(?:a|an|the|and|you)\b",
    ),
    pieces=r"go to|pick up|[a-z]+ [0-9]+\b|[a-z]+|[0-9]+",
)


def alfworld_tokenizer() -> Any:
    """Build the tokenizer from the domain's names and the texts of a fixed set of games."""
    from trajevolve.agent.agents import RandomAgent
    from trajevolve.config import EnvConfig
    from trajevolve.envs.alfworld import vocabulary
    from trajevolve.envs.alfworld.environment import AlfworldEnvironment
    from trajevolve.envs.alfworld.generator import generate_games
    from trajevolve.rollout import Episode, play

    bases = {name.lower() for name in vocabulary.OBJECT_TYPES | vocabulary.RECEPTACLE_TYPES}
    names = {name: 40 if name in MANY else 9 for name in bases}
    texts: list[str] = [RARE_WORDS]
    games = generate_games(120, seed=1, stream="vocabulary")
    episodes = [Episode(task.id, task, number) for number, task in enumerate(games)]
    for trajectory in play(episodes, RandomAgent(), AlfworldEnvironment, EnvConfig(step_limit=40)):
        for step in trajectory.steps:
            texts += [step.observation, *(step.admissible or ())]
    return tokenizer_of(texts, names)


def tokenizer_of(texts: Iterable[str], names: Mapping[str, int]) -> Any:
    """Make a tokenizer.

    Args:
        texts: every word in them becomes a token.
        names: base name -> highest number; ``desk: 2`` gives ``desk 1`` and ``desk 2``.
    """
    words = {str(number) for number in range(NUMBERS)} | set(names)
    for text in texts:
        words.update(piece for piece in READING.split(text) if not re.search("[a-z] [0-9]", piece))
    numbered = [f"{name} {n}" for name in sorted(names) for n in range(1, names[name] + 1)]
    return build_tokenizer(READING, [*sorted(words), *numbered])


def name_groups(tokenizer: Any) -> list[list[int]]:
    """Token ids of the numbered names of each base name, for renaming in training data."""
    groups: dict[str, list[int]] = {}
    for token, number in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]):
        match = re.fullmatch(r"([a-z]+) [0-9]+", token)
        if match:
            groups.setdefault(match.group(1), []).append(number)
    return list(groups.values())
