"""Agents: a language model, a random walker and an expert, behind one interface."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from trajevolve.agent.contract import Backend, Completion, Decision, Request, Turn
from trajevolve.agent.parse import parse_response, write_response
from trajevolve.agent.prompt import Prompt, PromptRenderer
from trajevolve.config import AgentConfig
from trajevolve.trajectory import Layout


class LanguageAgent:
    """A language model that reads prompts and answers with an action.

    Args:
        backend: samples token ids.
        tokenizer: of the model, with a chat template.
        config: layout, answer style and limits.
        temperature: of sampling; 0 is greedy.
    """

    def __init__(
        self, backend: Backend, tokenizer: Any, config: AgentConfig, temperature: float
    ) -> None:
        self.backend = backend
        self.tokenizer = tokenizer
        self.config = config
        self.temperature = temperature
        self.renderer = PromptRenderer(tokenizer, config)
        self.layout: Layout = config.layout

    def act(self, turns: Sequence[Turn]) -> list[Decision]:
        """Sample one answer per turn; an episode whose context is full answers with nothing."""
        prompts = [self.renderer.render(turn) for turn in turns]
        requests = [
            Request(turn.slot, self.renderer.context(turn, prompt), turn.seed)
            for turn, prompt in zip(turns, prompts, strict=True)
            if prompt.ids
        ]
        completions = iter(
            self.backend.complete(requests, self.temperature, self.config.max_response_tokens)
        )
        return [
            self._decision(prompt, next(completions) if prompt.ids else Completion((), ()))
            for prompt in prompts
        ]

    def force(self, turn: Turn, response: str, response_ids: tuple[int, ...]) -> Decision:
        """Answer with a recorded response; its log-probabilities come from the learner."""
        prompt = self.renderer.render(turn)
        ids = response_ids
        if not ids:
            encoded = self.tokenizer(response, add_special_tokens=False)["input_ids"]
            ids = (*encoded, self.tokenizer.eos_token_id)
        return self._decision(prompt, Completion(ids, ()))

    def answer(self, action: str) -> str:
        """Write the response text that says `action`."""
        return write_response(action, self.config.answer)

    def release(self, slots: Iterable[int]) -> None:
        """Forget finished episodes."""
        self.backend.release(slots)

    def _decision(self, prompt: Prompt, completion: Completion) -> Decision:
        text = self.tokenizer.decode(completion.token_ids, skip_special_tokens=True)
        parsed = parse_response(text, self.config.answer, self.config.compatibility)
        return Decision(
            response=text,
            action=parsed.action or parsed.fallback or None,
            thought=parsed.thought,
            prompt_ids=prompt.ids,
            response_ids=completion.token_ids,
            logprobs=completion.logprobs,
            truncated_tokens=prompt.truncated,
        )


class ScriptedAgent:
    """Base of agents without a model: they choose an action and have no tokens."""

    layout: Layout = "dialogue"

    def act(self, turns: Sequence[Turn]) -> list[Decision]:
        """Choose one action per turn."""
        return [Decision(action, action) for action in map(self.choose, turns)]

    def choose(self, turn: Turn) -> str:
        """Return the action for one turn."""
        raise NotImplementedError

    def force(self, turn: Turn, response: str, response_ids: tuple[int, ...]) -> Decision:
        """Answer with the recorded response."""
        return Decision(response, response or None)

    def answer(self, action: str) -> str:
        """Return the action itself."""
        return action

    def release(self, slots: Iterable[int]) -> None:
        """Keep nothing."""


class RandomAgent(ScriptedAgent):
    """Chooses uniformly among the admissible actions."""

    def choose(self, turn: Turn) -> str:
        """Draw with the turn's seed."""
        options = turn.observation.admissible or tuple(turn.ask(lambda env: env.candidates()))
        return options[int(np.random.default_rng(turn.seed).integers(len(options)))]
