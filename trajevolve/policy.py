"""The live policy of a run: one model that acts and learns."""

from __future__ import annotations

from pathlib import Path

from trajevolve.agent.agents import LanguageAgent
from trajevolve.agent.prompt import PromptRenderer
from trajevolve.agent.transformers_backend import TransformersBackend
from trajevolve.config import RunConfig
from trajevolve.learning.learner import Learner
from trajevolve.models.loading import load_policy


class Policy:
    """π_θ: weights shared by the learner and by every agent made here.

    Attributes:
        learner: updates the weights; its reference is the model as it was loaded.
        tokenizer: of the model.
    """

    def __init__(self, config: RunConfig) -> None:
        """Load the model that the run starts from."""
        model, self.tokenizer = load_policy(config.model, config.env.name)
        self._config = config
        self.learner = Learner(model, None, config.learner, temperature=config.rollout.temperature)
        stop_ids = PromptRenderer(self.tokenizer, config.agent).stop_ids
        self._backend = TransformersBackend(model, stop_ids, precision=self.learner.precision)

    def agent(self, temperature: float) -> LanguageAgent:
        """Make an agent that samples from the current weights."""
        self._backend.reset()
        return LanguageAgent(self._backend, self.tokenizer, self._config.agent, temperature)

    def save(self, folder: Path, iteration: int) -> None:
        """Write a checkpoint that ``from_pretrained`` reads."""
        self.learner.save(folder, iteration=iteration, tokenizer=self.tokenizer)

    def load(self, folder: Path) -> None:
        """Take weights and optimiser from a checkpoint of this model."""
        self.learner.load(folder)
