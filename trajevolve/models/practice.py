"""What an environment brings to a warm start: words, an expert, and tasks without end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.envs.contract import Environment, Task

CHUNK = 64
"""Tasks of a lesson."""


@dataclass(frozen=True)
class Lesson:
    """Tasks that are played together.

    Attributes:
        tasks: :data:`CHUNK` of them.
        make_environment: makes one that plays them.
    """

    tasks: Sequence[Task]
    make_environment: Callable[[], Environment]


class Practice(Protocol):
    """One environment's part of both recipes."""

    @property
    def environment(self) -> str:
        """Name of the environment."""
        ...

    def tokenizer(self) -> Any:
        """Build the policy's tokenizer."""
        ...

    def expert(self, clumsiness: Any) -> ScriptedAgent:
        """Make the expert; without `clumsiness` as clumsy as it usually is."""
        ...

    def lesson(self, seed: int, stream: str, number: int) -> Lesson:
        """Make the tasks of one lesson; the numbers of a stream go on for ever."""
        ...

    def exchangeable(self, tokenizer: Any) -> list[list[int]]:
        """Groups of token ids that name things and can stand for each other."""
        ...
