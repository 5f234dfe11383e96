"""Evidence for the labels of a trajectory: replays without a step, executed for the page.

A label says what became of a replay; here the replay itself is made again in the environment and
kept with its texts. Nothing is taken from the labels but the question which replay to make, so a
label that the environment does not bear out shows up as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from trajevolve.credit.replay import ReplayGraph
from trajevolve.credit.units import Units, cut
from trajevolve.credit.walk import Walk, Walker
from trajevolve.envs.contract import Environment, Task
from trajevolve.trajectory import Trajectory

Wanted = Literal["all", "redundant", "none"]
Basis = Literal["whole", "survivors"]

LONGEST = 200
"""Steps; replays without every step of a trajectory cost the square of its length."""


@dataclass(frozen=True)
class Counterfactual:
    """The replay of a trajectory without some of its steps.

    Attributes:
        basis: ``whole``: of all T steps; ``survivors``: of the cumulative survivors only, where
            the whole trajectory holds a second way to do what the step does.
        omitted: 0-based positions left out on purpose.
        success: the replay solves the task.
        executed: positions executed, in order.
        fallen: positions that could not be executed any more, D(t) (paper §3.2).
        unreached: positions that came after the replay's end.
        answers: the environment's answer to each position executed or, where asking changes
            nothing, tried in vain.
        parts_at: first position whose answer or feasibility differs from the trajectory's; None
            where nothing does.
        confirms: the outcome is the one that the step's label promises.
    """

    basis: Basis
    omitted: tuple[int, ...]
    success: bool
    executed: tuple[int, ...]
    fallen: tuple[int, ...]
    unreached: tuple[int, ...]
    answers: Mapping[int, str]
    parts_at: int | None
    confirms: bool


@dataclass(frozen=True)
class Evidence:
    """What could be shown for one trajectory.

    Attributes:
        counterfactuals: by position of the step.
        reached: number of leading steps that the replay of the whole consumed; later ones came
            after the success.
        problem: why there is none, "" where there is.
    """

    counterfactuals: Mapping[int, Counterfactual] = field(default_factory=dict)
    reached: int = 0
    problem: str = ""


def gather(
    env: Environment, task: Task, trajectory: Trajectory, wanted: Wanted = "all"
) -> Evidence:
    """Replay a verified `trajectory` without each of its steps.

    Only environment-changing steps are left out: an information step is necessary by default, an
    invalid one takes part in no replay.

    A redundant step is left out alone first (Proposition 3.6). Where that fails, since the label
    was found on a sequence shortened before, it is left out with what verification removed with
    it, and at last with all redundant steps. A necessary step is left out of the whole trajectory,
    and of the survivors where the whole has a substitute for it.

    Args:
        env: is reset, and left in some state.
        task: the trajectory's task.
        trajectory: with labels.
        wanted: replays without redundant steps alone, or without the necessary ones too.
    """
    if wanted == "none" or not trajectory.verified:
        return Evidence()
    if len(trajectory) > LONGEST:
        return Evidence(problem=f"longer than {LONGEST} steps: too long to replay step by step")
    replays = _Replays.of(env, task, trajectory)
    if not replays.base.success:
        return Evidence(problem="the environment does not reproduce its success any more")
    if replays.base.executed != replays.recorded:
        return Evidence(problem="the environment does not execute the same steps any more")
    walks: dict[int, tuple[Basis, tuple[int, ...], Walk, bool]] = {}
    for unit in replays.units.changing:
        redundant = trajectory.steps[unit[0]].label == 0
        if redundant or wanted == "all":
            attempts = replays.without_redundant(unit) if redundant else replays.without(unit)
            walks.update(dict.fromkeys(unit, _first(attempts, success=redundant)))
    # Texts are made last: they move the environment, which the replays' memo relies on.
    told = {
        position: _tell(env, task, trajectory, replays, *found) for position, found in walks.items()
    }
    return Evidence(told, replays.base.reached)


Attempt = tuple[Basis, tuple[int, ...], Walk]


def _first(attempts: Iterator[Attempt], success: bool) -> tuple[Basis, tuple[int, ...], Walk, bool]:
    """Return the first attempt that ends as the label says, else the first of all."""
    first = next(attempts)
    for attempt in chain([first], attempts):
        if attempt[2].success == success:
            return (*attempt, True)
    return (*first, False)


@dataclass(frozen=True)
class _Replays:
    """One trajectory in a replay graph."""

    trajectory: Trajectory
    script: tuple[str, ...]
    walker: Walker
    base: Walk
    units: Units
    recorded: tuple[int, ...]

    @classmethod
    def of(cls, env: Environment, task: Task, trajectory: Trajectory) -> _Replays:
        script = tuple(env.canonical(action) if action else "" for action in trajectory.actions)
        soft = env.spec.feasibility == "answer"
        usable = [
            bool(action) and (step.valid or (soft and step.costs_step))
            for action, step in zip(script, trajectory.steps, strict=True)
        ]
        walker, base = Walker.start(ReplayGraph(env, task), script, usable)
        units = cut(env, base.executed, script)
        walker.group_of = units.group_of
        recorded = tuple(position for position in range(base.reached) if usable[position])
        return cls(trajectory, script, walker, base, units, recorded)

    def without_redundant(self, unit: tuple[int, ...]) -> Iterator[Attempt]:
        yield "whole", unit, self.walker.without(self.base, unit)
        together = self._removed_with(unit)
        yield self._leaving_out(together)
        yield self._leaving_out(frozenset(self.base.executed) - frozenset(self._survivors()))

    def without(self, unit: tuple[int, ...]) -> Iterator[Attempt]:
        yield "whole", unit, self.walker.without(self.base, unit)
        survivors = self.walker.replay(self._survivors())
        if survivors.success and set(unit) <= set(survivors.executed):
            yield "survivors", unit, self.walker.without(survivors, unit)

    def basis(self, name: Basis) -> Sequence[int]:
        """Return the positions that a replay on `name` starts from."""
        return self.base.executed if name == "whole" else self._survivors()

    def _leaving_out(self, positions: frozenset[int]) -> Attempt:
        kept = [position for position in self.base.executed if position not in positions]
        return "whole", tuple(sorted(positions)), self.walker.replay(kept)

    def _removed_with(self, unit: tuple[int, ...]) -> frozenset[int]:
        """Return the steps of the removal, as it is recorded, that took `unit` away."""
        removed = set(unit)
        for position, step in enumerate(self.trajectory.steps):
            group = {position, *step.dependents}
            if step.label == 0 and group & set(unit):
                removed |= group
        return frozenset(removed & set(self.base.executed))

    def _survivors(self) -> Sequence[int]:
        executed = set(self.base.executed)
        return [position for position in self.trajectory.minimal if position in executed]


def _tell(
    env: Environment,
    task: Task,
    trajectory: Trajectory,
    replays: _Replays,
    basis: Basis,
    omitted: tuple[int, ...],
    walk: Walk,
    confirms: bool,
) -> Counterfactual:
    """Execute `walk` again, with texts."""
    tried_freely = env.spec.feasibility == "admissible"
    executed = set(walk.executed)
    answers: dict[int, str] = {}
    fallen: list[int] = []
    unreached: list[int] = []
    env.reset(task)
    over = False
    for position in replays.basis(basis):
        if position in omitted:
            continue
        if over:
            unreached.append(position)
        elif position in executed:
            outcome = env.step(replays.script[position])
            answers[position] = outcome.observation.text
            over = outcome.success or outcome.done
        else:
            fallen.append(position)
            if tried_freely and position not in replays.units.group_of:
                answers[position] = env.step(replays.script[position]).observation.text
    differing = (
        position
        for position in sorted({*walk.executed, *fallen})
        if position in fallen or answers[position] != answer(trajectory, position)
    )
    return Counterfactual(
        basis=basis,
        omitted=omitted,
        success=walk.success,
        executed=walk.executed,
        fallen=tuple(fallen),
        unreached=tuple(unreached),
        answers=answers,
        parts_at=next(differing, None),
        confirms=confirms,
    )


def answer(trajectory: Trajectory, position: int) -> str:
    """Return what the environment answered to the step at `position`."""
    if position + 1 < len(trajectory):
        return trajectory.steps[position + 1].observation
    return trajectory.final_observation
