"""Replay with shared prefixes: a memo of every transition an environment has shown for one task.

Counterfactual sequences overlap: they share the prefix before the omitted step, and often come
back to a state that was seen before. The graph holds one node per known state and one edge per
executed action, so that only unknown transitions reach the environment. Nodes are merged where
states compare exactly; otherwise the graph is a tree of action sequences. Both ways to offer
replay look the same from here: an environment with snapshots is restored to a node, the others
are reset and driven there again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from trajevolve.envs.contract import Environment, Task


class ReplayError(RuntimeError):
    """The environment answered the same actions from the same start differently."""


class Edge:
    """The answer to one action in one state.

    Attributes:
        feasible: the action could be executed.
        ticks: infeasible, yet it cost time (a soft failure), so ``node`` is another state.
        success: the task is solved in ``node``.
        done: the episode ended there, solved or not.
        node: the state after the action; the state before it when nothing happened.
    """

    __slots__ = ("done", "feasible", "node", "success", "ticks")

    def __init__(self, feasible: bool, ticks: bool, success: bool, done: bool, node: Node) -> None:
        self.feasible = feasible
        self.ticks = ticks
        self.success = success
        self.done = done
        self.node = node


class Node:
    """One state, and how to get there: a snapshot, or the action that led to it from a parent."""

    __slots__ = ("action", "edges", "mark", "parent")

    def __init__(self, parent: Node | None, action: str, mark: Any) -> None:
        self.parent = parent
        self.action = action
        self.mark = mark
        self.edges: dict[str, Edge] = {}


class ReplayGraph:
    """Transitions of one task, executed once each.

    The environment belongs to the graph while it is in use: moving it elsewhere in between makes
    the graph lose its place.

    Attributes:
        root: the start state.
        solved: the task is solved before any action.
        exact: equal states share a node.
        transitions: actions really executed so far, those that re-reach a state included.
    """

    def __init__(self, env: Environment, task: Task, exact: bool = True) -> None:
        """Reset `env` to `task`. With ``exact=False`` states are never merged."""
        self.env = env
        self.task = task
        self.exact = exact and env.spec.exact_states
        self.transitions = 0
        self._snapshots = env.spec.snapshots
        self._by_answer = env.spec.feasibility == "answer"
        self._begin()

    def _begin(self) -> None:
        self._known: dict[Hashable, Node] = {}
        self.env.reset(self.task)
        self.solved = self.env.success()
        self.root = self._arrive(None, "")
        self._at: Node | None = self.root

    def separate(self) -> None:
        """Forget everything and never merge states again: their keys are not to be trusted."""
        self.exact = False
        self._begin()

    def follow(self, node: Node, action: str) -> Edge:
        """Return the answer to `action` in `node`, from memory or by executing it."""
        edge = node.edges.get(action)
        if edge is None:
            if self._at is not node:
                self._go(node)
            edge = node.edges[action] = self._execute(node, action)
        return edge

    def succeeds(self, actions: Iterable[str]) -> bool:
        """Execute `actions` from the start, from no memory, and say whether they all count.

        True when each one is feasible or a soft failure and the task is solved by the last.
        """
        self._at = None
        self.env.reset(self.task)
        solved = self.env.success()
        for action in actions:
            feasible, ticks, solved, done = self._answer(action)
            if not (feasible or ticks):
                return False
            if solved or done:
                break
        return solved

    def _answer(self, action: str) -> tuple[bool, bool, bool, bool]:
        self.transitions += 1
        if self._by_answer:  # only the full answer says whether an infeasible action cost time
            outcome = self.env.step(action)
            ticks = outcome.costs_step and not outcome.feasible
            return outcome.feasible, ticks, outcome.success, outcome.done
        transition = self.env.advance(action)
        return transition.feasible, False, transition.success, transition.done

    def _execute(self, node: Node, action: str) -> Edge:
        self._at = None  # an exception on the way leaves the environment anywhere
        feasible, ticks, success, done = self._answer(action)
        after = self._arrive(node, action, ended=done) if feasible or ticks else node
        self._at = None if done else after
        return Edge(feasible, ticks, success, done, after)

    def _arrive(self, parent: Node | None, action: str, ended: bool = False) -> Node:
        """Make or find the node of the environment's current state."""
        if ended:
            return Node(parent, action, None)
        if not self.exact:
            return Node(parent, action, self.env.snapshot() if self._snapshots else None)
        key = self.env.state_key()
        node = self._known.get(key)
        if node is None:
            mark = self.env.snapshot() if self._snapshots else None
            node = self._known[key] = Node(parent, action, mark)
        return node

    def _go(self, node: Node) -> None:
        """Bring the environment to `node`."""
        self._at = None
        if self._snapshots:
            self.env.restore(node.mark)
        else:
            self._drive(node)
        self._at = node

    def _drive(self, node: Node) -> None:
        path: list[Node] = []
        while node.parent is not None:
            path.append(node)
            node = node.parent
        self.env.reset(self.task)
        for step in reversed(path):
            feasible, ticks, _, done = self._answer(step.action)
            if done or not (feasible or ticks):
                raise ReplayError(
                    f"{self.env.spec.name}: {step.action!r} was executable and is not when the "
                    f"same actions are replayed in task {self.task.id}; run `trajevolve check-env`"
                )
