"""Prefect server, work pool, deployments and one worker, together (`make serve`).

Ctrl-C, SIGTERM or the end of any of the processes ends all of them; they also go when this
process is killed outright. Everything Prefect keeps lies in ``.prefect/`` of the project.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trajevolve.errors import UserError, say
from trajevolve_flows.server import (
    API,
    HEARTBEAT_S,
    HOST,
    PORT,
    START_TIMEOUT_S,
    answers,
    api_url,
    claim_port,
    configure,
    die_with,
    server_command,
)

POOL = "trajevolve"
STOP_TIMEOUT_S = 15.0
LIFE = "prefect.flow-run.heartbeat"
# A change of state is news too: a run that is suspended or waits for its retry has no heartbeat.
NEWS = "prefect.flow-run.*"
SILENT = "call a silent flow run crashed"


def automation(silence: float) -> dict[str, Any]:
    """Describe to Prefect what finds a flow run that was killed outright and so says nothing.

    Args:
        silence: seconds without a sign of life.
    """
    trigger = {
        "type": "event",
        "posture": "Proactive",
        "after": [LIFE],
        "expect": [NEWS],
        "match": {"prefect.resource.id": ["prefect.flow-run.*"]},
        "for_each": ["prefect.resource.id"],
        "threshold": 1,
        "within": silence,
    }
    message = f"no sign of life for {silence:.0f} s"
    action = {"type": "change-flow-run-state", "state": "CRASHED", "message": message}
    return {"name": SILENT, "trigger": trigger, "actions": [action]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Start everything, print where it is, and wait. Returns the exit status."""
    options = _parser().parse_args(arguments)
    configure(options.project)
    api = api_url(options.host, options.port)
    os.environ[API] = api
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with _serving(options.host, options.port) as server:
            _wait_until_healthy(api, server)
            _create_automation(api, options.silence)
            _create_pool()
            with _process(_prefect("worker", "start", "--pool", POOL, "--name", "serve")) as worker:
                _create_deployments(options.project)
                _say(f"ready: http://{options.host}:{options.port}, pool {POOL}")
                _say(f"to submit runs from another shell: export {API}={api}")
                _say("then: trajevolve train --submit")
                return _watch((server, worker))
    except KeyboardInterrupt:
        _say("stopped")
        return 0
    except UserError as error:
        say(f"error: {error}")
        return 2
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        say(f"error: {error}")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="trajevolve_flows.serve", description=__doc__)
    parser.add_argument("--host", default=HOST)
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument(
        "--silence",
        type=float,
        default=10 * HEARTBEAT_S,
        help="seconds without a sign of life after which a flow run is called crashed",
    )
    parser.add_argument("--project", type=Path, default=Path.cwd(), help="folder of prefect.yaml")
    return parser


def _prefect(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "prefect", *arguments]


@contextlib.contextmanager
def _serving(host: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run Prefect's server. Raises UserError when the port is taken."""
    with contextlib.ExitStack() as held:
        with claim_port(host, port) as claimed:
            command = server_command(claimed)
            server = held.enter_context(_process(command, keep=(claimed.fileno(),)))
        yield server


@contextlib.contextmanager
def _process(command: Sequence[str], keep: Sequence[int] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """Run `command` in a group of its own, and end the whole group afterwards.

    Args:
        command: program and arguments.
        keep: file descriptors that it inherits.
    """
    process = subprocess.Popen(
        command,
        start_new_session=True,
        pass_fds=keep,
        preexec_fn=die_with(os.getpid(), signal.SIGTERM),
    )
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_S)
            return


def _wait_until_healthy(api: str, server: subprocess.Popen[bytes]) -> None:
    """Wait for the server's first answer. Raises RuntimeError when it ends or takes too long."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while not answers(api):
        if server.poll() is not None:
            raise RuntimeError(f"the Prefect server ended with status {server.returncode}")
        if time.monotonic() > deadline:
            raise RuntimeError(
                f"the Prefect server did not answer at {api} within {START_TIMEOUT_S:.0f} s"
            )
        time.sleep(0.2)


def _create_pool() -> None:
    pool = ("work-pool", "create", POOL, "--type", "process", "--overwrite")
    subprocess.run(_prefect(*pool), check=True, stdout=subprocess.DEVNULL)


def _create_automation(api: str, silence: float) -> None:
    """Have a silent flow run called crashed; an older automation of that name gives way."""
    for there in _ask("POST", f"{api}/automations/filter", {}):
        if there["name"] == SILENT:
            _ask("DELETE", f"{api}/automations/{there['id']}")
    _ask("POST", f"{api}/automations/", automation(silence))


def _ask(method: str, url: str, content: Mapping[str, Any] | None = None) -> Any:
    body = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"null")


def _create_deployments(project: Path) -> None:
    """Create the deployments of prefect.yaml, where there is one."""
    if not (project / "prefect.yaml").is_file():
        return
    deploy = _prefect("--no-prompt", "deploy", "--all")
    # prefect.yaml has runs work in $PWD, which a shell sets and a working directory does not.
    environment = {**os.environ, "PWD": str(project.resolve())}
    if subprocess.run(deploy, cwd=project, env=environment).returncode:
        raise RuntimeError(f"the deployments of {project / 'prefect.yaml'} could not be created")


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
