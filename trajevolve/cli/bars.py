"""Bars for long work, on a terminal alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trajevolve.progress import listening

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Drawing costs about a millisecond, of the same processor that does the work.
DRAWN_PER_SECOND = 4


class Bars:
    """Shows each thing being worked on as a line with its bar, erased when it is done.

    What other code prints on stderr meanwhile appears above the lines.
    """

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._lines: list[TaskID] = []

    def begin(self, what: str) -> None:
        """Draw one more line."""
        if self._progress is None:
            self._progress = _progress()
            self._progress.start()
        self._lines.append(self._progress.add_task(what, total=None, count="", detail=""))

    def advance(self, done: int, total: int, detail: str) -> None:
        """Move the bar of the last line."""
        if self._progress is None:
            return
        count = f"{done:,}/{total:,}" if total else f"{done:,}"
        self._progress.update(
            self._lines[-1], completed=done, total=total or None, count=count, detail=detail
        )

    def end(self) -> None:
        """Erase the last line."""
        if self._progress is not None and self._lines:
            self._progress.remove_task(self._lines.pop())
        if not self._lines:
            self.close()

    def close(self) -> None:
        """Erase everything."""
        if self._progress is not None:
            self._progress.stop()
        self._progress, self._lines = None, []


@contextmanager
def terminal_bars() -> Iterator[None]:
    """Show bars inside the block where stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    bars = Bars()
    try:
        with listening(bars):
            yield
    finally:
        bars.close()


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[count]} {task.fields[detail]}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=DRAWN_PER_SECOND,
        redirect_stdout=False,
    )
