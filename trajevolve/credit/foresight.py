"""Replays ahead of time: several environment objects for one trajectory.

Where replay is the only snapshot a trial costs the whole sequence, and the next trial depends on
what this one finds. What does not depend on it, or probably not, is executed meanwhile by the
environments that are free:

* In cumulative mode, backward, the next trial's way to the omitted step is the same whatever this
  one finds, since only later steps are at stake. Driving there is never in vain.
* The rest of the next trial is the same if this one fails, as most do. It is executed where that
  is likely enough, and where it could be in vain without making verification cost more
  transitions than complete replays of every sequence would.

The verdicts are not made here. Verification asks its questions in its own order, and finds answers
in the graph or not; so labels and D(t) cannot depend on any of this. Work is handed out in rounds,
and lanes see what others found out in earlier rounds only, so that the numbers of transitions do
not depend on timing either.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from trajevolve.credit.replay import Edge, Lane, Node, ReplayGraph
from trajevolve.credit.walk import Walk, Walker

Unit = tuple[int, ...]

RESET_STEPS = 5
"""What a reset costs, in steps: 0.1 to 0.2 s to 17 to 40 ms in ScienceWorld."""

PRIOR_TRIALS, PRIOR_SUCCESSES = 4, 1
"""What is taken for known of a trajectory before its first trial: a quarter is redundant."""

SOFT = 0.9
"""The chance that a step is redundant that failed softly: only its tick can matter."""

RETRIED = 0.05
"""The chance that a step which was necessary is redundant when it is tried again."""


OVERHANG = 1.3
"""How much longer than the others a lane may be under way for something that can wait."""


class _UnknownError(LookupError):
    """A transition that memory does not hold."""


@dataclass(frozen=True)
class _Memory:
    """The known part of a graph."""

    root: Node

    def follow(self, node: Node, action: str) -> Edge:
        """Raise: :class:`Walker` asks only for what the node does not know."""
        raise _UnknownError


@dataclass
class _Job:
    """What one lane does in a round.

    Attributes:
        lane: who.
        walker: the trajectory.
        current: the sequence to omit `unit` from.
        unit: the steps to omit.
        trial: replay without them.
        park: then go to this node, from which a later trial starts.
        parking: transitions that going there took.
        error: what went wrong.
    """

    lane: Lane
    walker: Walker
    current: Walk
    unit: Unit
    trial: bool = True
    park: Node | None = None
    parking: int = 0
    error: Exception | None = None

    def run(self) -> None:
        """Do it; errors are kept."""
        try:
            if self.trial:
                replace(self.walker, graph=self.lane).without(self.current, self.unit)
            if self.park is not None and self.lane.at is not self.park:
                before = self.lane.transitions
                self.lane.go(self.park)
                self.parking = self.lane.transitions - before
        except Exception as error:
            self.error = error

    @property
    def fork(self) -> Node:
        """The node at which the trial leaves the current sequence."""
        return self.current.nodes[self.current.executed.index(self.unit[0])]

    @property
    def way(self) -> int:
        """Transitions from where the lane is to the fork, from the start if need be."""
        return _way(self.lane, self.fork)[0]

    @property
    def rest(self) -> int:
        """Transitions after the fork, at most, if nothing has to be taken back."""
        executed, free = self.current.executed, self.walker.free
        later = executed[executed.index(self.unit[0]) + 1 :]
        return sum(position not in free for position in later)

    @property
    def length(self) -> int:
        """What the job takes, in steps."""
        way, anew = _way(self.lane, self.fork)
        return way + RESET_STEPS * anew + self.rest * self.trial


class Foresight:
    """Executes the next trials of one trajectory on all lanes of its graph.

    Attributes:
        replays: sequences asked for so far.
        naive: transitions that complete replays of them would have taken.
    """

    def __init__(self, walker: Walker, graph: ReplayGraph, base: Walk, began: int) -> None:
        """Start after the base replay.

        Args:
            walker: of the trajectory, with its coupled groups.
            graph: its task's.
            base: the base replay.
            began: the graph's transitions before it.
        """
        self.replays = 1
        self.naive = base.naive
        self._walker = walker
        self._graph = graph
        self._began = began
        self._parked: dict[Lane, int] = {}
        self._cost: dict[Unit, int] = {}
        self._trials, self._successes = PRIOR_TRIALS, PRIOR_SUCCESSES
        # Lanes share no memory of states while they are under way, so states are not compared.
        self._idle = len(graph.lanes) == 1 or graph.exact or bool(walker.group_of)

    def trial(self, current: Walk, upcoming: Iterable[Unit]) -> Walk:
        """Replay `current` without the first of `upcoming`, and prepare for the others.

        Args:
            current: the sequence.
            upcoming: the unit asked for, then those that come next if it cannot be removed. One
                that lies before all those asked for earlier comes next in any case.
        """
        units = iter(upcoming)
        unit = next(units)
        if not self._idle and not self._known(current, unit):
            self._round(current, unit, units)
        walk = self._walker.without(current, unit)
        self._count(walk)
        if unit not in self._cost:
            self._trials += 1
            self._successes += walk.success
        self._cost[unit] = walk.naive
        return walk

    def replay(self, positions: Sequence[int]) -> Walk:
        """Replay `positions` from the start."""
        walk = self._walker.replay(positions)
        self._count(walk)
        return walk

    def repeat(self, unit: Unit) -> None:
        """Count a trial that need not be repeated: the sequence is still the same."""
        self.naive += self._cost[unit]

    def _count(self, walk: Walk) -> None:
        self.replays += 1
        self.naive += walk.naive

    def _known(self, current: Walk, unit: Unit) -> bool:
        try:
            replace(self._walker, graph=_Memory(self._graph.root)).without(current, unit)
        except _UnknownError:
            return False
        return True

    def _round(self, current: Walk, unit: Unit, upcoming: Iterable[Unit]) -> None:
        """Execute the trial of `unit` in one lane, and what comes next in the others."""
        lanes = list(self._graph.lanes)
        asked = self._job(current, unit, lanes)
        slack = self._slack()
        self._parked.pop(asked.lane, None)
        ahead: list[_Job] = []
        first, fails = unit[0], 1.0 - self._chance(unit)
        for later in self._different(current, unit, upcoming):
            certain = later[-1] < first  # only what comes after the asked steps can fall with them
            if not lanes:
                if certain:
                    _fill(asked, later, ahead)
                break
            job = self._job(current, later, lanes)
            lost = _depth(job.fork) + RESET_STEPS
            job.trial = not certain or fails * job.rest > (1.0 - fails) * lost
            slack = self._allow(job, slack)
            if certain and not job.trial:
                job.park = job.fork
            if job.trial or job.park is not None:
                ahead.append(job)
            else:
                lanes.append(job.lane)
            first, fails = min(first, later[0]), fails * (1.0 - self._chance(later))
        self._run(asked, ahead)

    def _different(self, current: Walk, unit: Unit, upcoming: Iterable[Unit]) -> Iterator[Unit]:
        """List the next units whose trials are neither known nor like one before."""
        sequences = {self._sequence(current, unit)}
        for later in islice(upcoming, 2 * len(self._graph.lanes)):
            sequence = self._sequence(current, later)
            if sequence not in sequences and not self._known(current, later):
                sequences.add(sequence)
                yield later

    def _allow(self, job: _Job, slack: int) -> int:
        """Let `job` try, if it may be in vain; return what remains for others."""
        at_risk, needed = self._parked.get(job.lane, 0), job.way + job.rest
        job.trial = job.trial and slack >= at_risk + needed
        if not job.trial:
            return slack
        self._parked.pop(job.lane, None)
        allowed = min(slack - at_risk, 2 * needed)
        job.lane.limit = job.lane.transitions + allowed
        return slack - at_risk - allowed

    def _job(self, current: Walk, unit: Unit, lanes: list[Lane]) -> _Job:
        """Give `unit` to the lane of `lanes` with the shortest way, and take that one out."""
        job = _Job(lanes[0], self._walker, current, unit)
        job.lane = self._graph.nearest(job.fork, lanes)
        lanes.remove(job.lane)
        return job

    def _run(self, asked: _Job, ahead: Sequence[_Job]) -> None:
        threads = [threading.Thread(target=job.run, daemon=True) for job in ahead]
        for thread in threads:
            thread.start()
        try:
            asked.run()
        finally:
            for thread in threads:
                thread.join()
            for job in (asked, *ahead):
                job.lane.limit = None
                job.lane.publish()
        for job in (asked, *ahead):
            if job.error is not None:  # one not asked for will be met by whoever asks
                self._parked.pop(job.lane, None)
            elif job.park is not None:
                self._parked[job.lane] = self._parked.get(job.lane, 0) + job.parking
        if asked.error is not None:
            raise asked.error

    def _slack(self) -> int:
        """Transitions that can be in vain before complete replays would have been cheaper."""
        executed = self._graph.transitions - self._began
        return self.naive - executed + sum(self._parked.values())

    def _sequence(self, current: Walk, unit: Unit) -> tuple[str, ...]:
        return tuple(self._walker.actions[p] for p in current.executed if p not in unit)

    def _chance(self, unit: Unit) -> float:
        """Estimate the chance that a trial of `unit` succeeds."""
        if unit in self._cost:
            return RETRIED
        return SOFT if self._walker.soft.issuperset(unit) else self._successes / self._trials


def _fill(asked: _Job, later: Unit, ahead: Sequence[_Job]) -> None:
    """Send the lane of `asked` on to where `later` forks, if the others take as long as that."""
    park = replace(asked, unit=later).fork
    others = max((job.length for job in ahead), default=0)
    if asked.length + _depth(park) + RESET_STEPS <= OVERHANG * others:
        asked.park = park


def _depth(node: Node) -> int:
    depth = 0
    while node.parent is not None:
        depth, node = depth + 1, node.parent
    return depth


def _way(lane: Lane, node: Node) -> tuple[int, bool]:
    """Count the transitions that bring `lane` to `node`, and say if they begin with a reset."""
    way = 0
    while node.parent is not None and node is not lane.at:
        way, node = way + 1, node.parent
    return way, node is not lane.at
