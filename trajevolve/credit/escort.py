"""Lanes beside the one that replays a trajectory as it was recorded: they start out meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Self

from trajevolve.credit.replay import Lane, Node, ReplayGraph
from trajevolve.envs.contract import Kind


class Escort:
    """The other lanes of a graph, while its first lane replays a trajectory.

    All start the task anew, which costs time and no transition. Where steps will be omitted from
    the end on, the second lane follows the first, two state-changing steps behind: omitting the
    last such step needs no replay, and the way to the one before it is never in vain, unless the
    trajectory turns out not to succeed.

    Attributes:
        waiting: transitions that brought a lane to where it waits now.
    """

    def __init__(self, graph: ReplayGraph, script: Sequence[str], backward: bool) -> None:
        """Prepare.

        Args:
            graph: of the task.
            script: the trajectory's actions.
            backward: steps will be omitted from the end on.
        """
        self._lanes = () if graph.exact else graph.lanes[1:]
        self.waiting: dict[Lane, int] = {}
        self._graph = graph
        self._script = script
        self._targets = [SimpleQueue[Node | None]() for _ in self._lanes]
        self._follows = backward and bool(self._lanes)
        self._previous: Node | None = None
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        """Start out."""
        if self._lanes:
            self._graph.leader = self._graph.lanes[0]
        for lane, targets in zip(self._lanes, self._targets, strict=True):
            targets.put(self._graph.root)
            thread = threading.Thread(target=self._go, args=(lane, targets), daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def passed(self, position: int, node: Node) -> None:
        """Learn that the first lane executed the step at `position` in `node`."""
        if self._follows and self._graph.env.kind(self._script[position]) == Kind.CHANGING:
            self._targets[0].put(self._previous or node)
            self._previous = node

    def __exit__(self, *_: object) -> None:
        """Wait until all have arrived."""
        for targets in self._targets:
            targets.put(None)
        for thread in self._threads:
            thread.join()
        if self._lanes:
            self._graph.leader = None

    def _go(self, lane: Lane, targets: SimpleQueue[Node | None]) -> None:
        before = lane.transitions
        with suppress(Exception):  # whoever needs the lane will meet what is wrong with it
            while (node := targets.get()) is not None:
                lane.go(node)
                self.waiting[lane] = lane.transitions - before
