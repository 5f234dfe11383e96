"""Replay with shared prefixes: a memo of every transition an environment has shown for one task.

Counterfactual sequences overlap: they share the prefix before the omitted step, and often come
back to a state that was seen before. The graph holds one node per known state and one edge per
executed action, so that only unknown transitions reach the environment. Nodes are merged where
states compare exactly; otherwise the graph is a tree of action sequences. Both ways to offer
replay look the same from here: an environment with snapshots is restored to a node, the others
are driven there again, from the start or from a node on the way where one stands already.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any

from trajevolve.envs.contract import Environment, Kind, Task


class ReplayError(RuntimeError):
    """The environment answered the same actions from the same start differently."""


class SpentError(RuntimeError):
    """A lane has executed as many actions as it was allowed to. It stays where it is."""


class Edge:
    """The answer to one action in one state.

    Attributes:
        feasible: the action could be executed.
        ticks: infeasible, yet it cost time (a soft failure), so ``node`` is another state.
        free: a query that cost no time, so nothing changed.
        success: the task is solved in ``node``.
        done: the episode ended there, solved or not.
        node: the state after the action; the state before it when nothing happened.
        since: number of the publication that made it known to all; 0 if no lane had to.
    """

    __slots__ = ("done", "feasible", "free", "node", "since", "success", "ticks")

    def __init__(
        self, feasible: bool, ticks: bool, free: bool, success: bool, done: bool, node: Node
    ) -> None:
        self.feasible = feasible
        self.ticks = ticks
        self.free = free
        self.success = success
        self.done = done
        self.node = node
        self.since = 0


class Node:
    """One state, and how to get there: a snapshot, or the action that led to it from a parent."""

    __slots__ = ("action", "edges", "mark", "parent")

    def __init__(self, parent: Node | None, action: str, mark: Any) -> None:
        self.parent = parent
        self.action = action
        self.mark = mark
        self.edges: dict[str, Edge] = {}


class Lane:
    """One environment object, and the node of the graph that it stands at.

    Several lanes can go on at the same time, each in a thread of its own, from :meth:`depart` to
    :meth:`publish`: what one finds out stays with it meanwhile, and what others publish meanwhile
    is nothing to it, so that none depends on how far another is.

    Attributes:
        env: the environment; it belongs to the lane while that is in use.
        at: where it stands; None where that is not known, or the episode is over.
        transitions: actions really executed so far, those that re-reach a state included.
        resets: how often the task was started anew.
        limit: number of transitions at which it breaks off with SpentError; None for none.
    """

    def __init__(self, graph: ReplayGraph, env: Environment) -> None:
        self.env = env
        self.at: Node | None = None
        self.transitions = 0
        self.resets = 0
        self.limit: int | None = None
        self._since = 0
        self._graph = graph
        self._by_answer = env.spec.feasibility == "answer"
        self._snapshots = env.spec.snapshots
        self._found: dict[tuple[Node, str], Edge] = {}

    @property
    def root(self) -> Node:
        """The start state."""
        return self._graph.root

    def depart(self, limit: int | None = None) -> None:
        """Begin to go on alone."""
        self.limit = limit
        self._since = self._graph.publications

    def follow(self, node: Node, action: str) -> Edge:
        """Do as :meth:`ReplayGraph.follow`, keeping what is new to this lane."""
        edge = node.edges.get(action)
        if edge is None or edge.since > self._since:
            edge = self._found.get((node, action))
        if edge is None:
            edge = self._found[node, action] = self.find_out(node, action)
        return edge

    def publish(self) -> None:
        """Write what this lane found out into the graph, where another may have been before it."""
        self.limit = None
        self._graph.publications += 1
        twins: dict[Node | None, Node] = {}
        for (node, action), edge in self._found.items():
            known = twins.get(node, node).edges.setdefault(action, edge)
            if known is not edge:
                twins[edge.node] = known.node
                continue
            edge.since = self._graph.publications
            edge.node = twins.get(edge.node, edge.node)
            edge.node.parent = twins.get(edge.node.parent, edge.node.parent)
        self.at = twins.get(self.at, self.at)
        self._found.clear()

    def find_out(self, node: Node, action: str) -> Edge:
        """Execute `action` in `node`."""
        if self.at is not node:
            self.go(node)
        self._check_limit()
        self.at = None  # an exception on the way leaves the environment anywhere
        feasible, ticks, free, success, done = self.answer(action)
        moved = (feasible or ticks) and not free
        after = self._graph.arrive(self.env, node, action, ended=done) if moved else node
        self.at = None if done else after
        return Edge(feasible, ticks, free, success, done, after)

    def answer(self, action: str) -> tuple[bool, bool, bool, bool, bool]:
        """Execute `action` where the environment is: feasible, ticks, free, success, done."""
        self.transitions += 1
        made = self.env.advance(action)
        if not self._by_answer or made.costs_step:
            ticks = self._by_answer and not made.feasible
            return made.feasible, ticks, False, made.success, made.done
        free = made.feasible and self.env.kind(action) == Kind.INFORMATION
        return made.feasible, False, free, made.success, made.done

    def reset(self) -> None:
        """Start the task anew."""
        self.at = None
        self.env.reset(self._graph.task)
        self.resets += 1

    def go(self, node: Node) -> None:
        """Bring the environment to `node`."""
        if self._snapshots:
            self.at = None
            self.env.restore(node.mark)
        else:
            self._drive(node)
        self.at = node

    def _drive(self, node: Node) -> None:
        path: list[Node] = []
        while node.parent is not None and node is not self.at:
            path.append(node)
            node = node.parent
        if node is not self.at:
            self.reset()
        for step in reversed(path):
            self._check_limit()
            self.at = None
            feasible, ticks, _, _, done = self.answer(step.action)
            if done or not (feasible or ticks):
                raise ReplayError(
                    f"{self.env.spec.name}: {step.action!r} was executable and is not when the "
                    f"same actions are replayed in task {self._graph.task.id}; "
                    "run `trajevolve check-env`"
                )
            self.at = step

    def _check_limit(self) -> None:
        if self.transitions == self.limit:
            raise SpentError


class ReplayGraph:
    """Transitions of one task, executed once each.

    The environments belong to the graph while it is in use: moving one elsewhere in between makes
    the graph lose its place.

    Attributes:
        root: the start state.
        solved: the task is solved before any action.
        exact: equal states share a node.
        lanes: one for each environment object.
        leader: the lane that executes what :meth:`follow` is asked for; None for the nearest.
        publications: how often a lane made known what it found out.
    """

    def __init__(
        self,
        env: Environment,
        task: Task,
        exact: bool = True,
        beside: Sequence[Environment] = (),
    ) -> None:
        """Reset `env` to `task`.

        Args:
            env: the environment.
            task: the task.
            exact: merge equal states, where the environment compares them exactly.
            beside: more environment objects like `env`, to replay at the same time.
        """
        self.env = env
        self.task = task
        self.exact = exact and env.spec.exact_states
        self._snapshots = env.spec.snapshots
        self.publications = 0
        self.lanes = tuple(Lane(self, each) for each in (env, *beside))
        self.leader = self.lanes[0] if len(self.lanes) == 1 else None
        self._begin()

    @property
    def transitions(self) -> int:
        """Actions really executed so far, in all lanes."""
        return sum(lane.transitions for lane in self.lanes)

    @property
    def resets(self) -> int:
        """How often the task was started anew, in all lanes."""
        return sum(lane.resets for lane in self.lanes)

    def _begin(self) -> None:
        self._known: dict[Hashable, Node] = {}
        first = self.lanes[0]
        first.reset()
        self.solved = self.env.success()
        self.root = first.at = self.arrive(self.env, None, "")

    def separate(self) -> None:
        """Forget everything and never merge states again: their keys are not to be trusted."""
        self.exact = False
        self._begin()

    def follow(self, node: Node, action: str) -> Edge:
        """Return the answer to `action` in `node`, from memory or by executing it."""
        edge = node.edges.get(action)
        if edge is None:
            lane = self.leader or self.nearest(node, self.lanes)
            edge = node.edges[action] = lane.find_out(node, action)
        return edge

    def nearest(self, node: Node, lanes: Collection[Lane]) -> Lane:
        """Return the lane with the shortest way to `node`, the first of `lanes` if all start anew.

        Raises:
            ValueError: no lanes.
        """
        on_the_way: Node | None = node
        while on_the_way is not None:
            for lane in lanes:
                if lane.at is on_the_way:
                    return lane
            on_the_way = on_the_way.parent
        for lane in lanes:
            return lane
        raise ValueError("no lane to choose from")

    def succeeds(self, actions: Iterable[str]) -> bool:
        """Execute `actions` from the start, from no memory, and say whether they all count.

        True when each one is feasible or a soft failure and the task is solved by the last.
        """
        lane = self.lanes[0]
        lane.reset()
        solved = self.env.success()
        for action in actions:
            feasible, ticks, _, solved, done = lane.answer(action)
            if not (feasible or ticks):
                return False
            if solved or done:
                break
        return solved

    def arrive(
        self, env: Environment, parent: Node | None, action: str, ended: bool = False
    ) -> Node:
        """Make or find the node of the state that `env` is in."""
        if ended:
            return Node(parent, action, None)
        if not self.exact:
            return Node(parent, action, env.snapshot() if self._snapshots else None)
        key = env.state_key()
        node = self._known.get(key)
        if node is None:
            mark = env.snapshot() if self._snapshots else None
            node = self._known[key] = Node(parent, action, mark)
        return node
