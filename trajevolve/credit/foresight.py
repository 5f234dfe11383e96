"""Replays ahead of time: several environment objects for one trajectory.

Where replay is the only snapshot a trial costs the whole sequence, and the next trial depends on
what this one finds. What does not depend on it, or probably not, is executed meanwhile by the
environments that are free:

* In cumulative mode, backward, the next trial's way to the omitted step is the same whatever this
  one finds, since only later steps are at stake. Driving there is never in vain.
* The rest of the next trial is the same if this one fails, as most do. It is executed where that
  is likely enough, and where it could be in vain without making verification cost more
  transitions than complete replays of every sequence would. When it should be known what this
  one comes to, the lane stops, and goes on if it was right.

The verdicts are not made here. Verification asks its questions in its own order, and finds answers
in the graph or not; so labels and D(t) cannot depend on any of this. Nor do the numbers of
transitions depend on timing: jobs are waited for in the order in which they should end, counted in
steps, and a job knows what had been found out when it began, and nothing later.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Self

from trajevolve.credit.front import Front
from trajevolve.credit.replay import Lane, Node, ReplayGraph, SpentError
from trajevolve.credit.units import Unit
from trajevolve.credit.walk import Walk, Walker

RESET_STEPS = 7
"""What a reset costs, in steps: 85 ms to 12 ms in a ScienceWorld process that has warmed up."""

PRIOR_TRIALS, PRIOR_SUCCESSES = 4, 1
"""What is taken for known of a trajectory before its first trial: a quarter is redundant."""

SOFT = 0.9
"""The chance that a step is redundant that failed softly: only its tick can matter."""

RETRIED = 0.05
"""The chance that a step which was necessary is redundant when it is tried again."""


@dataclass(eq=False)
class _Job:
    """What one lane does by itself, in a thread.

    Attributes:
        lane: who.
        walker: the trajectory.
        current: the sequence to omit `unit` from.
        unit: the steps to omit.
        front: how far it is known what that comes to.
        trial: replay without them; else only go to where they would be executed.
        asked: verification waits for it, so it may cost what it costs.
        most: transitions after which it breaks off, so that one can think again.
        began: when, in steps.
        error: what went wrong.
    """

    lane: Lane
    walker: Walker
    current: Walk
    unit: Unit
    front: Front
    trial: bool = True
    asked: bool = False
    most: int = 0
    began: int = 0
    error: Exception | None = None
    _before: tuple[int, int] = (0, 0)
    _thread: threading.Thread = field(init=False)

    def start(self, now: int) -> None:
        """Begin; what is found out elsewhere from now on is nothing to it."""
        self.began = now
        self._before = self.lane.transitions, self.lane.resets
        self.lane.depart(self.lane.transitions + self.most)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            if self.trial:
                alone = replace(self.walker, graph=self.lane, remembers=False)
                alone.without(self.current, self.unit)
            else:
                self.lane.go(self.front.fork)
        except SpentError:
            pass
        except Exception as error:
            self.error = error

    def wait(self) -> tuple[int, int]:
        """Wait for its end, publish, and return the transitions and resets that it took."""
        self._thread.join()
        self.lane.publish()
        transitions, resets = self._before
        return self.lane.transitions - transitions, self.lane.resets - resets

    @property
    def there(self) -> bool:
        """The lane stands at the fork, or on what is known of the trial after it."""
        node = self.front.node
        while node is not self.lane.at and node is not self.front.fork and node.parent is not None:
            node = node.parent
        return node is self.lane.at

    @property
    def way(self) -> tuple[int, bool]:
        """Transitions from where the lane is to where something new begins; if with a reset."""
        return _way(self.lane, self.front.node if self.trial else self.front.fork)

    @property
    def whole(self) -> int:
        """Transitions that the job takes, if nothing has to be taken back."""
        return self.way[0] + self.front.rest * self.trial

    @property
    def length(self) -> int:
        """What the job takes, in steps."""
        return self.most + RESET_STEPS * self.way[1]


@dataclass
class _Before:
    """What comes before a unit that may be tried ahead of time.

    Attributes:
        first: the first step of what was asked for and of what comes next before the unit.
        verdict: when all that is known, as far as it is under way.
        asked: something was asked for.
        fail: the chance that none of it can be removed.
    """

    first: int
    verdict: int
    asked: bool = False
    fail: float = 1.0

    def worth(self, job: _Job, now: int) -> bool:
        """Say if trying at once saves more time than it may lose, against waiting there."""
        saved, lost = min(job.front.rest, self.verdict - now), _depth(job.front.fork) + RESET_STEPS
        return self.fail * saved > (1.0 - self.fail) * lost


class Foresight:
    """Executes trials of one trajectory on all lanes of its graph, ahead of the questions.

    Attributes:
        replays: sequences asked for so far.
        naive: transitions that complete replays of them would have taken.
    """

    def __init__(
        self,
        walker: Walker,
        graph: ReplayGraph,
        base: Walk,
        began: int,
        waiting: Mapping[Lane, int],
    ) -> None:
        """Start after the base replay.

        Args:
            walker: of the trajectory, with its coupled groups.
            graph: its task's.
            base: the base replay.
            began: the graph's transitions before it.
            waiting: lanes on their way to the first trials, and the transitions that took.
        """
        self.replays = 1
        self.naive = base.naive
        self._walker = walker
        self._graph = graph
        self._executed = graph.transitions - began
        self._clock = 0
        self._ends: dict[_Job, int] = {}
        self._parked = dict(waiting)
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
        if self._idle:
            walk = self._walker.without(current, unit)
        else:
            walk = self._find_out(current, [unit, *islice(units, 2 * len(self._graph.lanes))])
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

    def __enter__(self) -> Self:
        """Nothing is under way yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for what is still under way."""
        while self._ends:
            self._settle()

    def _count(self, walk: Walk) -> None:
        self.replays += 1
        self.naive += walk.naive

    def _find_out(self, current: Walk, coming: Sequence[Unit]) -> Walk:
        """Keep all lanes busy until what omitting the first of `coming` comes to is known."""
        while (walk := Front.of(self._walker, current, coming[0]).walk) is None:
            self._occupy(current, coming)
            job = self._settle()
            if job.error is not None and job.asked:
                raise job.error  # one not asked for will be met by whoever asks
        return walk

    def _occupy(self, current: Walk, coming: Sequence[Unit]) -> None:
        """Give the lanes that are free something to do."""
        lanes = [lane for lane in self._graph.lanes if all(lane is not j.lane for j in self._ends)]
        before = _Before(first=len(self._walker.actions), verdict=self._clock)
        for unit in coming:
            front = Front.of(self._walker, current, unit)
            if not lanes or (front.walk is not None and front.walk.success):
                return
            if front.walk is None:
                job = self._under_way(current, unit, front.fork)
                if job is None:
                    lane = self._graph.nearest(front.node, lanes)
                    job = self._begin(_Job(lane, self._walker, current, unit, front), before, lanes)
                before.asked = True
                before.first = min(before.first, unit[0])
                before.verdict = max(before.verdict, self._ends[job] if job else 0)
                before.fail *= 1.0 - self._chance(unit)

    def _begin(self, job: _Job, before: _Before, lanes: list[Lane]) -> _Job | None:
        """Start `job`, or the part of it that is worth starting; None if nothing is.

        A lane that is put to use, or that waits where the unit will be omitted, is taken out.
        """
        certain = job.unit[-1] < before.first  # only what comes after an omitted step falls with it
        if not before.asked:
            job.asked = True
            job.most = job.whole
            self._parked.pop(job.lane, None)
        elif certain and not job.there:
            job.trial = False
            job.most = job.whole
        elif (certain and not before.worth(job, self._clock)) or not self._afford(
            job, before.verdict
        ):
            if certain:
                lanes.remove(job.lane)
            return None
        lanes.remove(job.lane)
        self._ends[job] = self._clock + job.length
        job.start(self._clock)
        return job

    def _under_way(self, current: Walk, unit: Unit, fork: Node) -> _Job | None:
        """Return what tries `unit`, or goes to `fork`, where it would be omitted."""
        sequence = self._sequence(current, unit)
        for job in self._ends:
            same = self._sequence(job.current, job.unit) == sequence
            if same if job.trial else job.front.fork is fork:
                return job
        return None

    def _afford(self, job: _Job, verdict: int) -> bool:
        """Let `job` go on until `verdict`, if what that costs may be in vain."""
        time = verdict - self._clock - RESET_STEPS * job.way[1]
        job.most = min(time, job.whole)
        if not 0 < job.most <= self._slack() - self._parked.get(job.lane, 0):
            return False
        self._parked.pop(job.lane, None)
        return True

    def _settle(self) -> _Job:
        """Wait for the job that should end first, and let all know what it found out."""
        job = min(self._ends, key=self._ends.__getitem__)
        transitions, resets = job.wait()
        end = self._ends.pop(job)
        self._executed += transitions
        if job.error is not None:
            self._parked.pop(job.lane, None)
        else:
            end = job.began + transitions + RESET_STEPS * resets
            if not job.trial:
                self._parked[job.lane] = self._parked.get(job.lane, 0) + transitions
        self._clock = max(self._clock, end)
        return job

    def _slack(self) -> int:
        """Transitions that can be in vain before complete replays would have been cheaper."""
        reserved = sum(job.most for job in self._ends if job.trial and not job.asked)
        return self.naive - self._executed + sum(self._parked.values()) - reserved

    def _sequence(self, current: Walk, unit: Unit) -> tuple[str, ...]:
        return tuple(self._walker.actions[p] for p in current.executed if p not in unit)

    def _chance(self, unit: Unit) -> float:
        """Estimate the chance that a trial of `unit` succeeds."""
        if unit in self._cost:
            return RETRIED
        return SOFT if self._walker.soft.issuperset(unit) else self._successes / self._trials


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
