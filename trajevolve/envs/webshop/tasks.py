"""Goals as the tasks of the environment contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from trajevolve.envs.contract import Task
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.splits import Numbers
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

    Raises:
        UserError: the split is unknown.
    """
    numbers = shop.split(split)
    if count is not None and count < len(numbers):
        rng = np.random.default_rng(derive_seed("webshop tasks", split, seed, count))
        numbers = np.sort(rng.choice(numbers, count, replace=False))
    return TaskList(shop, numbers)


class TaskList(Sequence[Task]):
    """Tasks that are made when they are looked at: a split may have millions."""

    def __init__(self, shop: Catalogue, numbers: Numbers) -> None:
        self._shop = shop
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> Task: ...

    @overload
    def __getitem__(self, place: slice) -> TaskList: ...

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return TaskList(self._shop, self._numbers[place])
        return task_of(self._shop, int(self._numbers[place]))
