"""Prefect server, work pool, deployments and one worker, together (`make serve`).

Ctrl-C, SIGTERM or the end of any of the processes ends all of them; they also go when this
process is killed outright. Everything Prefect keeps lies in ``.prefect/`` of the project.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from trajevolve_flows.server import configure

POOL = "trajevolve"
START_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 15.0
_PR_SET_PDEATHSIG = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Start everything, print where it is, and wait. Returns the exit status."""
    options = _parser().parse_args(arguments)
    configure(options.project)
    api = f"http://{options.host}:{options.port}/api"
    os.environ["PREFECT_API_URL"] = api
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with _process(
            _prefect("server", "start", "--host", options.host, "--port", str(options.port))
        ) as server:
            _wait_until_healthy(f"{api}/health", server)
            _create(options.project)
            with _process(_prefect("worker", "start", "--pool", POOL, "--name", "serve")) as worker:
                _say(f"ready: http://{options.host}:{options.port}, pool {POOL}")
                _say("submit with: trajevolve train --submit (PREFECT_API_URL as above)")
                return _watch((server, worker))
    except KeyboardInterrupt:
        _say("stopped")
        return 0
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="trajevolve_flows.serve", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=4200)
    parser.add_argument("--project", type=Path, default=Path.cwd(), help="folder of prefect.yaml")
    return parser


def _prefect(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "prefect", *arguments]


@contextlib.contextmanager
def _process(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run `command` in a group of its own, and end the whole group afterwards."""
    process = subprocess.Popen(command, start_new_session=True, preexec_fn=_die_with(os.getpid()))
    try:
        yield process
    finally:
        _end(process)


def _die_with(parent: int) -> Callable[[], None]:
    """Return what a child calls so that the kernel ends it when `parent` is gone."""
    libc = ctypes.CDLL(None, use_errno=True)

    def arrange() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return arrange


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_S)
            return


def _wait_until_healthy(url: str, server: subprocess.Popen[bytes]) -> None:
    """Wait for the server's first answer. Raises RuntimeError when it ends or takes too long."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"the Prefect server ended with status {server.returncode}")
        refused = contextlib.suppress(urllib.error.URLError, OSError)
        with refused, urllib.request.urlopen(url, timeout=2):
            return
        time.sleep(0.5)
    raise RuntimeError(f"the Prefect server did not answer at {url} within {START_TIMEOUT_S:.0f} s")


def _create(project: Path) -> None:
    """Create the pool where it is missing, and the deployments of prefect.yaml."""
    pool = ("work-pool", "create", POOL, "--type", "process", "--overwrite")
    subprocess.run(_prefect(*pool), check=True, stdout=subprocess.DEVNULL)
    if (project / "prefect.yaml").is_file():
        deploy = _prefect("--no-prompt", "deploy", "--all")
        if subprocess.run(deploy, cwd=project).returncode:
            raise RuntimeError(
                f"the deployments of {project / 'prefect.yaml'} could not be created"
            )


def _watch(processes: Sequence[subprocess.Popen[bytes]]) -> int:
    """Wait until one ends; that one's status, never 0, is the result."""
    while all(process.poll() is None for process in processes):
        time.sleep(1.0)
    return max(abs(process.poll() or 0) for process in processes) or 1


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _say(message: str) -> None:
    print(f"==> {message}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
