"""Which task a recorded trajectory is of, where tools write it in different places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajevolve.errors import UserError
from trajevolve.formats.records import type_name

KEYS = ("game_file", "gamefile", "extra.gamefile", "game", "task_id", "item_id", "id", "task")
"""Looked at in this order: a game's file says most, ``task`` is often a sentence."""

INSIDE = ("meta", "metadata", "info", "extra", "extra_info")
"""Objects of a record that are looked into when the record itself has none of the keys."""


def task_reference(record: Mapping[str, Any], key: str | None = None) -> str:
    """Return the task of `record`: a path or an id as text.

    `key` names where it stands, dots lead into objects. Without it, the first of :data:`KEYS` in
    the record, then in its :data:`INSIDE` objects. A bare number counts as an id, except under
    ``id``, where it usually numbers the rows.

    Raises:
        UserError: there is none.
    """
    if key is not None:
        value = _lookup(record, key)
        if not _is_reference(value):
            expected = f"--task-key {key}: expected a path or id there"
            raise UserError(f"{expected}, got {type_name(value)}")
        return str(value)
    inner = [record[name] for name in INSIDE if isinstance(record.get(name), Mapping)]
    for place in (record, *inner):
        for name in KEYS:
            value = _lookup(place, name)
            if _is_reference(value) and not (name == "id" and isinstance(value, int)):
                return str(value)
    raise UserError(
        f"names no task: none of {', '.join(KEYS)} holds a path or id; "
        "say with --task-key where it stands"
    )


def _lookup(record: Mapping[str, Any], key: str) -> object:
    """Follow `key`; a key that has dots in its own name comes first."""
    if key in record:
        return record[key]
    value: object = record
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _is_reference(value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int) and not isinstance(value, bool)
