"""One episode on the pool, brought back by replay when its process is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from trajevolve.envs.scienceworld.jvm import Answer, Jvm, JvmError
from trajevolve.envs.scienceworld.pool import Pool

RESTARTS = 3
"""Processes that one episode may lose by their own fault before it counts as failed."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Instance:
    """What the simulator loads.

    Attributes:
        name: of the task type.
        variation: its number.
        simplifications: comma-separated, "" for none.
    """

    name: str
    variation: int
    simplifications: str


class ReplayDiffers(RuntimeError):
    """The same inputs from the same start were answered differently."""


class Episode:
    """The inputs given so far and their answers, and so the way back to where it is.

    Attributes:
        instance: what is played.
        past: inputs and their answers, in order.
        losses: processes that failed under it.
    """

    def __init__(self, pool: Pool, instance: Instance) -> None:
        self.instance = instance
        self.past: list[tuple[str, Answer]] = []
        self.losses = 0
        self._pool = pool

    def step(self, text: str) -> Answer:
        """Give the simulator one input.

        Raises:
            JvmError: too many processes failed.
            ReplayDiffers: the episode could not be brought back.
        """
        answer = self.ask(lambda jvm: jvm.step(text))
        self.past.append((text, answer))
        return answer

    def ask(self, question: Callable[[Jvm], Result]) -> Result:
        """Return ``question(process)`` of a process that is where the episode is.

        A process that dies, hangs or answers nonsense is replaced and brought there again.
        Raises like :meth:`step`.
        """
        while True:
            try:
                with self._pool.lent(self) as slot:
                    jvm = self._pool.process(slot)
                    if not slot.loaded:
                        self._bring(jvm)
                        slot.loaded = True
                    return question(jvm)
            except JvmError as error:
                self.losses += 1
                if self.losses > RESTARTS:
                    raise JvmError(
                        f"{self.instance.name}/{self.instance.variation}: {self.losses} Java "
                        f"processes failed in this episode, the last one: {error}"
                    ) from error

    def release(self) -> None:
        """Give the process back; using the episode again takes another."""
        self._pool.release(self)

    def _bring(self, jvm: Jvm) -> None:
        instance = self.instance
        jvm.load(instance.name, instance.variation, instance.simplifications)
        for text, before in self.past:
            now = jvm.step(text)
            if now != before:
                raise ReplayDiffers(
                    f"{instance.name}/{instance.variation}: {text!r} was answered "
                    f"{before!r}, and {now!r} when it was replayed"
                )
