"""What is left out together: single steps, and the groups an environment declares coupled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from trajevolve.envs.contract import Environment, Kind
from trajevolve.trajectory import Step

Unit = tuple[int, ...]
"""Positions of steps that are left out together, ascending."""


@dataclass(frozen=True)
class Units:
    """The executed steps of a trajectory, cut into units.

    Attributes:
        changing: the units that verification tries to remove, in order of their first step.
        information: positions that only query; their label is 1 by default.
        group_of: the coupled group of each position that is in one.
    """

    changing: tuple[Unit, ...]
    information: frozenset[int]
    group_of: Mapping[int, Unit]


def cut(env: Environment, positions: Sequence[int], actions: Sequence[str]) -> Units:
    """Cut the executed `positions` of a trajectory into units.

    A coupled group with an information action in it is an information unit as a whole, whatever
    the verbs of the others: a WebShop tab and the ``< Prev`` that leaves it.

    Args:
        env: declares kinds and coupling.
        positions: 0-based positions of the executed steps, ascending.
        actions: all actions of the trajectory, indexed by position.
    """
    kinds = {position: env.kind(actions[position]) for position in positions}
    group_of: dict[int, tuple[int, ...]] = {}
    for members in env.coupled([actions[position] for position in positions]):
        group = tuple(sorted(positions[member] for member in members))
        if len(group) > 1:
            group_of.update(dict.fromkeys(group, group))
    changing: list[tuple[int, ...]] = []
    information: set[int] = set()
    for position in positions:
        unit = group_of.get(position, (position,))
        if position != unit[0]:
            continue
        if any(kinds[member] == Kind.INFORMATION for member in unit):
            information.update(unit)
        else:
            changing.append(unit)
    return Units(tuple(changing), frozenset(information), group_of)


def with_queries(env: Environment, steps: Sequence[Step]) -> list[Step]:
    """Return `steps`, those of coupled queries being information whatever their verbs.

    By itself the click that leaves a tab is a move like any other. Coupled with the tab it is a
    part of looking, and its label is a default that must earn nothing (paper §3.3).
    """
    executed = [n for n, step in enumerate(steps) if step.executed]
    queries: set[int] = set()
    for members in env.coupled([steps[n].action or "" for n in executed]):
        group = [executed[member] for member in members]
        if any(steps[n].is_information for n in group):
            queries.update(group)
    return [
        replace(step, kind=Kind.INFORMATION) if n in queries else step
        for n, step in enumerate(steps)
    ]
