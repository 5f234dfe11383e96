"""A port that is taken: said at once, by its number, and nobody can take it in between."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from trajevolve.errors import UserError
from trajevolve_flows.server import claim_port


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield int(other.getsockname()[1])


def test_serve_at_a_port_that_is_taken(taken: int, tmp_path: Path) -> None:
    started = time.monotonic()
    served = subprocess.run(
        [sys.executable, "-m", "trajevolve_flows.serve", "--port", str(taken)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert time.monotonic() - started < 60
    assert served.returncode == 2
    assert served.stderr.splitlines() == [
        f"error: port {taken} of 127.0.0.1: Address already in use; stop what listens there, or "
        "choose another with --port N"
    ]
    assert served.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70000), ("no.such.host.invalid", 0)])
def test_an_address_that_cannot_be(host: str, port: int) -> None:
    with pytest.raises(UserError, match=f"port {port} of {host}: "):
        claim_port(host, port)


def test_a_claimed_port_stays_claimed_and_requests_wait() -> None:
    with claim_port("127.0.0.1", 0) as port:
        number = port.getsockname()[1]
        with pytest.raises(UserError, match=f"port {number} of 127.0.0.1: Address already in use"):
            claim_port("127.0.0.1", number)
        with socket.create_connection(("127.0.0.1", number), timeout=5) as early:
            early.sendall(b"hello")
            accepted, _ = port.accept()
            with accepted:
                assert accepted.recv(5) == b"hello"
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    again = claim_port("127.0.0.1", number)  # a port that was used a moment ago can be used again
    again.close()
