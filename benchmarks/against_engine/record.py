"""What a recorded comparison says about where and with what it was made."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

DEFAULT_DATA = Path(__file__).parents[2].parent / "shared" / "data" / "alfworld"
ENGINE = ("alfworld", "textworld", "fast-downward-textworld")


def surroundings() -> dict[str, Any]:
    """Versions and the kind of machine."""
    return {
        "versions": {name: version(name) for name in (*ENGINE, "trajevolve", "numpy")},
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write `record` as readable JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2, ensure_ascii=True) + "\n")
