"""The two interfaces of acting: an Agent decides, a Backend turns token ids into token ids.

Random, expert and language-model agents share :class:`Agent`. :class:`Backend` is all that the
last of them needs of a model; the one here runs it with transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeVar

from trajevolve.deadline import Deadline
from trajevolve.envs.contract import Environment, Observation, Task
from trajevolve.trajectory import Layout, Step

Answer = TypeVar("Answer")


class TurnError(RuntimeError):
    """The environment of one turn failed while the agent asked it; the cause says how.

    Attributes:
        slot: of the turn.
    """

    def __init__(self, slot: int) -> None:
        super().__init__(f"the environment of episode {slot} failed")
        self.slot = slot


@dataclass(frozen=True)
class Turn:
    """One live episode waiting for its next action.

    Attributes:
        slot: number of the episode inside this rollout; caches are kept by slot.
        task: the task instance.
        observation: s_t.
        history: the steps before t.
        seed: seed of this single decision.
        environment: the episode's environment; a language-model agent asks it for no more than its
            prompts show.
        deadline: watches what it is asked through :meth:`ask`.
    """

    slot: int
    task: Task
    observation: Observation
    history: tuple[Step, ...]
    seed: int
    environment: Environment
    deadline: Deadline = field(default_factory=partial(Deadline, None))

    def ask(self, question: Callable[[Environment], Answer]) -> Answer:
        """Ask the environment something. Raises TurnError where it fails or takes too long."""
        try:
            return self.deadline.within(lambda: question(self.environment))
        except Exception as error:
            raise TurnError(self.slot) from error


@dataclass(frozen=True)
class Decision:
    """An agent's answer: text, parsed action (canonical form, None if unparsable) and tokens."""

    response: str
    action: str | None
    thought: str = ""
    prompt_ids: tuple[int, ...] = ()
    response_ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    truncated_tokens: int = 0


class Agent(Protocol):
    """Decides for all live episodes at once."""

    layout: Layout

    def act(self, turns: Sequence[Turn]) -> list[Decision]:
        """Return one decision per turn, in order.

        After a TurnError the same is asked again without that turn.
        """
        ...

    def force(self, turn: Turn, response: str, response_ids: tuple[int, ...]) -> Decision:
        """Lay out the prompt of `turn` and answer with a recorded response instead of sampling.

        Empty `response_ids` means that the response text was made by the program and has to be
        tokenised.
        """
        ...

    def answer(self, action: str) -> str:
        """Write the response text that says `action` (with tags where the parser wants them)."""
        ...

    def release(self, slots: Iterable[int]) -> None:
        """Forget finished episodes."""
        ...


@dataclass(frozen=True)
class Request:
    """One completion to sample.

    ``context`` is the whole context, every time; a backend that kept the slot's cache computes
    only what is new.
    """

    slot: int
    context: tuple[int, ...]
    seed: int


@dataclass(frozen=True)
class Completion:
    """Sampled token ids, end token included, and their log-probabilities at the temperature."""

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]


class Backend(Protocol):
    """Token ids in, token ids and log-probabilities out."""

    def complete(
        self, requests: Sequence[Request], temperature: float, max_new_tokens: int
    ) -> list[Completion]:
        """Sample one completion per request. Temperature 0 is greedy."""
        ...

    def release(self, slots: Iterable[int]) -> None:
        """Drop the caches of finished episodes."""
        ...
