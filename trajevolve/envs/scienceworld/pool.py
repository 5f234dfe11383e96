"""A bounded pool of Java processes that many episodes share.

A process is lent to an episode until the episode ends. Where there are more episodes than
processes, the one that was not used for longest loses its process: replay brings it back later
(:mod:`trajevolve.envs.scienceworld.episode`), so that nothing ever waits for what does not come.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from trajevolve.envs.scienceworld.determinism import Reference
from trajevolve.envs.scienceworld.instance import Instance
from trajevolve.envs.scienceworld.jvm import Jvm, Launch

USUAL = 2
"""Processes at most, where nobody says how many; never more than there are cores."""


@dataclass
class Slot:
    """A place for one process.

    Attributes:
        jvm: the process, None before its start and after it failed.
        owner: the episode that it holds.
        loaded: the process really holds the owner's episode, and is where the episode is.
        busy: somebody is in a call.
        used: number of its last use.
    """

    jvm: Jvm | None = None
    owner: object | None = None
    loaded: bool = False
    busy: bool = False
    used: int = 0

    def discard(self) -> None:
        """Kill the process; the next use starts another."""
        jvm, self.jvm, self.loaded = self.jvm, None, False
        if jvm is not None:
            jvm.kill()


class Pool:
    """Processes, started when they are needed, at most `limit` at once. Threads may share it.

    Attributes:
        limit: how many there can be.
        started: processes started so far, replacements included.
        descriptions: texts of tasks that were asked for.
        templates: forms of actions by simplifications.
    """

    def __init__(self, limit: int, launch: Launch) -> None:
        self.limit = limit
        self.launch = launch
        self.started = 0
        self.descriptions: dict[Instance, str] = {}
        self.templates: dict[str, tuple[str, ...]] = {}
        self._reference = Reference()
        self._slots: list[Slot] = []
        self._changed = threading.Condition()
        self._uses = 0

    @contextmanager
    def lent(self, owner: object) -> Iterator[Slot]:
        """Lend `owner` a slot for a few calls; it keeps it until somebody else needs one.

        Whatever interrupts the calls, a process that may be anywhere is never used again.
        """
        slot = self._take(owner)
        try:
            yield slot
        except BaseException:
            slot.discard()
            raise
        finally:
            with self._changed:
                slot.busy = False
                self._changed.notify()

    def process(self, slot: Slot) -> Jvm:
        """Return the process of a slot that was taken, started and trusted where it is new.

        Raises:
            UserError: there is no Java, or replay cannot be trusted.
            JvmError: the process does not come up.
        """
        if slot.jvm is not None and not slot.loaded and self._worn(slot.jvm):
            slot.discard()
        if slot.jvm is None:
            slot.jvm = Jvm(self.launch)
            self.started += 1
            self._reference.hold_against(slot.jvm)
        return slot.jvm

    def release(self, owner: object) -> None:
        """Take back what `owner` was lent."""
        with self._changed:
            for slot in self._slots:
                if slot.owner is owner:
                    slot.owner, slot.loaded = None, False

    def processes(self) -> list[Jvm]:
        """List the processes that were started and are not known to have failed."""
        return [slot.jvm for slot in self._slots if slot.jvm is not None]

    def close(self) -> None:
        """End all processes; the pool can be used again. Idempotent."""
        with self._changed:
            slots, self._slots = self._slots, []
        running = [slot.jvm for slot in slots if slot.jvm is not None]
        for jvm in running:
            jvm.ask_to_end()
        for jvm in running:
            jvm.close()

    def _worn(self, jvm: Jvm) -> bool:
        return not jvm.alive or jvm.rss_mb() > self.launch.rss_limit_mb

    def _take(self, owner: object) -> Slot:
        with self._changed:
            while (slot := self._choose(owner)) is None:
                self._changed.wait()
            if slot.owner is not owner:
                slot.owner, slot.loaded = owner, False
            self._uses += 1
            slot.busy, slot.used = True, self._uses
            return slot

    def _choose(self, owner: object) -> Slot | None:
        """The owner's own slot, else a free one, a new one, or that of the longest idle episode."""
        for slot in self._slots:
            if slot.owner is owner:
                return None if slot.busy else slot
        idle = [slot for slot in self._slots if not slot.busy]
        free = [slot for slot in idle if slot.owner is None]
        if free:
            return max(free, key=lambda slot: slot.jvm is not None)
        if len(self._slots) < self.limit:
            self._slots.append(Slot())
            return self._slots[-1]
        return min(idle, key=lambda slot: slot.used) if idle else None


_POOLS: dict[Launch, Pool] = {}
_INHERITED: list[Pool] = []
_LOCK = threading.Lock()


def shared_pool(workers: int | None, launch: Launch) -> Pool:
    """Return this process's pool for `launch`, with room for `workers` Java processes at least."""
    limit = workers or min(USUAL, os.cpu_count() or 1)
    with _LOCK:
        pool = _POOLS.setdefault(launch, Pool(limit, launch))
        pool.limit = max(pool.limit, limit)
        return pool


def close_pools() -> None:
    """End all Java processes of this process. What is used afterwards starts new ones."""
    for pool in list(_POOLS.values()):
        pool.close()


def _leave_to_parent() -> None:
    """After a fork: never touch the parent's processes, whose connections are shared."""
    _INHERITED.extend(_POOLS.values())
    _POOLS.clear()


atexit.register(close_pools)
os.register_at_fork(after_in_child=_leave_to_parent)
