"""Processes that share a folder take turns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from trajevolve.locking import alone_in

STEP = """
import sys, time
from pathlib import Path
from trajevolve.locking import alone_in
with alone_in(Path(sys.argv[1])), open(sys.argv[2], "a") as stream:
    stream.write("in ")
    stream.flush()
    time.sleep(0.2)
    stream.write("out ")
"""


def test_nobody_enters_before_the_other_is_out(tmp_path: Path) -> None:
    order = tmp_path / "order"
    command = [sys.executable, "-c", STEP, str(tmp_path / "shared"), str(order)]
    with alone_in(tmp_path / "shared"):
        others = [subprocess.Popen(command) for _ in range(2)]
        assert not order.exists()
    assert [other.wait(60) for other in others] == [0, 0]
    assert order.read_text().split() == ["in", "out"] * 2
    assert list((tmp_path / "shared").iterdir()) == []
