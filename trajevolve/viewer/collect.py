"""From trajectories and their evidence to the plain document that the page embeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from trajevolve.deadline import Deadline
from trajevolve.envs.contract import Kind, Task
from trajevolve.errors import UserError
from trajevolve.problems import reason_of
from trajevolve.trajectory import Step, Trajectory
from trajevolve.viewer.evidence import Counterfactual, Evidence, Wanted, answer, gather
from trajevolve.viewer.source import Source

DOCUMENT_VERSION = 1
LONGEST_REPLAY_S = 120.0
"""Wall seconds for the evidence of one trajectory."""

Progress = Callable[[int, int], None]
KINDS = {None: 0, Kind.CHANGING: 1, Kind.INFORMATION: 2}


class Strings:
    """Texts by number: an observation that a thousand steps share is embedded once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of `text`."""
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


def limited(source: Source, limit: int) -> Source:
    """Keep the first `limit` trajectories and note how many there were."""
    total = len(source.trajectories)
    if total <= limit:
        return source
    note = f"{limit:,} of {total:,} trajectories are shown; raise --limit or choose an --iteration"
    return replace(source, trajectories=source.trajectories[:limit], notes=(note, *source.notes))


def gather_evidence(
    source: Source, wanted: Wanted, progress: Progress | None = None
) -> dict[str, Evidence]:
    """Replay every verified trajectory; whatever fails costs that one its evidence.

    Returns:
        trajectory id -> evidence, for the verified ones; none where nothing can be replayed.
    """
    environment = source.environment
    if environment is None or wanted == "none":
        return {}
    verified = [trajectory for trajectory in source.trajectories if trajectory.verified]
    verified.sort(key=lambda trajectory: trajectory.task_id)  # so that each task is made once
    found: dict[str, Evidence] = {}
    task: Task | None = None

    def replay(trajectory: Trajectory) -> Evidence:
        nonlocal task
        if task is None or task.id != trajectory.task_id:
            task = environment.task(trajectory.task_id)
        return gather(environment, task, trajectory, wanted)

    with Deadline(LONGEST_REPLAY_S) as deadline:
        for done, trajectory in enumerate(verified):
            if progress:
                progress(done, len(verified))
            try:
                evidence = deadline.within(partial(replay, trajectory))
            except UserError as error:
                evidence = Evidence(problem=str(error))
            except Exception as error:  # whatever an environment does, the others are shown
                evidence = Evidence(problem=reason_of(error))
            found[trajectory.id] = evidence
    return found


def document(source: Source, evidence: Mapping[str, Evidence], wanted: Wanted) -> dict[str, Any]:
    """Make the document: plain data for JSON, texts as numbers into ``strings``.

    Args:
        source: what is shown.
        evidence: by trajectory, of :func:`gather_evidence`.
        wanted: which evidence was asked for.
    """
    strings = Strings()
    by_id = {trajectory.id: trajectory for trajectory in source.trajectories}
    env = source.environment
    return {
        "version": DOCUMENT_VERSION,
        "name": source.name,
        "env": env.spec.name if env else "",
        "evidence": wanted,
        "notes": list(source.notes),
        "trajectories": [
            {
                **_trajectory(trajectory, strings, by_id),
                "iteration": source.iterations.get(trajectory.id),
                **_evidence(trajectory, evidence.get(trajectory.id), strings),
            }
            for trajectory in source.trajectories
        ],
        "strings": strings.texts,
    }


def _trajectory(
    trajectory: Trajectory, strings: Strings, by_id: Mapping[str, Trajectory]
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": trajectory.id,
        "taskId": trajectory.task_id,
        "type": trajectory.task_type,
        "task": strings.number(trajectory.task),
        "success": trajectory.success,
        "score": _number(trajectory.score),
        "reward": _number(trajectory.reward),
        "shaped": _number(trajectory.shaped_reward),
        "advantage": _number(trajectory.episode_advantage),
        "rho": _number(trajectory.rho),
        "verified": trajectory.verified,
        "minimal": list(trajectory.minimal),
        "termination": trajectory.termination,
        "final": strings.number(trajectory.final_observation),
        "steps": [_step(step, strings) for step in trajectory.steps],
    }
    evolution = trajectory.evolution
    if evolution is not None:
        parent = by_id.get(evolution.parent_id)
        made["evolution"] = {
            "parent": evolution.parent_id,
            "strategy": evolution.strategy,
            "at": evolution.t_err,
            "stepsBefore": evolution.steps_before,
            "rewardBefore": _number(evolution.reward_before),
            "accepted": evolution.accepted,
            "reason": evolution.reason,
            "kept": _kept(trajectory, parent),
        }
    return made


def _kept(child: Trajectory, parent: Trajectory | None) -> int:
    """Count the leading steps that were recorded and not sampled for this child.

    A recorded response has no sampler's log-probabilities. A backend that gives none at all
    leaves the comparison with the parent.
    """
    if child.evolution and child.evolution.strategy == "elimination":
        return len(child)
    if parent is None or not any(step.sampler_logprobs for step in parent.steps):
        pairs = zip(child.steps, parent.steps if parent else (), strict=False)
        return _leading(mine.action == theirs.action for mine, theirs in pairs)
    return _leading(not step.sampler_logprobs for step in child.steps)


def _leading(flags: Iterable[bool]) -> int:
    count = 0
    for flag in flags:
        if not flag:
            break
        count += 1
    return count


def _step(step: Step, strings: Strings) -> list[Any]:
    """Write a step as a row; the page's ``decodeStep`` names the columns."""
    same = step.response.strip() == (step.action or "").strip()
    return [
        strings.number(step.observation),
        None if step.action is None else strings.number(step.action),
        None if same else strings.number(step.response),
        strings.number(step.thought) if step.thought else None,
        int(step.valid),
        KINDS[step.kind],
        step.label,
        step.predicted,
        _number(step.probability),
        _number(step.reward),
        _number(step.advantage),
        _number(step.step_advantage),
        list(step.dependents),
        step.truncated_tokens,
        int(step.exploring),
    ]


def _evidence(
    trajectory: Trajectory, evidence: Evidence | None, strings: Strings
) -> dict[str, Any]:
    if evidence is None:
        return {}
    if evidence.problem:
        return {"problem": evidence.problem}
    replays = {
        str(position): _counterfactual(trajectory, found, strings)
        for position, found in evidence.counterfactuals.items()
    }
    return {"reached": evidence.reached, "replays": replays}


def _counterfactual(
    trajectory: Trajectory, found: Counterfactual, strings: Strings
) -> dict[str, Any]:
    """Write a replay; answers equal to the original's are left out."""
    return {
        "basis": found.basis,
        "omitted": list(found.omitted),
        "success": found.success,
        "confirms": found.confirms,
        "fallen": list(found.fallen),
        "unreached": list(found.unreached),
        "partsAt": found.parts_at,
        "answers": {
            str(position): strings.number(text)
            for position, text in found.answers.items()
            if text != answer(trajectory, position)
        },
    }


def _number(value: float | None) -> float | None:
    """Round to four places; JSON has no NaN and no infinity."""
    return None if value is None or not math.isfinite(value) else round(value, 4)
