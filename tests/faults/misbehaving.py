"""The lane with an environment that misbehaves on the word ``look``."""

from __future__ import annotations

import itertools
import math
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from toys.lane import Lane, Place

from trajevolve.envs.contract import Kind, Observation, Outcome, Task, Transition


def loop() -> None:
    """Never end, by computing."""
    while True:
        continue


def sleep() -> None:
    """Never end, by sleeping."""
    time.sleep(1e6)


def wait() -> None:
    """Never end, by waiting for another thread."""
    threading.Event().wait()


def read() -> None:
    """Never end, by reading from another process that says nothing."""
    with subprocess.Popen(["sleep", "1000"], stdout=subprocess.PIPE) as silent:
        assert silent.stdout is not None
        try:
            silent.stdout.read()
        finally:
            silent.kill()


def retry() -> None:
    """Never end, by trying again whatever happens."""
    while True:
        try:
            time.sleep(1e6)
        except Exception:
            continue


def swallow() -> None:
    """Break off at the second attempt only, since the first is caught whatever it was."""
    for _ in range(2):
        try:
            time.sleep(1e6)
        except BaseException:
            continue
    time.sleep(1e6)


HANGS: dict[str, Callable[[], None]] = {
    function.__name__: function for function in (loop, sleep, wait, read, retry, swallow)
}


class Hanging(Lane):
    """Hangs on ``look``, and at the start of the task ``west`` where asked to."""

    def __init__(self, hang: Callable[[], None] = sleep, resets: bool = False) -> None:
        self.hang = hang
        self.resets = resets

    def reset(self, task: Task) -> Observation:
        if self.resets and task.id == "west":
            self.hang()
        return super().reset(task)

    def step(self, action: str) -> Outcome:
        if action == "look":
            self.hang()
        return super().step(action)


class HangsOnce(Lane):
    """Hangs in the first ``look`` of the process, whoever makes it."""

    looks = itertools.count()

    def step(self, action: str) -> Outcome:
        if action == "look" and next(self.looks) == 0:
            sleep()
        return super().step(action)


class StuckInReplay(Lane):
    """Plays, and answers no replay for so long that nobody would wait."""

    def advance(self, action: str) -> Transition:
        time.sleep(10)
        raise AssertionError("nobody broke it off")


class BrokenReplay(Lane):
    """Plays, and fails in every replay."""

    def advance(self, action: str) -> Transition:
        raise KeyError(action)


class Raising(Lane):
    """Raises in one of its methods, once the word ``look`` has been said."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.looked = False

    def canonical(self, action: str) -> str:
        self.looked = self.looked or action == "look"
        self._trip("canonical")
        return super().canonical(action)

    def kind(self, action: str) -> Kind:
        self._trip("kind")
        return super().kind(action)

    def step(self, action: str) -> Outcome:
        self._trip("step")
        return super().step(action)

    def state_key(self) -> Place:
        self._trip("state_key")
        return super().state_key()

    def close(self) -> None:
        self._trip("close")

    def _trip(self, method: str) -> None:
        if self.looked and method == self.method:
            raise OSError(f"{method} is broken")


class Paying(Lane):
    """Pays what it likes for ``look``."""

    def __init__(self, reward: float = 1e30, score: float = 0.0) -> None:
        self.reward = reward
        self.score = score

    def step(self, action: str) -> Outcome:
        outcome = super().step(action)
        if action != "look":
            return outcome
        return replace(outcome, reward=self.reward, score=self.score)


NUMBERS = [("reward", math.nan), ("reward", math.inf), ("reward", -math.inf)] + [
    ("score", value) for value in (math.nan, math.inf, -0.5, 1.5, 100.0)
]
