"""Verification of recorded trajectories of any agent, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from trajevolve.credit.replay import ReplayError
from trajevolve.credit.verification import Mode, Order, check_options, verify
from trajevolve.envs.contract import Environment, Task
from trajevolve.errors import UserError, one_line


def verify_rows(
    lines: Iterable[str | bytes],
    env: Environment,
    *,
    mode: Mode = "cumulative",
    order: Order = "backward",
    loop_prepass: bool | None = None,
) -> Iterator[dict[str, Any]]:
    """Verify JSON lines of ``{"task": PATH-OR-ID, "actions": [...]}``.

    Yields one object for each non-blank line, in order: the row with ``env``, ``success``,
    ``labels`` (0 or 1 a step), ``dependents`` (0-based indices, a list a step), ``minimal`` (the
    surviving actions, in the environment's standard form) and ``transitions``. A trajectory that
    does not succeed has ``"success": false`` and null for labels, dependents and minimal. An
    action that cannot be executed, or is no text, is an invalid step, not an error. There is
    no step limit. A row that cannot be read or run becomes ``{"error": "line N: ..."}``; the
    others are not affected. Lines may be undecoded bytes: one that is not UTF-8 is a bad row.

    Raises:
        UserError: `mode` or `order` is unknown.
    """
    check_options(mode, order)
    tasks: dict[str, Task] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = _read(line)
            task = _task(env, row["task"], tasks)
            result = _verify_row(env, task, row, mode, order, loop_prepass)
        except (UserError, ReplayError) as error:
            result = {"error": one_line(f"line {number}: {error}")}
        except Exception as error:  # an environment that fails on one row must not lose the rest
            text = f"line {number}: the environment failed: {type(error).__name__}: {error}"
            result = {"error": one_line(text)}
        yield result


def _verify_row(
    env: Environment,
    task: Task,
    row: dict[str, Any],
    mode: Mode,
    order: Order,
    loop_prepass: bool | None,
) -> dict[str, Any]:
    actions = row["actions"]
    result = verify(env, task, actions, mode=mode, order=order, loop_prepass=loop_prepass)
    labelled = result.labels is not None
    return {
        **row,
        "env": env.spec.name,
        "success": result.success,
        "labels": list(result.labels) if result.labels is not None else None,
        "dependents": [list(fallen) for fallen in result.dependents] if labelled else None,
        "minimal": [env.canonical(actions[t]) for t in result.minimal] if labelled else None,
        "transitions": result.transitions,
    }


def _read(line: str | bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
        json.dumps(row, allow_nan=False)  # it comes back, so it has to be writable too
    except json.JSONDecodeError as error:
        where = f"{error.msg} at column {error.colno}"
        raise UserError(f"not valid JSON, {where}; expected one object a line") from None
    except ValueError as error:  # no text, NaN or infinity, numbers too long to read
        raise UserError(f"not valid JSON, {error}; expected one object a line") from None
    except RecursionError:
        raise UserError("JSON nested too deeply; expected one flat object a line") from None
    if not isinstance(row, dict):
        raise UserError(f'expected an object {{"task": ..., "actions": [...]}}, got {_name(row)}')
    for key in ("task", "actions"):
        if key not in row:
            raise UserError(f'"{key}" is missing; expected {{"task": ..., "actions": [...]}}')
    if not isinstance(row["actions"], list):
        raise UserError(f'"actions": expected a list of texts, got {_name(row["actions"])}')
    return row


def _task(env: Environment, ref: object, tasks: dict[str, Task]) -> Task:
    """Look a task up once; a goal number may be written without quotes."""
    if isinstance(ref, int) and not isinstance(ref, bool):
        ref = str(ref)
    if not isinstance(ref, str) or not ref:
        raise UserError(f'"task": expected a path or id as text, got {_name(ref)}')
    if ref not in tasks:
        tasks[ref] = env.task(ref)
    return tasks[ref]


def _name(value: object) -> str:
    """Name a JSON value's type in JSON's words."""
    if value == "":
        return "an empty text"
    names = {"dict": "an object", "list": "a list", "str": "text", "NoneType": "null"}
    return names.get(type(value).__name__, repr(value))
