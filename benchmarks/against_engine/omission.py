"""Hindsight verification written a second time, from the paper, over a bare machine.

Nothing here comes from ``trajevolve.credit``. Every question is answered by executing actions from
the start; nothing is remembered (paper §3.2, Propositions 3.4, 3.6 and 3.7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from against_engine.machines import Downward, Machine

QUERIES = ("look", "inventory", "examine", "help")


@dataclass(frozen=True)
class Replay:
    """What executing some positions came to.

    Attributes:
        success: V.
        executed: positions executed, in order.
        fallen: positions infeasible in their state or not reached: D(t) when t was left out.
    """

    success: bool
    executed: list[int]
    fallen: list[int]


@dataclass
class Labels:
    """Labels of one trajectory.

    Attributes:
        labels: y_t.
        executed: positions that could be executed in the original.
        dependents: D(t) at the last trial of t; empty where t was not tried.
        survivors: positions that are left, in order (cumulative mode).
        succeeds_without: per step, whether the trajectory without it succeeds; None for steps
            that are not tried: invalid ones and queries (independent mode).
    """

    labels: list[int]
    executed: list[int]
    dependents: list[list[int]]
    survivors: list[int] = field(default_factory=list)
    succeeds_without: list[bool | None] = field(default_factory=list)


def replay(machine: Machine, actions: Sequence[str], positions: Sequence[int]) -> Replay:
    """Execute the actions at `positions` from the start, leaving out what cannot be executed."""
    machine.start()
    executed: list[int] = []
    for position in positions:
        if machine.do(actions[position]):
            executed.append(position)
            if machine.solved():
                return Replay(True, executed, [p for p in positions if p not in executed])
    return Replay(False, executed, [p for p in positions if p not in executed])


def is_query(action: str) -> bool:
    """The action only asks; its label is 1 by default."""
    return action.split(" ")[0] in QUERIES


def independent(machine: Machine, actions: Sequence[str]) -> Labels | None:
    """Label as the paper does, with a replay for every step; None when the base does not succeed.

    Steps whose label is 0 already are replayed too, for ``succeeds_without``; they add nothing to
    the labels.
    """
    base = replay(machine, actions, range(len(actions)))
    if not base.success:
        return None
    necessary = set(base.executed)
    dependents: list[list[int]] = [[] for _ in actions]
    outcomes: list[bool | None] = [None] * len(actions)
    for t in base.executed:
        if is_query(actions[t]):
            continue
        trial = replay(machine, actions, [p for p in base.executed if p != t])
        outcomes[t] = trial.success
        if t in necessary:
            dependents[t] = trial.fallen
            if trial.success:
                necessary -= {t, *trial.fallen}
    return Labels(_labels(actions, base, necessary), base.executed, dependents, [], outcomes)


def cumulative(machine: Machine, actions: Sequence[str], loops: bool) -> Labels | None:
    """Label backwards, each time from what the last successful replay executed.

    Args:
        machine: runs the actions; with `loops` it has to tell equal states.
        actions: the trajectory.
        loops: remove loops of equal states first, longest first.
    """
    base = replay(machine, actions, range(len(actions)))
    if not base.success:
        return None
    current = base.executed
    dependents: list[list[int]] = [[] for _ in actions]
    if loops:
        assert isinstance(machine, Downward)
        current = _without_loops(machine, actions, current, dependents)
    shrinking = True
    while shrinking:
        shrinking = False
        for t in reversed(range(len(actions))):
            if t not in current or is_query(actions[t]):
                continue
            trial = replay(machine, actions, [p for p in current if p != t])
            dependents[t] = trial.fallen
            if trial.success:
                current, shrinking = trial.executed, True
                for p in trial.fallen:
                    dependents[p] = []
    return Labels(_labels(actions, base, set(current)), base.executed, dependents, current)


def _labels(actions: Sequence[str], base: Replay, necessary: set[int]) -> list[int]:
    return [
        int(p in necessary or (p in base.executed and is_query(action)))
        for p, action in enumerate(actions)
    ]


def _without_loops(
    machine: Downward, actions: Sequence[str], current: list[int], dependents: list[list[int]]
) -> list[int]:
    """Remove the longest stretch between equal states, the leftmost of equals, while there is one.

    Queries in a stretch stay where they are; a stretch of queries alone is none.
    """
    while True:
        states = _states(machine, actions, current)
        stretches = [
            (i, j)
            for i in range(len(states))
            for j in range(i + 1, len(states))
            if states[i] == states[j] and not all(is_query(actions[p]) for p in current[i:j])
        ]
        if not stretches:
            return current
        i, j = max(stretches, key=lambda ends: (ends[1] - ends[0], -ends[0]))
        removed = [p for p in current[i:j] if not is_query(actions[p])]
        trial = replay(machine, actions, [p for p in current if p not in removed])
        if not trial.success:
            return current
        dependents[removed[0]] = sorted([*removed[1:], *trial.fallen])
        current = trial.executed


def _states(
    machine: Downward, actions: Sequence[str], positions: Sequence[int]
) -> list[frozenset[str]]:
    machine.start()
    states = [machine.state()]
    for position in positions:
        machine.do(actions[position])
        states.append(machine.state())
    return states
