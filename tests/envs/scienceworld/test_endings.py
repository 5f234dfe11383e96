"""However a run ends, no Java process outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("installed")]
GONE_S = 20.0

PARENT = """
import os, signal, sys, time
from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment
from trajevolve.envs.scienceworld.jvm import Jvm, Launch

ending = sys.argv[1]
jvm = Jvm(Launch())
env = ScienceWorldEnvironment(workers=2)
if ending == "exception":
    env.reset(env.task("boil/0"))
    print(jvm.process.pid, *(each.process.pid for each in env.pool.processes()), flush=True)
    raise RuntimeError("the run fails")
print(jvm.process.pid, flush=True)
if ending != "end":
    time.sleep(600)
"""


def running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("ending", ["end", "exception", "SIGTERM", "SIGKILL", "SIGINT"])
def test_java_ends_with_the_run(ending: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, ending],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert parent.stdout is not None
    pids = [int(each) for each in parent.stdout.readline().split()]
    assert len(pids) == (2 if ending == "exception" else 1)
    if ending.startswith("SIG"):
        assert all(map(running, pids))
        parent.send_signal(signal.Signals[ending])
    parent.wait(60)
    deadline = time.monotonic() + GONE_S
    while any(map(running, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = [pid for pid in pids if running(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []
