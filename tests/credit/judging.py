"""Tiny models and trajectories for the discriminator's tests."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from toys.qwen import tiny_qwen
from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM

from trajevolve.config import DiscriminatorConfig
from trajevolve.credit.discriminator import Discriminator
from trajevolve.envs.contract import Kind
from trajevolve.trajectory import Step, Trajectory

torch.set_num_threads(1)  # matrices this small gain nothing from more

MARKERS = ("<bos>", "<obs>", "<act>", "<judge>", "<necessary>", "<redundant>")
WORDS = ["put", "key", "in", "chest", "you", "see", "room", "go", "to", "take", "look"]


def tiny_tokenizer(markers: Sequence[str] = MARKERS, words: Sequence[str] = WORDS) -> Any:
    """A token a word; without markers it is like any other model's."""
    vocabulary = ["<pad>", "<unk>", *markers, *words, *map(str, range(10))]
    ids = {word: number for number, word in enumerate(vocabulary)}
    core = Tokenizer(models.WordLevel(ids, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        unk_token="<unk>",
        pad_token="<pad>",
        additional_special_tokens=list(markers),
        **({"bos_token": "<bos>"} if "<bos>" in markers else {}),
    )


def tiny_model(vocabulary: int, tied: bool = True, positions: int = 512) -> Qwen2ForCausalLM:
    return tiny_qwen(
        vocabulary,
        seed=3,
        max_position_embeddings=positions,
        tie_word_embeddings=tied,
        initializer_range=0.02,
        attn_implementation="sdpa",
    )


def tiny_discriminator(**options: Any) -> Discriminator:
    tied = options.pop("tied", True)
    positions = options.pop("positions", 512)
    tokenizer = tiny_tokenizer()
    defaults = {"lora_rank": 4, "lora_alpha": 8, "batch_size": 8, "lr": 1e-2}
    config = DiscriminatorConfig(**(defaults | options))
    return Discriminator(tiny_model(len(tokenizer), tied, positions), tokenizer, config)


def step(action: str | None, label: int | None = None, **fields: Any) -> Step:
    information = action is not None and action.startswith("look")
    values: dict[str, Any] = {
        "observation": "you see room",
        "admissible": None,
        "response": action or "",
        "action": action,
        "valid": action is not None,
        "kind": None if action is None else Kind.INFORMATION if information else Kind.CHANGING,
        "label": label,
    }
    return Step(**(values | fields))


def episode(*steps: Step, id: str = "e", success: bool = True) -> Trajectory:
    return Trajectory(
        id=id,
        task_id="t",
        task_type="t",
        task="put key in chest",
        seed=0,
        steps=steps,
        success=success,
        score=float(success),
        reward=10.0 * success,
        verified=success,
        final_observation="you see chest",
    )


def errands(count: int, seed: int) -> list[Trajectory]:
    """Successes in which going to an even room is redundant and to an odd one necessary."""
    rng = np.random.default_rng(seed)
    trajectories = []
    for number in range(count):
        rooms = rng.integers(0, 10, size=rng.integers(2, 6))
        steps = [step(f"go to room {room}", int(room % 2)) for room in rooms]
        trajectories.append(episode(*steps, step("take key", 1), id=f"e{number}"))
    return trajectories


def as_failures(trajectories: list[Trajectory]) -> list[Trajectory]:
    return [replace(t, success=False, verified=False) for t in trajectories]
