"""What was sampled is what is trained on: backend and learner agree on log-probabilities."""

import numpy as np
import pytest
import torch

from trajevolve.agent.contract import Request
from trajevolve.agent.transformers_backend import TransformersBackend
from trajevolve.config import LearnerConfig
from trajevolve.learning.learner import Learner
from trajevolve.trajectory import Group, Step, Trajectory


def sampled_trajectory(learner, layout, temperature):
    """Four steps sampled with the backend's cache, prompts laid out as the layout says."""
    backend = TransformersBackend(learner.model, stop_ids=[0], precision=learner.precision)
    generator = np.random.default_rng(0)
    context: tuple[int, ...] = ()
    steps = []
    for number in range(4):
        prompt = tuple(generator.integers(1, 13, 5).tolist())
        context = (context if layout == "dialogue" else ()) + prompt
        (answer,) = backend.complete([Request(0, context, number)], temperature, 6)
        context += answer.token_ids
        steps.append(
            Step(
                observation="o",
                admissible=None,
                response="r",
                action="a",
                valid=True,
                prompt_ids=prompt,
                response_ids=answer.token_ids,
                sampler_logprobs=answer.logprobs,
                advantage=1.0,
            )
        )
    return Trajectory("t", "g", "k", "x", 0, tuple(steps), True, 1.0, 10.0, layout=layout)


@pytest.mark.parametrize("layout", ["dialogue", "window"])
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_sampler_and_learner_agree(make_learner, layout, temperature):
    learner = make_learner(temperature=temperature)
    trajectories = learner.old_logprobs([sampled_trajectory(learner, layout, temperature)])
    for step in trajectories[0].steps:
        assert step.old_logprobs == pytest.approx(step.sampler_logprobs, abs=1e-5)
    metrics = learner.update([Group("g", tuple(trajectories))], seed=0)
    assert metrics["sampler_gap_max"] < 1e-5


def test_a_bfloat16_policy_samples_in_the_precision_it_learns_in(make_model):
    learner = Learner(make_model().bfloat16(), None, LearnerConfig(kl=0.0))
    backend = TransformersBackend(learner.model, stop_ids=[0], precision=learner.precision)
    backend.complete([Request(0, (1, 2, 3), 0)], 1.0, 6)
    assert backend.cache.layers[0].values.dtype == torch.bfloat16
    trajectories = learner.old_logprobs([sampled_trajectory(learner, "dialogue", 1.0)])
    for step in trajectories[0].steps:
        assert step.old_logprobs == pytest.approx(step.sampler_logprobs, abs=0.03)
