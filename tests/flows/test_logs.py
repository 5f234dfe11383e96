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
logging.getLogger("EventsWorker").warning("Still processing items: 1 items remaining...")
"""


def test_what_prefect_cannot_send_leaves_nothing_on_the_terminal() -> None:
    """It writes of logs without a line's end: the next line would stand behind it."""
    done = subprocess.run(
        [sys.executable, "-c", LOGGED],
        env={**os.environ, "PREFECT_API_URL": CLOSED, "PREFECT_CLIENT_MAX_RETRIES": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "warning: the disk is nearly full\n"
