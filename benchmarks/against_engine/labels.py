"""Labels of ``trajevolve.credit`` on the simulator against the second implementation."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from against_engine import omission
from against_engine.machines import Downward, Engines, TextWorld
from against_engine.trajectories import Success
from trajevolve.credit.replay import ReplayGraph
from trajevolve.credit.units import cut
from trajevolve.credit.verification import Verification, verify
from trajevolve.credit.walk import Walker
from trajevolve.envs.alfworld.environment import AlfworldEnvironment


@dataclass(frozen=True)
class Compared:
    """One trajectory, labelled by both.

    Attributes:
        success: the trajectory.
        labels: y_t of the default settings.
        invalid: steps that could not be executed.
        redundant: steps labelled 0, by setting.
        trials: omissions whose outcome and dependent set were compared.
        differences: what was not equal: (what, found on the engine, found by the package).
        engine_seconds: processor time on libdownward, without loading the game.
    """

    success: Success
    labels: tuple[int, ...]
    invalid: int
    redundant: dict[str, int]
    trials: int
    differences: list[tuple[str, Any, Any]]
    engine_seconds: float


@dataclass(frozen=True)
class Replayed:
    """One trajectory verified by reset and replay alone, in the whole engine.

    Attributes:
        success: the trajectory.
        differences: as for :class:`Compared`.
        resets, steps: of the engine.
        load_seconds: processor time of loading the game, once.
        engine_seconds: of all resets and steps.
        verify_seconds: of ``verify`` on the simulator, the game grounded already; a mean.
        fresh_seconds: the same with grounding the game; a mean.
    """

    success: Success
    differences: list[tuple[str, Any, Any]]
    resets: int
    steps: int
    load_seconds: float
    engine_seconds: float
    verify_seconds: float
    fresh_seconds: float


def against_downward(engines: Engines, successes: Sequence[Success]) -> Iterator[Compared]:
    """Label every trajectory in both modes, driving libdownward; games in turn, loaded once."""
    environment = AlfworldEnvironment()
    for _, group in groupby(successes, key=lambda success: success.game.path):
        batch = list(group)
        machine = Downward(engines, batch[0].game.path)
        for success in batch:
            yield _compare(environment, machine, success)


def against_replay(engines: Engines, success: Success, repeats: int) -> Replayed:
    """Verify one trajectory in independent mode with a reset of the engine for every omission."""
    clock = time.process_time()
    machine = TextWorld(engines, success.game.path)
    loaded = time.process_time()
    expected = omission.independent(machine, success.actions)
    replayed = time.process_time()
    environment = AlfworldEnvironment()
    return Replayed(
        success=success,
        differences=_independent_differences(environment, success, expected),
        resets=machine.resets,
        steps=machine.steps,
        load_seconds=loaded - clock,
        engine_seconds=replayed - loaded,
        verify_seconds=_timed(environment, success, repeats, fresh=False),
        fresh_seconds=_timed(environment, success, max(1, repeats // 10), fresh=True),
    )


def _compare(environment: AlfworldEnvironment, machine: Downward, success: Success) -> Compared:
    actions, task = success.actions, success.task
    clock = time.process_time()
    independent = omission.independent(machine, actions)
    looped = omission.cumulative(machine, actions, loops=True)
    single = omission.cumulative(machine, actions, loops=False)
    seconds = time.process_time() - clock
    default = verify(environment, task, actions)
    alone = verify(environment, task, actions, loop_prepass=False)
    differences = _independent_differences(environment, success, independent)
    differences += _differences("cumulative", looped, default)
    differences += _differences("cumulative without loops", single, alone)
    labelled = {
        "independent": independent,
        "cumulative": looped,
        "cumulative without loops": single,
    }
    return Compared(
        success=success,
        labels=default.labels or (),
        invalid=len(actions) - len(independent.executed) if independent else len(actions),
        redundant={
            name: labels.labels.count(0) for name, labels in labelled.items() if labels is not None
        },
        trials=sum(o is not None for o in independent.succeeds_without) if independent else 0,
        differences=differences,
        engine_seconds=seconds,
    )


def _independent_differences(
    environment: AlfworldEnvironment, success: Success, expected: omission.Labels | None
) -> list[tuple[str, Any, Any]]:
    """Compare labels and D(t), and for every omission whether the rest still succeeds."""
    found = verify(environment, success.task, success.actions, mode="independent")
    differences = _differences("independent", expected, found)
    outcomes = _outcomes(environment, success)
    if expected is not None and expected.succeeds_without != outcomes:
        differences.append(("succeeds without", expected.succeeds_without, outcomes))
    return differences


def _differences(
    mode: str, expected: omission.Labels | None, found: Verification
) -> list[tuple[str, Any, Any]]:
    if expected is None or found.labels is None:
        both_fail = expected is None and found.labels is None
        return [] if both_fail else [(f"{mode}: success", expected is not None, found.success)]
    pairs = [
        ("labels", expected.labels, list(found.labels)),
        ("dependents", expected.dependents, [list(fallen) for fallen in found.dependents]),
    ]
    if mode != "independent":
        pairs.append(("survivors", expected.survivors, list(found.minimal)))
    return [(f"{mode}: {what}", one, other) for what, one, other in pairs if one != other]


def _outcomes(environment: AlfworldEnvironment, success: Success) -> list[bool | None]:
    """V(τ without t and D(t)) of every step that can be tried, from the package's own walks."""
    actions = success.actions
    walker, base = Walker.start(
        ReplayGraph(environment, success.task), actions, [True] * len(actions)
    )
    outcomes: list[bool | None] = [None] * len(actions)
    for unit in cut(environment, base.executed, actions).changing:
        outcomes[unit[0]] = walker.without(base, unit).success
    return outcomes


def _timed(environment: AlfworldEnvironment, success: Success, repeats: int, fresh: bool) -> float:
    """Mean processor time of ``verify``; a task of another digest is grounded anew."""
    tasks = [
        replace(success.task, digest=f"{success.task.digest}-{n}") if fresh else success.task
        for n in range(repeats)
    ]
    verify(environment, success.task, success.actions, mode="independent")
    clock = time.process_time()
    for task in tasks:
        verify(environment, task, success.actions, mode="independent")
    return (time.process_time() - clock) / repeats
