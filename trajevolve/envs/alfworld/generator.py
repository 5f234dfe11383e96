"""Fresh solvable games of all six task types, drawn from seeds.

Game `index` of a stream is a function of (stream, difficulty, seed, index, type) alone, so its id
is enough to make it again on any machine. Every game is solved by the planner before it is given
out; one that cannot be solved, or is solved at the start, is drawn anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from trajevolve.envs.alfworld.domain import TASK_TYPES
from trajevolve.envs.alfworld.games import task_of
from trajevolve.envs.alfworld.planner import Planner
from trajevolve.envs.alfworld.problem import render_problem
from trajevolve.envs.alfworld.rooms import Difficulty, difficulty_of, furnish
from trajevolve.envs.alfworld.simulator import Simulator
from trajevolve.envs.contract import Task
from trajevolve.errors import UserError
from trajevolve.seeds import derive_seed

PANEL = {"select": 120, "eval": 200}
"""Sizes of the two fixed panels."""

_DRAWS = 200
_ID = re.compile(r"generated/(\w+)/([\w,-]+)/(\d{1,40})/(\d{1,40})-(\w+)")


@dataclass(frozen=True)
class Generated:
    """A generated game before it becomes a task.

    Attributes:
        type: task type.
        sentence: the task sentence.
        problem: PDDL text.
        walkthrough: a shortest plan.
    """

    type: str
    sentence: str
    problem: str
    walkthrough: tuple[str, ...]


def generate_game(seed: int, type_: str, difficulty: Difficulty) -> Generated:
    """Draw one solvable game of `type_` from `seed`."""
    for draw in range(_DRAWS):
        rng = np.random.default_rng(derive_seed(seed, draw))
        found = furnish(rng, type_, difficulty)
        if found is None:
            continue
        problem, sentence = found
        simulator = Simulator(problem)
        plan = Planner(simulator).plan(simulator.start)
        if plan:
            return Generated(type_, sentence, render_problem(problem), tuple(plan))
    raise UserError(
        f"difficulty {difficulty.name!r}: no solvable {type_} game in {_DRAWS} draws; allow more "
        "receptacles or objects"
    )


def generate_games(
    count: int,
    seed: int,
    difficulty: str | Difficulty = "default",
    types: Sequence[str] | None = None,
    stream: str = "free",
) -> list[Task]:
    """Make `count` fresh games.

    Args:
        count: how many.
        seed: any number; other seeds give other games.
        difficulty: a :class:`Difficulty` or a name that :func:`difficulty_of` understands.
        types: task types, taken in turn; all six without.
        stream: a word that names the use; other words give other games from the same seed.
            The splits of the environment are the streams train, select and eval.

    Returns:
        tasks with ids ``generated/<stream>/<difficulty>/<seed>/<index>-<type>``.
    """
    return [task for task, _ in draw_games(count, seed, difficulty, types, stream)]


def draw_games(
    count: int,
    seed: int,
    difficulty: str | Difficulty = "default",
    types: Sequence[str] | None = None,
    stream: str = "free",
) -> Iterator[tuple[Task, Generated]]:
    """Make the games of :func:`generate_games` one by one, each with its PDDL and a plan."""
    level = difficulty_of(difficulty) if isinstance(difficulty, str) else difficulty
    kinds = tuple(types) if types else TASK_TYPES
    unknown = sorted(set(kinds) - set(TASK_TYPES))
    if unknown:
        raise UserError(f"task type {unknown[0]!r}: expected one of {', '.join(TASK_TYPES)}")
    for i in range(count):
        yield _task(stream, level, seed, i, kinds[i % len(kinds)])


def _task(
    stream: str, level: Difficulty, seed: int, index: int, type_: str
) -> tuple[Task, Generated]:
    game = generate_game(
        derive_seed("alfworld", stream, level.name, seed, index, type_), type_, level
    )
    id_ = f"generated/{stream}/{level.name}/{seed}/{index}-{type_}"
    return task_of(id_, type_, game.sentence, game.problem), game


def regenerate(ref: str) -> tuple[Task, Generated] | None:
    """Make the game with id `ref` again; None when `ref` is no id of a generated game.

    Raises:
        UserError: it looks like one, but its difficulty or type is unknown.
    """
    found = _ID.fullmatch(ref)
    if found is None:
        return None
    stream, level, seed, index, type_ = found.groups()
    if type_ not in TASK_TYPES:
        raise UserError(
            f"task {ref!r}: unknown task type {type_!r}; expected "
            "generated/<stream>/<difficulty>/<seed>/<index>-<type>"
        )
    return _task(stream, difficulty_of(level), int(seed), int(index), type_)


def panel(stream: str, difficulty: str | Difficulty = "default") -> tuple[Task, ...]:
    """The fixed games of split ``generated:<stream>`` (``select`` or ``eval``)."""
    level = difficulty_of(difficulty) if isinstance(difficulty, str) else difficulty
    return _panel(stream, level)


@lru_cache(maxsize=8)
def _panel(stream: str, level: Difficulty) -> tuple[Task, ...]:
    # Evaluation asks for the same panel again and again; drawing it takes more than a second.
    return tuple(generate_games(PANEL[stream], 0, level, stream=stream))
