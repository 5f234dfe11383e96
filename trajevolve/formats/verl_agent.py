"""Step records of a rollout in the manner of verl-agent: one record a step, not a trajectory.

Such a rollout makes a fresh prompt for every step, so that a record holds one prompt, one answer
and the identity of the trajectory it is a step of, e.g. ``{"traj_uid": ..., "extra.gamefile":
..., "response": "<think>...</think><action>go to shelf 1</action>"}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trajevolve.agent.parse import parse_response
from trajevolve.errors import UserError
from trajevolve.formats.actions import whole_action
from trajevolve.formats.records import Record, type_name
from trajevolve.formats.task import task_reference

TRAJECTORY = ("traj_uid", "trajectory_id", "traj_id", "episode_id")
ANSWER = ("response", "output", "text_action", "action")
STEP = ("step_id", "step_index", "step_idx", "turn", "turn_idx", "step")
ACTIVE = ("active_masks", "active_mask")
EXPECTED = f"one record a step with {'|'.join(TRAJECTORY)} and {'|'.join(ANSWER)}"


@dataclass
class _Episode:
    """Steps of one trajectory in file order."""

    unit: str
    numbers: list[int] = field(default_factory=list)
    places: list[int | None] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    actions: list[str | None] = field(default_factory=list)
    error: str = ""


def fits(record: Mapping[str, Any]) -> bool:
    """Say whether `record` looks like a step."""
    known = _first(record, TRAJECTORY) is not None and _first(record, ANSWER) is not None
    return known and "actions" not in record


def convert(records: Iterable[Record], task_key: str | None = None) -> Iterator[Record]:
    """Gather steps into rows ``task``, ``actions``, ``trajectory`` and ``steps``.

    Trajectories come in the order of their first steps; ``steps`` holds the 1-based line or item
    of each action. Records that are marked inactive (``active_masks``) are no steps. Steps are in
    the order of their step numbers where these differ, which then have to be complete, else in
    the file's. A record that cannot be read may be a step of any trajectory around it: those that
    begin before or right after it and go on to it or beyond become errors with it.
    """
    episodes: dict[str, _Episode] = {}
    answers: dict[int, Record | str] = {}
    damaged: list[Record] = []
    for record in records:
        try:
            if record.content is None:
                raise UserError(record.error)
            name = _add(record, record.content, episodes, task_key)
            if name:
                answers[record.number] = name
        except UserError as error:
            bad = Record(record.number, None, str(error), record.unit)
            answers[record.number] = bad
            damaged.append(bad)
    for answer in answers.values():
        yield answer if isinstance(answer, Record) else _row(answer, episodes[answer], damaged)


def _add(
    record: Record, content: dict[str, Any], episodes: dict[str, _Episode], task_key: str | None
) -> str:
    """Add a step to its trajectory; return the trajectory's name where it is a new one."""
    name, answer = _first(content, TRAJECTORY), _first(content, ANSWER)
    if name is None or answer is None:
        raise UserError(f"no step; expected {EXPECTED}")
    if not isinstance(content[answer], str):
        raise UserError(f'"{answer}": expected text, got {type_name(content[answer])}')
    active = _first(content, ACTIVE)
    if active is not None and not content[active]:
        return ""
    identity = str(content[name])
    is_new = identity not in episodes
    episode = episodes.setdefault(identity, _Episode(record.unit))
    try:
        episode.tasks.append(task_reference(content, task_key))
    except UserError as error:
        episode.error = episode.error or str(error)
    step = _first(content, STEP)
    number = content[step] if step else None
    episode.places.append(number if isinstance(number, int) else None)
    episode.numbers.append(record.number)
    episode.actions.append(_action(content[answer], answer))
    return identity if is_new else ""


def _action(text: str, key: str) -> str | None:
    """Return what such a rollout executes: without tags the end of the answer, as it is."""
    tagged = parse_response("<think></think>" + text).action
    if tagged is not None:
        return tagged
    if key == "action":
        return whole_action(text)
    return whole_action(parse_response(text, compatibility="verl_agent_compat").fallback)


def _row(name: str, episode: _Episode, damaged: list[Record]) -> Record:
    first, last = min(episode.numbers), max(episode.numbers)
    try:
        for bad in damaged:
            if first - 1 <= bad.number <= last + 1:
                raise UserError(f"{bad.place} cannot be read and may be a step of it")
        if episode.error:
            raise UserError(episode.error)
        if len(set(episode.tasks)) > 1:
            raise UserError(f"its steps name {len(set(episode.tasks))} different tasks")
        order = _order(episode.places)
    except UserError as error:
        return Record(first, None, f"trajectory {name!r}: {error}", episode.unit)
    row = {
        "task": episode.tasks[0],
        "actions": [episode.actions[index] for index in order],
        "trajectory": name,
        "steps": [episode.numbers[index] for index in order],
    }
    return Record(first, row, unit=episode.unit)


def _order(places: list[int | None]) -> list[int]:
    """Return the order of the steps; a number that is the same in all is the trainer's."""
    known = [place for place in places if place is not None]
    if len(known) < len(places) or len(set(known)) == 1:
        return list(range(len(places)))
    start = min(known)
    if start not in (0, 1) or sorted(known) != list(range(start, start + len(known))):
        raise UserError(
            f"its step numbers are not complete: {len(known)} steps from {start} to {max(known)}"
        )
    return sorted(range(len(known)), key=known.__getitem__)


def _first(record: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((key for key in keys if record.get(key) is not None), None)
