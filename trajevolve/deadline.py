"""A limit on the time that one call of somebody else's code may take.

An alarm of the system (``SIGALRM``) raises inside the call, so a loop, a sleep or a read that never
ends is broken off where it stands, and costs nothing while calls are quick: about 2 µs each.

Limits. Signals reach the main thread only, so in any other thread nothing is watched; the training
flow and its tasks run in the main thread. Compiled code that does not come back to Python cannot be
broken off either. What was broken off is in no known state and should not be used again.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, TypeVar

log = logging.getLogger(__name__)

Result = TypeVar("Result")


class _Expired(BaseException):
    """The alarm rang. No `Exception`: the code broken off must not handle it as one of its own."""


class Deadline(AbstractContextManager["Deadline"]):
    """Breaks off calls that take longer than `seconds`, between entering and leaving.

    The alarm is taken over on entering. On leaving, whoever had it before gets it back, with the
    time that was left.
    """

    def __init__(self, seconds: float | None) -> None:
        """Set the limit of every call.

        Args:
            seconds: wall time; None or 0 watches nothing.
        """
        self._seconds = seconds or 0.0
        self._watching = False
        self._calling = False
        self._progress: Callable[[], int] | None = None
        self._done = 0

    def __enter__(self) -> Deadline:
        """Take over the alarm, in the main thread."""
        if not self._seconds:
            return self
        if threading.current_thread() is not threading.main_thread():
            log.warning("env.step_timeout_s: without effect outside the main thread")
            return self
        self._began = time.monotonic()
        self._handler: Any = signal.signal(signal.SIGALRM, self._ring)
        self._timer = signal.setitimer(signal.ITIMER_REAL, 0)
        self._watching = True
        return self

    def __exit__(self, *exception: object) -> None:
        """Give the alarm back."""
        if not self._watching:
            return
        self._watching = False
        self._disarm()
        signal.signal(signal.SIGALRM, self._handler)
        left, interval = self._timer
        if left:
            passed = time.monotonic() - self._began
            signal.setitimer(signal.ITIMER_REAL, max(left - passed, 1e-3), interval)

    def within(
        self, call: Callable[[], Result], progress: Callable[[], int] | None = None
    ) -> Result:
        """Return ``call()``.

        Args:
            call: what to do.
            progress: counts the parts of it that are done; the limit then holds for each part.
                It is read when the alarm rings only, so that parts cost nothing, and a part that
                hangs is broken off after up to twice the limit.

        Raises:
            TimeoutError: it took longer than the limit.
        """
        if not self._watching:
            return call()
        try:
            try:
                self._progress = progress
                self._done = progress() if progress else 0
                self._calling = True
                # Rings again and again, in case the code below catches everything.
                signal.setitimer(signal.ITIMER_REAL, self._seconds, self._seconds)
                return call()
            finally:
                self._disarm()
        except _Expired:
            self._disarm()  # the alarm may have come in the `finally`
            raise TimeoutError(f"no answer within {self._seconds:g} s") from None

    def _disarm(self) -> None:
        self._calling = False
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if not self._calling:
            return
        if self._progress is not None and (done := self._progress()) != self._done:
            self._done = done
            return
        raise _Expired
