"""The benchmark's own solutions, for warm starts and measurements.

Asking for a solution is slow and changes how the process behaves afterwards, so it gets a process
of its own that plays nothing.
"""

from __future__ import annotations

from dataclasses import replace

from trajevolve.envs.scienceworld.instance import Instance
from trajevolve.envs.scienceworld.jvm import Jvm, JvmError, Launch

SLOWEST_S = 600.0
"""Longest wait for one solution."""
HEAP_MB = 384
"""Least heap for working out a solution."""

_KNOWN: dict[Instance, tuple[str, ...]] = {}


class GoldPaths:
    """Solutions by task, each worked out once in a process and kept in memory."""

    def __init__(self, launch: Launch) -> None:
        heap_mb = max(launch.heap_mb, HEAP_MB)
        self._launch = replace(launch, call_timeout_s=SLOWEST_S, heap_mb=heap_mb)
        self._jvm: Jvm | None = None

    def of(self, instance: Instance) -> tuple[str, ...]:
        """Return the actions that solve an instance, without answers to ambiguous requests.

        Raises:
            JvmError: the simulator finds none, or the process failed.
        """
        if instance not in _KNOWN:
            self._jvm = self._jvm or Jvm(self._launch)
            self._jvm.load(instance, gold=True)
            _KNOWN[instance] = tuple(a for a in self._jvm.gold() if not a.isdigit())
        if not _KNOWN[instance]:
            raise JvmError(f"task {instance}: the simulator finds no solution")
        return _KNOWN[instance]

    def close(self) -> None:
        """End the process. Idempotent."""
        if self._jvm is not None:
            self._jvm.close()
        self._jvm = None
