"""Commands on a terminal of their own, with somebody at its keyboard."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PATIENCE_S = 900.0
INTERRUPT = b"\x03"
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def on_terminal(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    interrupt_at: str | None = None,
) -> tuple[int, list[str]]:
    """Run `command` with all three streams on a new terminal, of which it is the leader.

    Args:
        command: program and arguments.
        folder: where it runs.
        environment: of the process.
        interrupt_at: a text on which Ctrl-C is pressed, once.

    Returns:
        Its exit status, and every line that stood on the screen at some time, without colours.
    """
    keyboard, screen = os.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**environment, "TERM": "xterm"},
        stdin=screen,
        stdout=screen,
        stderr=screen,
        preexec_fn=_lead,
    )
    os.close(screen)
    seen = b""
    deadline = time.monotonic() + PATIENCE_S
    try:
        while chunk := _read(keyboard, deadline):
            seen += chunk
            if interrupt_at is not None and interrupt_at.encode() in seen:
                os.write(keyboard, INTERRUPT)
                interrupt_at = None
        status = process.wait(60)
    finally:
        process.kill()
        os.close(keyboard)
    text = _CONTROL.sub("", seen.decode(errors="replace"))
    return status, [line.strip() for line in re.split(r"[\r\n]+", text)]


def _lead() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it


def _read(keyboard: int, deadline: float) -> bytes:
    """Wait for output; nothing where the terminal was closed."""
    while not select.select([keyboard], [], [], 1.0)[0]:
        assert time.monotonic() < deadline, "the command says nothing and does not end"
    try:
        return os.read(keyboard, 1 << 16)
    except OSError:
        return b""
