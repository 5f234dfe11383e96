"""Goals as the tasks of the environment contract."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trajevolve.envs.contract import Task
from trajevolve.envs.task_list import TaskList
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.errors import UserError
from trajevolve.seeds import derive_seed

ENV = "webshop"


def task_of(shop: Catalogue, number: int) -> Task:
    """Make the task of a goal; its type is the department of the product wanted."""
    goal = shop.goal(number)
    return Task(str(number), ENV, goal.category or ENV, goal.instruction, goal.digest, goal)


def find_task(shop: Catalogue, ref: str) -> Task:
    """Find a task by the number of its goal. Raises UserError."""
    text = ref.strip()
    if not (text.isascii() and text.isdigit()) or int(text) >= shop.goals:
        raise UserError(
            f"task {ref!r}: {shop.name} has goals 0 to {shop.goals - 1}; give the number of one"
        )
    return task_of(shop, int(text))


def list_tasks(shop: Catalogue, split: str, count: int | None, seed: int) -> Sequence[Task]:
    """List a split in order of its numbers; with `count`, a seeded sample of that many.

    A split may have millions, so the tasks are made when they are looked at.

    Raises:
        UserError: the split is unknown.
    """
    numbers = shop.split(split)
    if count is not None and count < len(numbers):
        rng = np.random.default_rng(derive_seed("webshop tasks", split, seed, count))
        numbers = np.sort(rng.choice(numbers, count, replace=False))
    return TaskList(numbers, lambda number: task_of(shop, int(number)))
