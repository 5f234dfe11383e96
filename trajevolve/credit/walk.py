"""Walks over a replay graph: a sequence of recorded actions, executed where it can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trajevolve.credit.replay import Edge, Node, ReplayGraph


class Transitions(Protocol):
    """Whatever knows or finds out transitions: a replay graph, or one of its lanes."""

    @property
    def root(self) -> Node:
        """The start state."""

    def follow(self, node: Node, action: str) -> Edge:
        """Return the answer to `action` in `node`."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What executing a sequence came to.

    Attributes:
        success: the sequence solves the task, V = 1.
        executed: positions really executed, in order.
        nodes: the states around them, one more than ``executed``.
        skipped: positions infeasible in their state or not reached: D(t) when t was left out.
        reached: number of leading positions consumed before the walk stopped.
        broken: a coupled group of which some member could not be executed; the walk stopped.
        naive: actions that executing all of it from the start takes, without any memory; a soft
            failure that was none in the original cannot be taken back and means starting anew.
    """

    success: bool
    executed: tuple[int, ...]
    nodes: tuple[Node, ...]
    skipped: tuple[int, ...]
    reached: int = 0
    broken: tuple[int, ...] | None = None
    naive: int = 0


@dataclass
class Walker:
    """Executes parts of one trajectory.

    Free queries (information that costs no time) take part without being executed: they leave
    the state alone, and are taken to be possible everywhere.

    Attributes:
        graph: the task's transitions.
        actions: the trajectory's actions by position, "" where there is none.
        soft: positions that failed softly in the original: executing them is failing.
        free: positions of free queries in the original.
        group_of: the coupled group of a position, if it is in one.
        remembers: edges of nodes count as known, whatever `graph` knows.
    """

    graph: Transitions
    actions: Sequence[str]
    soft: frozenset[int] = frozenset()
    free: frozenset[int] = frozenset()
    group_of: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    remembers: bool = True

    @classmethod
    def start(
        cls,
        graph: ReplayGraph,
        actions: Sequence[str],
        usable: Sequence[bool],
        passed: Callable[[int, Node], object] = lambda position, node: None,
    ) -> tuple[Walker, Walk]:
        """Replay the trajectory as it was recorded, and learn which steps failed and how.

        The walk's ``executed`` are the steps that take part in every counterfactual: usable,
        and executable or failing softly. Each is told to `passed`, with the state before it.
        """
        node = graph.root
        executed: list[int] = []
        nodes = [node]
        soft: set[int] = set()
        free: set[int] = set()
        success, reached = graph.solved, 0 if graph.solved else len(actions)
        for position, action in enumerate(actions[:reached]):
            if not usable[position]:
                continue
            edge = graph.follow(node, action)
            if not (edge.feasible or edge.ticks):
                continue
            if edge.ticks:
                soft.add(position)
            if edge.free:
                free.add(position)
            passed(position, node)
            node = edge.node
            executed.append(position)
            nodes.append(node)
            if edge.success or edge.done:
                success, reached = edge.success, position + 1
                break
        naive = sum(usable[:reached])
        walk = Walk(success, tuple(executed), tuple(nodes), (), reached, naive=naive)
        return cls(graph, actions, frozenset(soft), frozenset(free)), walk

    def without(self, current: Walk, unit: Sequence[int]) -> Walk:
        """Replay `current` with the steps of `unit` omitted."""
        if self.group_of:
            return self.replay([position for position in current.executed if position not in unit])
        cut = current.executed.index(unit[0])
        tail = self._walk(current.nodes[cut], current.executed[cut + 1 :], before=cut)
        return Walk(
            tail.success,
            current.executed[:cut] + tail.executed,
            current.nodes[:cut] + tail.nodes,
            tail.skipped,
            naive=tail.naive,
        )

    def replay(self, positions: Sequence[int]) -> Walk:
        """Execute `positions` from the start; coupled groups are executed whole or not at all."""
        dropped: list[int] = []
        naive = 0
        while True:
            walk = self._walk(self.graph.root, positions)
            naive += walk.naive
            group = walk.broken
            if group is None:
                skipped = tuple(sorted((*walk.skipped, *dropped)))
                return Walk(walk.success, walk.executed, walk.nodes, skipped, naive=naive)
            dropped += [position for position in positions if position in group]
            positions = [position for position in positions if position not in group]

    def _walk(self, node: Node, positions: Sequence[int], before: int = 0) -> Walk:
        """Execute `positions` in `node`, which `before` steps lead to."""
        graph, actions, soft, group_of = self.graph, self.actions, self.soft, self.group_of
        free, remembers = self.free, self.remembers
        executed: list[int] = []
        nodes = [node]
        skipped: list[int] = []
        success = False
        consumed, again, spoilt = len(positions), 0, False
        for index, position in enumerate(positions):
            if position in free:
                executed.append(position)
                nodes.append(node)
                continue
            if spoilt:
                again, spoilt = again + before + len(executed), False
            action = actions[position]
            edge = (remembers and node.edges.get(action)) or graph.follow(node, action)
            if not edge.feasible and not (edge.ticks and position in soft):
                if position in group_of:
                    naive = before + index + 1
                    return Walk(False, (), (), (), 0, group_of[position], naive)
                skipped.append(position)
                spoilt = edge.ticks
                continue
            node = edge.node
            executed.append(position)
            nodes.append(node)
            if edge.success or edge.done:
                success = edge.success
                skipped += positions[index + 1 :]
                consumed = index + 1
                break
        naive = before + consumed + again
        return Walk(success, tuple(executed), tuple(nodes), tuple(skipped), naive=naive)
