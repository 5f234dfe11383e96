"""Nothing about a run leaves the machine: usage reports of the tools below are switched off.

Each of them reads its switch from the environment when it is imported, so this is called before
any of those imports. A user who has set a switch keeps what was set.
"""

from __future__ import annotations

import os

SWITCHES = {
    "DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DVC_NO_ANALYTICS": "true",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


def switch_off() -> None:
    """Set every switch that is not set yet."""
    for name, value in SWITCHES.items():
        os.environ.setdefault(name, value)
