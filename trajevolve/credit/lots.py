"""Lots: the successes of one task each, replayed by one environment object or by several.

Where replay is the only snapshot, replaying is what verification costs, and objects that can work
at the same time share it out: lots among them, one object a lot, since lots have nothing in common;
and a lot that would keep one of them busy when the others are through is replayed by all together.
Who does what is settled beforehand, but for the order in which lots are taken up, and a lot costs
the same transitions whoever takes it: neither labels nor counts depend on timing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from trajevolve.config import CreditConfig
from trajevolve.credit.replay import ReplayGraph
from trajevolve.credit.verification import Verification, verify_on
from trajevolve.deadline import Deadline
from trajevolve.envs.contract import Environment, Task
from trajevolve.problems import reason_of
from trajevolve.trajectory import Trajectory

Lot = Sequence[int]


@dataclass(frozen=True)
class Verdict:
    """What verification says of one trajectory, and what it cost.

    Attributes:
        verification: None where the environment failed.
        problem: why there are no labels, if there are none.
        distinct: False for a repetition of an earlier one, which costs nothing.
        transitions: actions executed.
        resets: how often the task was started anew.
    """

    verification: Verification | None
    problem: str
    distinct: bool = True
    transitions: int = 0
    resets: int = 0


def helpers(env: Environment, make: Callable[[], Environment]) -> list[Environment]:
    """Make the environment objects that can replay at the same time as `env`.

    Only where replay is the only snapshot and so worth sharing out, and the environment says how
    many can live at once.
    """
    more = env.spec.concurrent or 1
    return [] if env.spec.snapshots else [make() for _ in range(more - 1)]


def verify_lots(
    environments: Sequence[Environment],
    tasks_by_id: Mapping[str, Task],
    trajectories: Sequence[Trajectory],
    credit: CreditConfig,
    deadline: Deadline,
) -> Iterator[tuple[int, Verdict]]:
    """Verify the successes among `trajectories`; yield index and verdict as they are made.

    Args:
        environments: objects of one kind, one at least; more than one only without snapshots.
        tasks_by_id: the tasks of the trajectories.
        trajectories: any number, of any tasks, in any order.
        credit: mode, order and loop pre-pass.
        deadline: watches the calls of the main thread: those of one object, if there are several.
    """
    lots = _by_task(trajectories)
    apart, together = _share_out(lots, trajectories, environments)
    if apart:
        alone = [Verifier((env,), tasks_by_id, credit, Deadline(None)) for env in environments]
        yield from _at_once(alone, apart, trajectories)
    verifier = Verifier(environments, tasks_by_id, credit, deadline)
    for lot in together:
        for index in lot:
            yield index, verifier.verify(trajectories[index])


class Verifier:
    """Verifies trajectory after trajectory, with one replay graph for those of a task."""

    def __init__(
        self,
        environments: Sequence[Environment],
        tasks_by_id: Mapping[str, Task],
        credit: CreditConfig,
        deadline: Deadline,
    ) -> None:
        """Take over `environments`; all replay each trajectory together."""
        self._env, *self._beside = environments
        self._tasks_by_id = tasks_by_id
        self._credit = credit
        self._deadline = deadline
        self._task_id = ""
        self._graph: ReplayGraph | None = None
        self._seen: dict[tuple[object, ...], Verdict] = {}

    def verify(self, trajectory: Trajectory) -> Verdict:
        """Verify one trajectory; equal ones of a task, one after the other, only once."""
        if trajectory.task_id != self._task_id:
            self._task_id, self._graph, self._seen = trajectory.task_id, None, {}
        valid = self._usable(trajectory)
        key = (trajectory.actions, valid)
        if key in self._seen:
            return self._seen[key]
        transitions, resets = self._executed(), self._resets()
        problem = "its replay does not succeed"
        result: Verification | None = None
        try:
            result = self._deadline.within(lambda: self._replay(trajectory, valid), self._executed)
        except Exception as error:  # whatever an environment does, the other trajectories count
            problem = reason_of(error)
        verdict = Verdict(
            result,
            problem,
            transitions=self._executed() - transitions,
            resets=self._resets() - resets,
        )
        if result is None:
            self._graph = None
        else:
            again = replace(result, transitions=0, replays=0, naive=0)
            self._seen[key] = Verdict(again, problem, distinct=False)
        return verdict

    def _replay(self, trajectory: Trajectory, valid: Sequence[bool]) -> Verification:
        if self._graph is None:
            task = self._tasks_by_id[trajectory.task_id]
            self._graph = ReplayGraph(self._env, task, beside=self._beside)
        return verify_on(
            self._graph,
            trajectory.actions,
            mode=self._credit.mode,
            order=self._credit.order,
            loop_prepass=self._credit.loop_prepass,
            valid=valid,
        )

    def _executed(self) -> int:
        return self._graph.transitions if self._graph else 0

    def _resets(self) -> int:
        return self._graph.resets if self._graph else 0

    def _usable(self, trajectory: Trajectory) -> tuple[bool, ...]:
        """Say which steps take part: the valid ones and, by answer, those that cost time."""
        soft = self._env.spec.feasibility == "answer"
        return tuple(
            step.action is not None and (step.valid or (soft and step.costs_step))
            for step in trajectory.steps
        )


def _at_once(
    verifiers: Sequence[Verifier], lots: Sequence[Lot], trajectories: Sequence[Trajectory]
) -> Iterator[tuple[int, Verdict]]:
    """Let each of `verifiers` take lot after lot, in a thread of its own."""
    todo: SimpleQueue[Lot] = SimpleQueue()
    done: SimpleQueue[tuple[int, Verdict] | BaseException] = SimpleQueue()
    stopped = threading.Event()
    for lot in lots:
        todo.put(lot)

    def work(verifier: Verifier) -> None:
        try:
            while True:
                for index in todo.get_nowait():
                    if stopped.is_set():
                        return
                    done.put((index, verifier.verify(trajectories[index])))
        except Empty:
            return
        except BaseException as error:  # raised again by whoever waits
            done.put(error)

    for verifier in verifiers:
        threading.Thread(target=work, args=(verifier,), daemon=True).start()
    try:
        for _ in range(sum(map(len, lots))):
            made = done.get()
            if isinstance(made, BaseException):
                raise made
            yield made
    finally:
        stopped.set()


def _share_out(
    lots: Sequence[Lot], trajectories: Sequence[Trajectory], environments: Sequence[Environment]
) -> tuple[list[Lot], list[Lot]]:
    """Choose the lots that one environment replays each, and those that all replay together.

    The first go by size, largest first, as many for each and none larger than a fair share.
    """
    if len(environments) == 1:
        return [], list(lots)
    size = {lot[0]: sum(len(trajectories[index]) ** 2 for index in lot) for lot in lots}
    apart = sorted(lots, key=lambda lot: size[lot[0]], reverse=True)
    together: list[Lot] = []
    left = sum(size.values())
    while apart:
        largest = size[apart[0][0]]
        if len(apart) % len(environments) == 0 and largest * len(environments) <= left:
            break
        together.append(apart.pop(0))
        left -= largest
    return apart, together


def _by_task(trajectories: Sequence[Trajectory]) -> list[Lot]:
    """Return the indices of the successes by task, in order of first appearance."""
    lots: dict[str, list[int]] = {}
    for index, trajectory in enumerate(trajectories):
        if trajectory.success:
            lots.setdefault(trajectory.task_id, []).append(index)
    return list(lots.values())
