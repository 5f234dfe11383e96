"""The JSON lines that ``verify`` wrote, as trajectories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trajevolve.credit.exploration import with_exploration
from trajevolve.credit.units import with_queries
from trajevolve.envs.contract import Environment, Observation, Task
from trajevolve.errors import UserError, one_line
from trajevolve.trajectory import Step, Trajectory, redundancy_ratio, trajectory_reward
from trajevolve.wording import counted


@dataclass(frozen=True)
class Rows:
    """Rows of one file.

    Attributes:
        env: the environment they name, None where they name none or several.
        rows: (line number, row), those with an error left out.
        notes: what was left out.
    """

    env: str | None
    rows: Sequence[tuple[int, dict[str, Any]]]
    notes: tuple[str, ...]

    def trajectories(self, env: Environment | None, notes: list[str]) -> list[Trajectory]:
        """Play the rows in `env` for their texts, or take what they say; adds to `notes`."""
        made, reasons = [], list[str]()
        for number, row in self.rows:
            played = None
            if env is not None:
                try:
                    played = _played(env, env.task(str(row["task"])), row, number)
                except Exception as error:  # the row can still be shown as it is recorded
                    said = str(error) if isinstance(error, UserError) else repr(error)
                    reasons.append(one_line(f"line {number}: {said}"))
            made.append(played or _recorded(row, number))
        if reasons:
            what = counted(len(reasons), "row")
            notes.append(f"{what} shown without observations; {reasons[0]}")
        return made


def read_rows(path: Path) -> Rows:
    """Read a file of ``verify``'s output.

    Raises:
        UserError: a line is no JSON object with task, actions and labels as they should be.
    """
    rows, failed = [], 0
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.strip():
                    continue
                row = _parsed(path, number, line)
                if "error" in row and "success" not in row:
                    failed += 1
                else:
                    _check(path, number, row)
                    rows.append((number, row))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    named = {str(row.get("env", "")) for _, row in rows}
    without = counted(failed, "row")
    notes = (f"{without} with an error instead of labels left out",) if failed else ()
    return Rows(named.pop() or None if len(named) == 1 else None, rows, notes)


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    expected = "expected the JSON lines that `trajevolve verify` writes, a Parquet shard or a run"
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise UserError(f"{path}, line {number}: not JSON; {expected}") from None
    if not isinstance(row, dict):
        raise UserError(f"{path}, line {number}: no object; {expected}")
    return row


def _check(path: Path, number: int, row: dict[str, Any]) -> None:
    actions, labels, dependents = (row.get(key) for key in ("actions", "labels", "dependents"))
    count = len(actions) if isinstance(actions, list) else 0
    problems = {
        '"task": expected a path or id': isinstance(row.get("task"), str | int),
        '"actions": expected a list': isinstance(actions, list),
        '"labels": expected null or 0 or 1 for each action; run `trajevolve verify` on it': "labels"
        in row
        and (labels is None or _is_list(labels, count, lambda y: y in (0, 1))),
        '"dependents": expected null or a list of positions for each action': dependents is None
        or _is_list(
            dependents, count, lambda fallen: _is_list(fallen, None, range(count).__contains__)
        ),
    }
    for problem, fine in problems.items():
        if not fine:
            raise UserError(f"{path}, line {number}: {problem}")


def _is_list(value: object, length: int | None, fits: Any) -> bool:
    return (
        isinstance(value, list)
        and (length is None or len(value) == length)
        and all(fits(member) for member in value)
    )


def _played(env: Environment, task: Task, row: dict[str, Any], number: int) -> Trajectory:
    """Execute the row's actions; those after the end keep the last observation."""
    observation = env.reset(task)
    success, score, over = env.success(), 0.0, False
    steps = []
    for position, said in enumerate(row["actions"]):
        before, reward, valid, ticked = observation, 0.0, False, False
        action = env.canonical(said) if isinstance(said, str) and said.strip() else None
        if action is not None and not (over or success):
            outcome = env.step(action)
            observation, valid, reward = outcome.observation, outcome.feasible, outcome.reward
            success, score, over = outcome.success, outcome.score, outcome.done
            ticked = outcome.costs_step
        step = _step(row, position, action, before, valid, env)
        steps.append(replace(step, reward=reward, costs_step=ticked))
    steps = with_exploration(env, with_queries(env, steps), observation.text)
    return _trajectory(row, number, steps, task, success, score, observation.text)


def _step(
    row: dict[str, Any],
    position: int,
    action: str | None,
    before: Observation,
    valid: bool,
    env: Environment | None,
) -> Step:
    labels, dependents, said = row["labels"], row.get("dependents"), row["actions"][position]
    return Step(
        observation=before.text,
        admissible=before.admissible,
        response=said if isinstance(said, str) else json.dumps(said),
        action=action,
        valid=valid,
        kind=env.kind(action) if env and action else None,
        label=labels[position] if labels else None,
        dependents=tuple(dependents[position]) if dependents else (),
    )


def _recorded(row: dict[str, Any], number: int) -> Trajectory:
    nothing = Observation("", None)
    actions = [said if isinstance(said, str) else None for said in row["actions"]]
    steps = [
        _step(row, position, action, nothing, action is not None, None)
        for position, action in enumerate(actions)
    ]
    ref = str(row["task"])
    unknown = Task(id=ref, env="", type="", text=ref, digest="")
    success = bool(row.get("success"))
    return _trajectory(row, number, steps, unknown, success, float(success), "")


def _trajectory(
    row: dict[str, Any],
    number: int,
    steps: Sequence[Step],
    task: Task,
    success: bool,
    score: float,
    final: str,
) -> Trajectory:
    made = Trajectory(
        id=f"row-{number}",
        task_id=task.id,
        task_type=task.type,
        task=task.text,
        seed=0,
        steps=tuple(steps),
        success=success,
        score=score,
        reward=trajectory_reward(success, sum(not step.valid for step in steps)),
        termination="success" if success else "recording",
        final_observation=final,
        verified=row["labels"] is not None,
        minimal=_survivors(row, steps),
    )
    return replace(made, rho=redundancy_ratio(made))


def _survivors(row: dict[str, Any], steps: Sequence[Step]) -> tuple[int, ...]:
    """Find the positions of the surviving actions: labelled necessary where that is possible."""
    wanted = row.get("minimal")
    if not isinstance(wanted, list):
        return ()
    for pool in ([t for t, step in enumerate(steps) if step.label != 0], range(len(steps))):
        found, rest = [], iter(pool)
        for action in wanted:
            position = next((t for t in rest if steps[t].action == action), None)
            if position is None:
                break
            found.append(position)
        else:
            return tuple(found)
    return ()
