"""Lists of tasks that are too many, or cost too much, to be made before they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy.typing as npt

from trajevolve.envs.contract import Task


class TaskList(Sequence[Task]):
    """Tasks that are made each time they are looked at."""

    def __init__(self, keys: Sequence[Any] | npt.NDArray[Any], make: Callable[[Any], Task]) -> None:
        """List the tasks ``make(key)`` of all `keys`."""
        self._keys = keys
        self._make = make

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, place: int) -> Task: ...

    @overload
    def __getitem__(self, place: slice) -> TaskList: ...

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return TaskList(self._keys[place], self._make)
        return self._make(self._keys[place])
