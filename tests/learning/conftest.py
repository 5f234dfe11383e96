from collections.abc import Callable

import numpy as np
import pytest
import torch
from toys.qwen import tiny_qwen
from transformers import Qwen2ForCausalLM

from trajevolve.config import LearnerConfig
from trajevolve.learning.learner import Learner
from trajevolve.trajectory import Evolution, Step, Trajectory

VOCABULARY = 13


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def tiny_model(seed: int = 0) -> Qwen2ForCausalLM:
    shape = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2}
    return tiny_qwen(VOCABULARY, seed, **shape, num_key_value_heads=1, max_position_embeddings=96)


@pytest.fixture
def make_model() -> Callable[..., Qwen2ForCausalLM]:
    return tiny_model


@pytest.fixture
def make_learner() -> Callable[..., Learner]:
    """The reference is another model than the policy, so that the KL is not zero."""

    def make(temperature: float = 1.0, seed: int = 0, **fields: object) -> Learner:
        config = LearnerConfig(**{"lr": 1e-2, **fields})
        return Learner(tiny_model(seed), tiny_model(99), config, temperature=temperature)

    return make


@pytest.fixture
def make_trajectories() -> Callable[..., list[Trajectory]]:
    """Random trajectories; the `evolved` last ones count as evolved."""

    def make(count: int, *, evolved: int = 0, layout: str = "dialogue") -> list[Trajectory]:
        generator = np.random.default_rng(5)
        made = []
        for index in range(count):
            steps = tuple(_step(generator) for _ in range(int(generator.integers(1, 6))))
            record = Evolution("p", "elimination", None, 5, 10.0, True)
            made.append(
                Trajectory(
                    id=f"t{index}",
                    task_id="g",
                    task_type="pick",
                    task="x",
                    seed=0,
                    steps=steps,
                    success=True,
                    score=1.0,
                    reward=10.0,
                    layout=layout,
                    evolution=record if index >= count - evolved else None,
                )
            )
        return made

    return make


def _step(generator: np.random.Generator) -> Step:
    prompt = generator.integers(0, VOCABULARY, generator.integers(1, 6))
    response = generator.integers(0, VOCABULARY, generator.integers(1, 4))
    return Step(
        observation="o",
        admissible=None,
        response="r",
        action="a",
        valid=True,
        prompt_ids=tuple(prompt.tolist()),
        response_ids=tuple(response.tolist()),
        advantage=float(generator.normal()),
    )
