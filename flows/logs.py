"""What Prefect logs, for people: a mistake of the user is one line, and a terminal sees no more."""

from __future__ import annotations

import logging
from pathlib import Path

from trajevolve.errors import UserError, one_line, say

# Prefect's engines log the exception of a task run, and again that of its flow run, here.
TASK_RUNS = "prefect.task_runs"
FLOW_RUNS = "prefect.flow_runs"
ENGINES = (TASK_RUNS, FLOW_RUNS)
HERE = Path(__file__).parent


class OneLine(logging.Filter):
    """Reduces the record of a UserError to its text; other records pass as they are."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite `record` in place; it is always kept."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, UserError):
            record.msg, record.args = str(error), ()
            record.exc_info = record.exc_text = None
        return True


class Plain(logging.Handler):
    """Writes on stderr what the person there should know, one line each.

    That is what the flow says, and warnings. What the engines say of an exception, an interrupt
    included, comes back to the caller, who says it once.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write `record`, or pass over it."""
        engine = record.name in ENGINES
        if engine and Path(record.pathname).parent == HERE:
            say(record.getMessage())
        elif record.levelno >= logging.WARNING and not (
            engine and record.levelno > logging.WARNING
        ):
            say(f"{record.levelname.lower()}: {one_line(record.getMessage())}")


def shorten_user_errors() -> None:
    """Have Prefect log the user's mistakes by their text alone. Idempotent."""
    for name in ENGINES:
        logger = logging.getLogger(name)
        if not any(isinstance(known, OneLine) for known in logger.filters):
            logger.addFilter(OneLine())


def speak_plainly() -> None:
    """Put :class:`Plain` in the place of Prefect's console, unless debugging. Idempotent.

    With ``PREFECT_LOGGING_LEVEL=DEBUG`` everything is shown as Prefect shows it.
    """
    from prefect.logging.handlers import PrefectConsoleHandler

    if logging.getLogger("prefect").isEnabledFor(logging.DEBUG):
        return
    # Of logs that its server does not take, Prefect writes on stderr itself, from a thread of its
    # own and without a line's end; the run's error would stand behind that, on the same line.
    logging.raiseExceptions = False
    # These count, after the last line of the run, what they have yet to send.
    for name in ("EventsWorker", "APILogWorker"):
        logging.getLogger(name).setLevel(logging.ERROR)
    root = logging.getLogger()
    consoles = [each for each in root.handlers if isinstance(each, PrefectConsoleHandler)]
    for console in consoles:
        root.removeHandler(console)
    if consoles:
        root.addHandler(Plain())
