"""Time one policy update of the built-in model's size, in CPU seconds of one thread.

Usage: python benchmarks/learner.py [--trajectories 64] [--tokens-per-batch 1024 2048 4096 16384]
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from trajevolve.config import LearnerConfig
from trajevolve.learning.learner import Learner
from trajevolve.trajectory import Group, Step, Trajectory

VOCABULARY = 600


def make_trajectory(index: int, generator: np.random.Generator) -> Trajectory:
    """Return 15-30 steps of random tokens, about 540 in all, 6 of each step's 21 trained on."""

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(generator.integers(0, VOCABULARY, count).tolist())

    steps = tuple(
        Step(
            observation="",
            admissible=None,
            response="",
            action="look",
            valid=True,
            prompt_ids=tokens(15 if t else 80),
            response_ids=tokens(6),
            advantage=float(generator.normal()),
        )
        for t in range(int(generator.integers(15, 31)))
    )
    return Trajectory(str(index), "task", "type", "", index, steps, True, 1.0, 10.0)


def measure(trajectories: list[Trajectory], tokens_per_batch: int) -> dict[str, float]:
    """Time ``old_logprobs`` and ``update``, the reference's forward pass included."""
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=128,
        intermediate_size=512,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
    )
    settings = LearnerConfig(tokens_per_batch=tokens_per_batch)
    learner = Learner(Qwen2ForCausalLM(config), None, settings)
    start = time.process_time()
    filled = learner.old_logprobs(trajectories)
    middle = time.process_time()
    learner.update([Group("task", tuple(filled))], seed=0)
    end = time.process_time()
    return {
        "tokens_per_batch": tokens_per_batch,
        "old_logprobs_s": round(middle - start, 2),
        "update_s": round(end - middle, 2),
    }


def main() -> None:
    """Print one JSON line for each size of micro-batch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, default=64)
    parser.add_argument(
        "--tokens-per-batch", type=int, nargs="+", default=[1024, 2048, 4096, 16384]
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    generator = np.random.default_rng(0)
    trajectories = [make_trajectory(i, generator) for i in range(arguments.trajectories)]
    for tokens in arguments.tokens_per_batch:
        print(json.dumps(measure(trajectories, tokens)))


if __name__ == "__main__":
    main()
