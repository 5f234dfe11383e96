"""What Prefect says on a terminal, beside the lines of the run."""

from __future__ import annotations

import os
import subprocess
import sys

CLOSED = "http://127.0.0.1:9/api"
LOGGED = """
import logging
from uuid import uuid4
from prefect.logging.configuration import setup_logging
from trajevolve_flows.logs import speak_plainly
setup_logging()
speak_plainly()
logger = logging.getLogger("prefect.flow_runs")
logger.warning("the disk is nearly full", extra={"flow_run_id": str(uuid4())})
"""


def test_logs_that_the_server_does_not_take_leave_nothing_on_the_terminal() -> None:
    """Prefect writes of them without a line's end: the next line would stand behind it."""
    done = subprocess.run(
        [sys.executable, "-c", LOGGED],
        env={**os.environ, "PREFECT_API_URL": CLOSED, "PREFECT_CLIENT_MAX_RETRIES": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "warning: the disk is nearly full\n"
