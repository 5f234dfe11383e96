"""How far it is known what leaving steps out comes to, without executing anything."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from trajevolve.credit.replay import Edge, Node
from trajevolve.credit.units import Unit
from trajevolve.credit.walk import Walk, Walker


class _UnknownError(LookupError):
    """A transition that memory does not hold."""


@dataclass
class _Memory:
    """The known part of a graph, and how far a walk over it came.

    Attributes:
        root: the start state.
        at: where the walk is.
        known: transitions that it found.
    """

    root: Node
    at: Node
    known: int = 0

    def follow(self, node: Node, action: str) -> Edge:
        """Return what is known. Raises _UnknownError."""
        self.at = node
        edge = node.edges.get(action)
        if edge is None:
            raise _UnknownError
        self.known += 1
        return edge


@dataclass(frozen=True)
class Front:
    """How far it is known what omitting a unit comes to.

    Attributes:
        fork: the node at which its trial leaves the current sequence.
        walk: what it comes to; None if that is not known.
        node: the state behind which nothing is known.
        rest: transitions from there on, at most, if nothing has to be taken back.
    """

    fork: Node
    walk: Walk | None
    node: Node
    rest: int

    @classmethod
    def of(cls, walker: Walker, current: Walk, unit: Unit) -> Front:
        """Look up in the walker's graph what omitting `unit` from `current` comes to."""
        cut = current.executed.index(unit[0])
        fork = current.nodes[cut]
        memory = _Memory(walker.graph.root, fork)
        walk = None
        with suppress(_UnknownError):
            walk = replace(walker, graph=memory, remembers=False).without(current, unit)
        later = sum(position not in walker.free for position in current.executed[cut + 1 :])
        return cls(fork, walk, memory.at, max(1, later - memory.known))
