"""One episode on the pool, brought back by replay when its process is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from trajevolve.envs.scienceworld.instance import Instance
from trajevolve.envs.scienceworld.jvm import Answer, Jvm, JvmError
from trajevolve.envs.scienceworld.pool import Pool
from trajevolve.errors import UserError

RESTARTS = 3
"""Processes that one episode may lose by their own fault before it counts as failed."""

Result = TypeVar("Result")


class EpisodeLost(UserError):
    """One Java process after the other failed under an episode."""


class ReplayDiffers(RuntimeError):
    """The same inputs from the same start were answered differently."""


class Episode:
    """The inputs given so far and their answers, and so the way back to where it is.

    Attributes:
        instance: what is played.
        start: what is seen at the start; None before a process was there.
        past: inputs and their answers, in order.
        losses: processes that failed under it.
    """

    def __init__(self, pool: Pool, instance: Instance) -> None:
        self.instance = instance
        self.start: Answer | None = None
        self.past: list[tuple[str, Answer]] = []
        self.losses = 0
        self._pool = pool

    def begin(self) -> Answer:
        """Return what is seen at the start. Raises like :meth:`step`."""
        self.ask(lambda jvm: None)
        assert self.start is not None
        return self.start

    def step(self, text: str) -> Answer:
        """Give the simulator one input.

        Raises:
            EpisodeLost: too many processes failed.
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
                    raise EpisodeLost(
                        f"task {self.instance}: {self.losses} Java processes failed in this "
                        f"episode, so it is given up; the last one: {error}"
                    ) from error

    def release(self) -> None:
        """Give the process back; using the episode again takes another."""
        self._pool.release(self)

    def _bring(self, jvm: Jvm) -> None:
        start = jvm.load(self.instance)
        self._compare("the start", self.start or start, start)
        self.start = start
        for text, before in self.past:
            self._compare(repr(text), before, jvm.step(text))

    def _compare(self, what: str, before: Answer, now: Answer) -> None:
        if now != before:
            raise ReplayDiffers(
                f"task {self.instance}: {what} was answered {before!r}, and {now!r} when it was "
                "replayed"
            )
