"""`play`: one episode over a pipe, actions in, JSON lines out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from trajevolve.cli.options import BackendName, DataFolder, EnvName

if TYPE_CHECKING:
    from trajevolve.envs.contract import Environment, Observation

#: Bytes of a line that are looked at. No environment has an action near that long, so cutting
#: the rest cannot make an action valid; it keeps a stray binary file from filling the memory.
LONGEST_LINE = 64 * 1024


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(play)


def play(
    env: EnvName,
    task: Annotated[str, typer.Option(metavar="PATH-OR-ID", help="One task of it.")],
    data: DataFolder = None,
    backend: BackendName = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="End after N actions; none unless given.")
    ] = None,
) -> None:
    """Play one task: actions on stdin, one a line; one JSON object a line on stdout.

    The first object is the start. Keys: observation, admissible, valid, won, done, reward (the
    environment's own for that step). Ends at done, at --limit, or at the end of the input.
    """
    from trajevolve.cli.options import open_environment
    from trajevolve.cli.output import print_json

    environment = open_environment(env, data, backend)
    try:
        for line in episode(environment, task, read_actions(sys.stdin.buffer), limit):
            print_json(line)
    finally:
        environment.close()


def episode(
    environment: Environment, ref: str, actions: Iterator[str], limit: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the start and the answer to each action, until the episode or `actions` end."""
    observation = environment.reset(environment.task(ref))
    won = environment.success()
    yield _answer(environment, observation, valid=True, won=won, done=False, reward=0.0)
    for number, action in enumerate(actions, start=1):
        outcome = environment.step(environment.canonical(action))
        done = outcome.done or outcome.success or number == limit
        valid, won, reward = outcome.feasible, outcome.success, outcome.reward
        yield _answer(environment, outcome.observation, valid, won, done, reward)
        if done:
            return


def read_actions(stream: IO[bytes]) -> Iterator[str]:
    """Yield the lines of `stream`; whatever is not text becomes an action that does not exist."""
    while line := stream.readline(LONGEST_LINE):
        rest = line
        while not rest.endswith(b"\n") and (rest := stream.readline(LONGEST_LINE)):
            continue
        yield line.decode("utf-8", errors="replace").rstrip("\r\n")


def _answer(
    environment: Environment,
    observation: Observation,
    valid: bool,
    won: bool,
    done: bool,
    reward: float,
) -> dict[str, Any]:
    """Make one output object; templates and objects appear where nothing can be listed."""
    answer: dict[str, Any] = {
        "observation": observation.text,
        "admissible": None if observation.admissible is None else list(observation.admissible),
        "valid": valid,
        "won": won,
        "done": done,
        "reward": reward,
    }
    if observation.admissible is None:
        answer["templates"] = list(observation.templates)
        answer["objects"] = list(environment.objects())
    return answer
