"""The Prefect server of one run: started with it, gone when it is gone, however it ends."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from trajevolve import telemetry
from trajevolve.errors import UserError
from trajevolve.files import check_writable
from trajevolve.reachable import reachable

HOST, PORT = "127.0.0.1", 4200
"""Where servers listen; the port is that of `make serve` unless it is told another."""
API = "PREFECT_API_URL"
# Usually 10 to 30 s; a machine with every core taken needs minutes, and giving up helps nobody.
START_TIMEOUT_S = 600.0
PR_SET_PDEATHSIG = 1
# A flow run says that often that it lives; `make serve` calls one crashed that stays silent.
HEARTBEAT_S = 30
# What the server of one run has no use for: the loops that look after deployments.
UNUSED = {
    f"PREFECT_SERVER_SERVICES_{name}_ENABLED": "false"
    for name in (
        "CANCELLATION_CLEANUP",
        "FOREMAN",
        "LATE_RUNS",
        "PAUSE_EXPIRATIONS",
        "SCHEDULER",
        "TRIGGERS",
    )
}


class PrefectServer:
    """A server for this process alone, or the one that ``PREFECT_API_URL`` names.

    It starts while the caller goes on importing; :meth:`wait` returns when it answers. It serves
    every run of this process and ends with it, after Prefect has sent its last logs. Prefect
    reads its settings when it is imported, so make this object before that.
    """

    def __init__(self, project: Path) -> None:
        """Start it, with its database in ``<project>/.prefect``."""
        self._process: subprocess.Popen[bytes] | None = None
        configure(project)
        if os.environ.get(API):
            return
        # Exit handlers run last in, first out: Prefect's, which flush, are registered later.
        atexit.register(self.stop)
        self._log = Path(os.environ["PREFECT_HOME"]) / "server.log"
        check_writable(self._log)
        # Other runs of the project write to the same file.
        with self._log.open("ab") as stream, claim_port(HOST, 0) as port:
            self._process = subprocess.Popen(
                server_command(port),
                pass_fds=(port.fileno(),),
                env={**os.environ, **UNUSED},
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                # A terminal's Ctrl-C reaches all of its group; the run still has to report it.
                start_new_session=True,
                preexec_fn=die_with(os.getpid(), signal.SIGKILL),
            )
            number = port.getsockname()[1]
        self._url = api_url(HOST, number)
        os.environ[API] = self._url

    def wait(self, timeout: float = START_TIMEOUT_S) -> None:
        """Return when the server answers.

        Raises:
            UserError: it ended, or did not answer within `timeout` seconds.
        """
        if self._process is None:
            return
        deadline = time.monotonic() + timeout
        while not answers(self._url):
            ended = self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                why = "ended" if ended else f"did not answer within {timeout:.0f} s"
                self.stop()
                raise UserError(f"Prefect's server {why}; see {self._log}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End the server if it is this process's. Idempotent."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def api_url(host: str, port: int) -> str:
    """Return what :data:`API` has to be for the server at `host` and `port`."""
    return f"http://{host}:{port}/api"


def configure(project: Path) -> None:
    """Set what Prefect reads from the environment, where the user has not set it."""
    telemetry.switch_off()
    os.environ.setdefault("PREFECT_HOME", str(project.resolve() / ".prefect"))
    os.environ.setdefault("PREFECT_LOGGING_LOGGERS_PREFECT_TASK_RUNS_LEVEL", "WARNING")
    os.environ.setdefault("PREFECT_FLOWS_HEARTBEAT_FREQUENCY", str(HEARTBEAT_S))
    # What stages warn of is shown with the flow run too; outside one it stays on the terminal.
    os.environ.setdefault("PREFECT_LOGGING_EXTRA_LOGGERS", "trajevolve,trajevolve_tasks")
    os.environ.setdefault("PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW", "ignore")


def claim_port(host: str, port: int) -> socket.socket:
    """Listen at a port on a server's behalf, so that nobody can take it before it has started.

    Until then requests wait. The caller hands the socket on and closes its own.

    Args:
        host: name or address.
        port: its number; 0: any that is free.

    Raises:
        UserError: the port is taken, or may not be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        claimed = socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        reason = str(getattr(error, "strerror", error)).partition(" (while")[0]
        raise UserError(
            f"port {port} of {host}: {reason}; stop what listens there, or choose another with "
            "--port N"
        ) from None
    # The server takes it for another kind of socket and does not set this; its connections inherit.
    claimed.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return claimed


def server_command(port: socket.socket) -> list[str]:
    """Return what starts Prefect's server: one process, where its own command makes two.

    Args:
        port: where it serves, from :func:`claim_port`; pass its descriptor on to the process.
    """
    return [
        sys.executable,
        *("-m", "uvicorn", "--factory", "prefect.server.api.server:create_app"),
        *("--fd", str(port.fileno()), "--log-level", "error", "--lifespan", "on"),
    ]


def die_with(parent: int, number: signal.Signals) -> Callable[[], None] | None:
    """Make a child that the kernel signals when its parent ends (Linux; elsewhere it is stopped).

    The library is loaded here, before the fork: little is safe to do after it.

    Args:
        parent: process id.
        number: the signal.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def bind() -> None:
        prctl(PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:  # it ended in between
            os._exit(1)

    return bind


def check_answering(url: str) -> None:
    """Raise UserError where no server is behind :data:`API`."""
    if not reachable(f"{url}/health"):
        raise UserError(
            f"{API}={url}: no server answers there; start `make serve`, or unset the variable and "
            "run without --submit"
        )


def answers(url: str) -> bool:
    """Say whether the Prefect API at `url` is up."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
