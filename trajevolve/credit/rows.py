"""Verification of recorded trajectories of any agent, one object a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from trajevolve.credit.replay import ReplayError
from trajevolve.credit.verification import Mode, Order, Verification, check_options, verify
from trajevolve.envs.contract import Environment, Task
from trajevolve.errors import UserError, one_line
from trajevolve.formats.records import Record, read_line, type_name


@dataclass(frozen=True)
class VerifiedRow:
    """What became of one record.

    Attributes:
        row: what :func:`verify_rows` yields.
        task: the task it was replayed in; None where the record is an error.
    """

    row: dict[str, Any]
    task: Task | None = None


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
    action that cannot be executed, or null (an answer without one), is an invalid step, not an
    error; anything else that is no text is one. There is no step limit. A row that cannot be read
    or run becomes ``{"error": "line N: ..."}``; the others are not affected. Lines may be
    undecoded bytes: one that is not UTF-8 is a bad row.

    Raises:
        UserError: `mode` or `order` is unknown.
    """
    records = (
        read_line(number, line) for number, line in enumerate(lines, start=1) if line.strip()
    )
    for verified in verify_records(records, env, mode=mode, order=order, loop_prepass=loop_prepass):
        yield verified.row


def verify_records(
    records: Iterable[Record],
    env: Environment,
    *,
    mode: Mode = "cumulative",
    order: Order = "backward",
    loop_prepass: bool | None = None,
    beside: Sequence[Environment] = (),
) -> Iterator[VerifiedRow]:
    """Do as :func:`verify_rows` with records that are read already.

    Args:
        records: what was read.
        env: the environment.
        mode: see :func:`trajevolve.verify`.
        order: likewise.
        loop_prepass: likewise.
        beside: likewise.

    Raises:
        UserError: `mode` or `order` is unknown.
    """
    check_options(mode, order)
    replays = partial(verify, env, mode=mode, order=order, loop_prepass=loop_prepass, beside=beside)
    tasks: dict[str, Task] = {}
    for record in records:
        try:
            if record.content is None:
                raise UserError(record.error)
            _check(record.content)
            task = _task(env, record.content["task"], tasks)
            row = _verify_row(env, task, record.content, replays)
            verified = VerifiedRow(row, task)
        except (UserError, ReplayError) as error:
            verified = VerifiedRow({"error": one_line(f"{record.place}: {error}")})
        except Exception as error:  # an environment that fails on one row must not lose the rest
            text = f"{record.place}: the environment failed: {type(error).__name__}: {error}"
            verified = VerifiedRow({"error": one_line(text)})
        yield verified


def _verify_row(
    env: Environment,
    task: Task,
    row: dict[str, Any],
    replays: Callable[[Task, Sequence[str | None]], Verification],
) -> dict[str, Any]:
    actions = row["actions"]
    result = replays(task, actions)
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


def _check(row: dict[str, Any]) -> None:
    for key in ("task", "actions"):
        if key not in row:
            raise UserError(f'"{key}" is missing; expected {{"task": ..., "actions": [...]}}')
    if not isinstance(row["actions"], list):
        raise UserError(f'"actions": expected a list of texts, got {type_name(row["actions"])}')
    for position, action in enumerate(row["actions"]):
        if action is not None and not isinstance(action, str):
            raise UserError(
                f'"actions"[{position}]: expected a list of texts (null: an answer without an '
                f"action), got {type_name(action)}"
            )


def _task(env: Environment, ref: object, tasks: dict[str, Task]) -> Task:
    """Look a task up once; a goal number may be written without quotes."""
    if isinstance(ref, int) and not isinstance(ref, bool):
        ref = str(ref)
    if not isinstance(ref, str) or not ref:
        raise UserError(f'"task": expected a path or id as text, got {type_name(ref)}')
    if ref not in tasks:
        tasks[ref] = env.task(ref)
    return tasks[ref]
