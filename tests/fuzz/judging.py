"""What has to hold for any input: a normal result or one clear line, soon and in little memory."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from trajevolve.errors import UserError

LONGEST_TEXT = 1000
CPU_SECONDS = 5.0
MEMORY = 1 << 30


class Broken(AssertionError):
    """The property does not hold."""


class _TooSlow(BaseException):
    """Raised by the alarm; a BaseException so that no handler of the program swallows it."""


def judge(run: Callable[[], object], place: str = "") -> str:
    """Run one input; return ``done`` or ``refused``.

    Args:
        run: reads the input.
        place: has to occur in the text of a refusal.

    Raises:
        Broken: another exception than UserError, a text that is no single short line or does not
            name the place, or more than CPU_SECONDS.
    """
    try:
        with _alarm():
            run()
    except UserError as error:
        check_text(str(error), place)
        return "refused"
    except Broken:
        raise
    except _TooSlow:
        raise Broken(f"took more than {CPU_SECONDS:.0f} CPU seconds") from None
    except Exception as error:
        raise Broken(f"{type(error).__name__}: {str(error)[:200]}") from error
    return "done"


def check_text(text: str, place: str = "") -> None:
    """Raise Broken unless `text` is one short printable line that holds `place`."""
    if not text.strip() or len(text) >= LONGEST_TEXT:
        raise Broken(f"text of {len(text)} characters: {text[:200]!r}")
    if not text.isprintable():
        raise Broken(f"not one printable line: {text[:200]!r}")
    if place not in text:
        raise Broken(f"does not name {place}: {text[:200]!r}")


@contextmanager
def little_memory(allowed: int = MEMORY) -> Iterator[None]:
    """Let the process grow by `allowed` bytes of address space and no more."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + allowed, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def _alarm() -> Iterator[None]:
    """Interrupt after so much CPU time; a busy machine makes nothing late."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
