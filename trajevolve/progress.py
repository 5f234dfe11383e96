"""What long work says of itself while it goes on; nothing unless somebody listens.

The command line listens on a terminal and draws bars. A worker has no terminal and does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Listener(Protocol):
    """Is told what is being worked on; work within work is told as it begins and ends."""

    def begin(self, what: str) -> None:
        """Something has begun."""

    def advance(self, done: int, total: int, detail: str) -> None:
        """The innermost thing is at `done` of `total`."""

    def end(self) -> None:
        """The innermost thing has ended, done or not; it may have hardly begun."""


_listener: Listener | None = None


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Tell `listener` inside the block; None: nobody."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say that the block works on `what`, a few words."""
    listener = _listener
    if listener is None:
        yield
        return
    try:
        listener.begin(what)  # an interrupt may come in here too
        yield
    finally:
        listener.end()


def advance(done: int, total: int, detail: str = "") -> None:
    """Say how far the innermost work is.

    Args:
        done: how much of it.
        total: how much in all; 0 where that is not known.
        detail: a few words more.
    """
    if _listener is not None:
        _listener.advance(done, total, detail)


def tracked(items: Sequence[Item], detail: str = "") -> Iterator[Item]:
    """Iterate over `items` and say how many are done."""
    for number, item in enumerate(items, start=1):
        yield item
        advance(number, len(items), detail)


def of_episodes() -> Callable[[int, int], None]:
    """Make what :func:`trajevolve.rollout.play` calls after each round, a step of everyone."""
    rounds = count(1)
    return lambda done, total: advance(done, total, f"episodes, step {next(rounds)}")
