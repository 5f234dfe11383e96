"""What Prefect logs of a failure: a mistake of the user is one line, not a traceback."""

from __future__ import annotations

import logging

from trajevolve.errors import UserError

# Prefect's engines log the exception of a task run, and again that of its flow run, here.
TASK_RUNS = "prefect.task_runs"
FLOW_RUNS = "prefect.flow_runs"


class OneLine(logging.Filter):
    """Reduces the record of a UserError to its text; other records pass as they are."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite `record` in place; it is always kept."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, UserError):
            record.msg, record.args = str(error), ()
            record.exc_info = record.exc_text = None
        return True


def shorten_user_errors() -> None:
    """Have Prefect log the user's mistakes by their text alone. Idempotent."""
    for name in (TASK_RUNS, FLOW_RUNS):
        logger = logging.getLogger(name)
        if not any(isinstance(known, OneLine) for known in logger.filters):
            logger.addFilter(OneLine())
