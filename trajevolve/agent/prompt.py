"""From an episode to prompt tokens, in two layouts.

``window``: every step is a fresh prompt with the last observation-action pairs (the paper's).
``dialogue``: the episode is one growing conversation; each step appends the new observation, so
tokens are processed once and a trajectory is one training sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from jinja2 import Environment as Jinja
from jinja2 import PackageLoader, StrictUndefined, Template

from trajevolve.agent.contract import Turn
from trajevolve.config import AgentConfig
from trajevolve.errors import UserError
from trajevolve.trajectory import Step

MARKS = ("\x02first\x03", "\x02response\x03", "\x02next\x03")
REMEMBERED = 20_000


@dataclass(frozen=True)
class Prompt:
    """Tokens fed before a response, and how many tokens had to be left out to fit."""

    ids: tuple[int, ...]
    truncated: int = 0


@cache
def _template(name: str) -> Template:
    loader = PackageLoader("trajevolve.agent", "templates")
    return Jinja(loader=loader, undefined=StrictUndefined).get_template(f"{name}.jinja")


class PromptRenderer:
    """Renders turns with a tokenizer's chat template.

    Raises:
        UserError: the tokenizer has no chat template.
    """

    def __init__(self, tokenizer: Any, config: AgentConfig) -> None:
        if not tokenizer.chat_template:
            raise UserError(
                f"model {tokenizer.name_or_path!r}: its tokenizer has no chat template; use an "
                "instruction-tuned model, or add chat_template.jinja to its folder"
            )
        self.tokenizer = tokenizer
        self.config = config
        self.stop_ids = _stop_ids(tokenizer)
        self._encoded: dict[str, tuple[int, ...]] = {}

    def render(self, turn: Turn) -> Prompt:
        """Return the tokens that `turn` adds (dialogue) or its whole prompt (window)."""
        if self.config.layout == "window":
            return self._window(turn)
        return self._dialogue(turn)

    def context(self, turn: Turn, prompt: Prompt) -> tuple[int, ...]:
        """Return all tokens before the response."""
        if self.config.layout == "window":
            return prompt.ids
        past: list[int] = []
        for step in turn.history:
            past.extend(step.prompt_ids)
            past.extend(step.response_ids)
        return (*past, *prompt.ids)

    def _dialogue(self, turn: Turn) -> Prompt:
        if not turn.history:
            ids = self._start(turn)
            if len(ids) > self.config.max_prompt_tokens:
                raise UserError(
                    f"task {turn.task.id}: its first prompt has {len(ids)} tokens, more than "
                    f"agent.max_prompt_tokens = {self.config.max_prompt_tokens}; raise the limit"
                )
            return Prompt(ids)
        room = self.config.max_prompt_tokens - _used(turn.history)
        return self._appended(turn, room)

    def _start(self, turn: Turn) -> tuple[int, ...]:
        text = _template("dialogue_start").render(
            observation=turn.observation.text, answer=self.config.answer
        )
        return self._encode(self._chat([{"role": "user", "content": text}]))

    def _appended(self, turn: Turn, room: int) -> Prompt:
        """Encode the new observation as a user message, cut from its end to fit `room`."""
        previous = turn.history[-1]
        words = turn.observation.text
        whole = self._encode(self._suffix(words, previous))
        if len(whole) <= room:
            return Prompt(whole)
        kept = words
        ids = whole
        while kept and len(ids) > room:
            kept = kept[: int(len(kept) * 0.8)]
            ids = self._encode(self._suffix(kept, previous))
        ids = ids if len(ids) <= room else ()
        return Prompt(ids, truncated=len(whole) - len(ids))

    def _suffix(self, observation: str, previous: Step) -> str:
        """Return what the chat template puts between a response and the next one."""
        text = _template("dialogue_turn").render(observation=observation).strip()
        before, after = self._between
        if previous.response_ids and previous.response_ids[-1] in self.stop_ids:
            before = before.removeprefix(self.tokenizer.decode([previous.response_ids[-1]]))
        return before + text + after

    @cached_property
    def _between(self) -> tuple[str, str]:
        """The template's text after a response up to a user message, and after that message."""
        conversation = [
            {"role": "user", "content": MARKS[0]},
            {"role": "assistant", "content": MARKS[1]},
            {"role": "user", "content": MARKS[2]},
        ]
        suffix = self._chat(conversation).split(MARKS[1], 1)[1]
        before, after = suffix.split(MARKS[2], 1)
        return before, after

    def _window(self, turn: Turn) -> Prompt:
        """Shorten the history first, then the observation, by tokens."""
        limit = self.config.max_prompt_tokens
        whole = ids = self._encode(self._window_text(turn, self.config.history_length))
        shown = min(self.config.history_length, len(turn.history))
        while len(ids) > limit and shown > 0:
            shown -= 1
            ids = self._encode(self._window_text(turn, shown))
        observation = turn.observation.text
        while len(ids) > limit and len(observation) > 1:
            observation = observation[: int(len(observation) * 0.8)]
            ids = self._encode(self._window_text(turn, shown, observation))
        if len(ids) > limit:
            raise UserError(
                f"task {turn.task.id}: step {len(turn.history) + 1} needs {len(ids)} prompt tokens "
                f"even without history, more than agent.max_prompt_tokens = {limit}; raise it"
            )
        return Prompt(ids, truncated=len(whole) - len(ids))

    def _window_text(self, turn: Turn, shown: int, observation: str | None = None) -> str:
        first = len(turn.history) - min(shown, len(turn.history))
        pairs = [
            {"number": number + 1, "observation": step.observation, "action": step.action or "none"}
            for number, step in enumerate(turn.history)
            if number >= first
        ]
        listed = turn.observation.admissible is not None
        text = _template("window").render(
            environment=turn.task.env,
            task=turn.task.text,
            steps=len(turn.history),
            history=pairs,
            observation=turn.observation.text if observation is None else observation,
            admissible=turn.observation.admissible,
            templates=turn.observation.templates,
            objects=() if listed else turn.ask(lambda environment: environment.objects()),
            answer=self.config.answer,
        )
        return self._chat([{"role": "user", "content": text}])

    def _chat(self, messages: list[dict[str, str]]) -> str:
        return str(
            self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        )

    def _encode(self, text: str) -> tuple[int, ...]:
        """Tokenise; texts of a room repeat, so recent ones are remembered."""
        ids = self._encoded.get(text)
        if ids is None:
            if len(self._encoded) >= REMEMBERED:
                self._encoded.clear()
            ids = tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])
            self._encoded[text] = ids
        return ids


def _used(history: Sequence[Step]) -> int:
    return sum(len(step.prompt_ids) + len(step.response_ids) for step in history)


def _stop_ids(tokenizer: Any) -> frozenset[int]:
    return frozenset({tokenizer.eos_token_id})
