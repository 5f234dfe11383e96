"""Hindsight verification: which steps of a successful trajectory were necessary (paper §3.2).

A successful trajectory is replayed with one step left out. Later actions that cannot be executed
any more are left out too and form D(t), the dependent set; replay goes on with the next action
and stops at success, and steps not reached by then join D(t). If what was executed succeeds,
step t is redundant with its dependents (Propositions 3.6 and 3.7). So y = 0 is sound, while y = 1
says that the step cannot be removed together with its dependents, and not more.

Two modes. ``independent`` is the paper's: every replay starts from the whole trajectory. Labels
found one by one need not hold together: on *go T, go B, go T, take* either half of the detour
can be spared, and without all three moves nothing can be taken. ``cumulative`` goes on from
what a successful replay really executed, in passes until one removes nothing, which is delta
debugging on action sequences: the survivors succeed, and no environment-changing step can be
removed from them with its dependents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from trajevolve.credit.escort import Escort
from trajevolve.credit.foresight import Foresight
from trajevolve.credit.loops import longest_loop
from trajevolve.credit.replay import ReplayGraph
from trajevolve.credit.units import Unit, Units, cut
from trajevolve.credit.walk import Walk, Walker
from trajevolve.envs.contract import Environment, Kind, Task
from trajevolve.errors import UserError

Mode = Literal["cumulative", "independent"]
Order = Literal["backward", "forward"]


@dataclass(frozen=True)
class Verification:
    """What hindsight verification found out about one trajectory of T steps.

    Attributes:
        success: the trajectory, replayed as it is, solves the task.
        labels: y_1 … y_T, 1 necessary, 0 redundant; None where the replay does not succeed.
        dependents: D(t) for each step, 0-based positions, ascending; empty for steps that were
            not tried by themselves (invalid, information, fallen with another step). In
            cumulative mode D(t) refers to the sequence current at the step's last trial; the
            first step of a removed loop carries the rest of the loop.
        minimal: 0-based positions of the cumulative survivors, in either mode: an executable
            sequence that succeeds. Information steps are in it where they are still feasible.
        transitions: environment transitions executed for it.
        replays: sequences whose outcome was asked for, the trajectory itself included.
        resets: how often the task was started anew for it.
        naive: transitions that complete replay would have executed: a reset and the whole
            sequence each time, passes without memory.
    """

    success: bool
    labels: tuple[int, ...] | None
    dependents: tuple[tuple[int, ...], ...]
    minimal: tuple[int, ...]
    transitions: int
    replays: int = 0
    resets: int = 0
    naive: int = 0


def verify(
    env: Environment,
    task: Task,
    actions: Sequence[str | None],
    *,
    mode: Mode = "cumulative",
    order: Order = "backward",
    loop_prepass: bool | None = None,
    valid: Sequence[bool] | None = None,
    beside: Sequence[Environment] = (),
) -> Verification:
    """Label the steps of one trajectory of `task` by counterfactual replay (paper §3.2).

    Steps that were invalid get label 0 and no part in any replay, since they might become
    executable elsewhere and stand in for a real step. Soft failures, which cost time without
    being executed, are verified like other steps. Information steps keep label 1 by default.
    Actions after the success were never executed: 0, or 1 for information.

    Args:
        env: any environment with deterministic replay; it is reset and left in some state.
        task: the task instance of the trajectory.
        actions: a_1 … a_T as recorded; None, or blank text, where the agent gave no action.
        mode: ``cumulative`` (labels hold together) or ``independent`` (the paper's).
        order: order in which cumulative mode tries the steps. Backward keeps the first visit
            of a detour, forward the last.
        loop_prepass: cumulative mode removes stretches that end in the exact state they began
            in first, longest first, where the environment compares states exactly. It keeps the
            first visit of a detour, so None, the default, means with backward order only.
        valid: which steps were valid; by default those that turn out executable.
        beside: more environment objects like `env`. Where replay is the only snapshot, they
            replay at the same time, in threads; labels are the same.

    Raises:
        UserError: `mode` or `order` is unknown, or `valid` is not as long as `actions`.
        ReplayError: the environment does not replay deterministically.
    """
    return verify_on(
        ReplayGraph(env, task, beside=beside),
        actions,
        mode=mode,
        order=order,
        loop_prepass=loop_prepass,
        valid=valid,
    )


def verify_on(
    graph: ReplayGraph,
    actions: Sequence[str | None],
    *,
    mode: Mode = "cumulative",
    order: Order = "backward",
    loop_prepass: bool | None = None,
    valid: Sequence[bool] | None = None,
) -> Verification:
    """Do as :func:`verify`, with transitions shared by all trajectories of the graph's task."""
    check_options(mode, order)
    _check_shape(actions, valid)
    before, resets = graph.transitions, graph.resets
    script = [_script(graph.env, action) for action in actions]
    usable = [
        bool(action) and (valid is None or bool(valid[position]))
        for position, action in enumerate(script)
    ]
    with Escort(graph, script, backward=order == "backward") as escort:
        walker, base = Walker.start(graph, script, usable, escort.passed)
    if not base.success:
        spent, started = graph.transitions - before, graph.resets - resets
        return Verification(False, None, (), (), spent, 1, started, base.naive)
    units = cut(graph.env, base.executed, script)
    walker.group_of = units.group_of
    loops = order == "backward" if loop_prepass is None else loop_prepass
    current, dependents = base, dict[int, tuple[int, ...]]()
    with Foresight(walker, graph, base, before, escort.waiting) as foresight:
        if loops and graph.exact:
            current, dependents = _without_loops(foresight, base, units)
        survivors = _cumulative(foresight, current, units, order, dependents)
        necessary = set(survivors)
        if mode == "independent":
            necessary, dependents = _independent(foresight, base, units)
    if graph.exact and not graph.succeeds(script[position] for position in survivors):
        # The environment merged states that differ: start again without comparing any.
        graph.separate()
        again = verify_on(graph, actions, mode=mode, order=order, valid=valid)
        return replace(again, transitions=graph.transitions - before)
    unreached = range(base.reached, len(script))
    necessary |= units.information
    necessary |= {
        position
        for position in unreached
        if usable[position] and graph.env.kind(script[position]) == Kind.INFORMATION
    }
    return Verification(
        success=True,
        labels=tuple(int(position in necessary) for position in range(len(script))),
        dependents=tuple(dependents.get(position, ()) for position in range(len(script))),
        minimal=tuple(survivors),
        transitions=graph.transitions - before,
        replays=foresight.replays,
        resets=graph.resets - resets,
        naive=foresight.naive,
    )


def check_options(mode: str, order: str) -> None:
    """Raise UserError unless `mode` and `order` are known."""
    if mode not in get_args(Mode):
        raise UserError(f"mode {mode!r} is unknown; use 'cumulative' or 'independent'")
    if order not in get_args(Order):
        raise UserError(f"order {order!r} is unknown; use 'backward' or 'forward'")


def _independent(
    foresight: Foresight, base: Walk, units: Units
) -> tuple[set[int], dict[int, tuple[int, ...]]]:
    """Try every unit against the whole trajectory, in order (paper, Propositions 3.6 and 3.7)."""
    redundant: set[int] = set()
    dependents: dict[int, tuple[int, ...]] = {}
    for index, unit in enumerate(units.changing):
        if unit[0] in redundant:
            continue
        upcoming = (u for u in units.changing[index:] if u[0] not in redundant)
        trial = foresight.trial(base, upcoming)
        dependents.update(dict.fromkeys(unit, trial.skipped))
        if trial.success:
            redundant.update(unit, trial.skipped)
    return set(base.executed) - redundant, dependents


def _cumulative(
    foresight: Foresight,
    current: Walk,
    units: Units,
    order: Order,
    dependents: dict[int, tuple[int, ...]],
) -> tuple[int, ...]:
    """Remove units from the current sequence, in passes, until none can be removed.

    Returns the survivors, and keeps `dependents` up to date.
    """
    queue = list(units.changing)
    if order == "backward":
        queue.sort(key=lambda unit: unit[-1], reverse=True)
    removals, tried_at = 0, dict[Unit, int]()
    while True:
        removals_before = removals
        alive = set(current.executed)
        for index, unit in enumerate(queue):
            if alive.isdisjoint(unit):
                continue
            if tried_at.get(unit) == removals:  # against this very sequence
                foresight.repeat(unit)
                continue
            coming = queue[index:] if removals == removals_before else queue[index:] + queue[:index]
            trial = foresight.trial(current, _open(coming, alive, tried_at, removals))
            tried_at[unit] = removals
            dependents.update(dict.fromkeys(unit, trial.skipped))
            if trial.success:
                for fallen in trial.skipped:
                    dependents.pop(fallen, None)
                current, removals = trial, removals + 1
                alive = set(current.executed)
        if removals == removals_before:
            return current.executed


def _open(
    queue: Sequence[Unit], alive: set[int], tried_at: Mapping[Unit, int], removals: int
) -> Iterator[Unit]:
    """List the units of `queue` to try while the sequence stays as it is."""
    for unit in queue:
        if not alive.isdisjoint(unit) and tried_at.get(unit) != removals:
            yield unit


def _without_loops(
    foresight: Foresight, base: Walk, units: Units
) -> tuple[Walk, dict[int, tuple[int, ...]]]:
    """Remove loops of exact states: feasible inverses that no single removal catches."""
    current, dependents = base, dict[int, tuple[int, ...]]()
    while True:
        steps = current.executed
        changing = [position not in units.information for position in steps]
        loop = longest_loop(current.nodes, _open_cuts(steps, units), changing)
        if loop is None:
            return current, dependents
        removed = [p for p in steps[slice(*loop)] if p not in units.information]
        trial = foresight.replay([p for p in steps if p not in removed])
        if not trial.success:
            return current, dependents
        dependents[removed[0]] = tuple(sorted((*removed[1:], *trial.skipped)))
        current = trial


def _open_cuts(steps: Sequence[int], units: Units) -> list[bool]:
    """Say for each boundary around `steps` that no coupled group lies across it."""
    flags = [True] * (len(steps) + 1)
    for group in set(units.group_of.values()):
        inside = [index for index, position in enumerate(steps) if position in group]
        for index in range(inside[0] + 1, inside[-1] + 1) if inside else ():
            flags[index] = False
    return flags


def _script(env: Environment, action: object) -> str:
    """Return the canonical action, "" where there is none."""
    return env.canonical(action) if isinstance(action, str) and action.strip() else ""


def _check_shape(actions: Sequence[str | None], valid: Sequence[bool] | None) -> None:
    if isinstance(actions, str):
        raise UserError("actions is one string; give a list of actions, one text a step")
    if valid is not None and len(valid) != len(actions):
        raise UserError(f"valid has {len(valid)} entries for {len(actions)} actions; give one each")
