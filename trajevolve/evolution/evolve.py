"""Trajectory evolution (paper §3.4): plan the episodes, then accept what came of them.

Between the two the rollout re-executes every planned episode in the real environment and
verification labels it like any other, so nothing here invents an observation or a reward.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar, get_args

from trajevolve.config import EvolutionConfig, RunConfig
from trajevolve.credit.oracle import Distance
from trajevolve.deadline import Deadline
from trajevolve.envs.contract import Environment, Task
from trajevolve.errors import UserError
from trajevolve.evolution.correction import correct, first_invalid
from trajevolve.evolution.elimination import eliminate
from trajevolve.evolution.recording import Recording
from trajevolve.evolution.rollback import error_step, oracle_error_step, roll_back
from trajevolve.evolution.selection import Candidate, Locate, select
from trajevolve.problems import reason_of
from trajevolve.rollout import Episode
from trajevolve.seeds import derive_seed
from trajevolve.trajectory import Evolution, Group, Strategy, Trajectory

Result = TypeVar("Result")


@dataclass(frozen=True)
class Plan:
    """What evolution is about to play.

    Attributes:
        episodes: one for each parent selected.
        given_up: one record for each parent in whose replay the environment failed; none of them
            is played.
    """

    episodes: list[Episode]
    given_up: list[EvolutionRecord]


def check_oracle(config: RunConfig, distance: Distance | None) -> None:
    """Raise UserError where ``evolution.oracle_rollback`` is on and there is no distance."""
    if config.evolution.oracle_rollback and distance is None:
        raise UserError(
            f"evolution.oracle_rollback: environment {config.env.name!r} computes no plan "
            "distances; set it to false"
        )


def plan_evolution(
    groups: Sequence[Group],
    tasks_by_id: Mapping[str, Task],
    env: Environment,
    config: RunConfig,
    iteration: int,
    *,
    answer: Callable[[str], str],
    distance: Distance | None = None,
) -> Plan:
    """Select parents in each group and lay out the episode that evolves each of them.

    A parent in whose replay the environment raises, or takes longer than ``env.step_timeout_s``
    for one answer, is given up; the others are evolved. That goes for a UserError too: parents
    were played before, so no input is wrong there, and an environment may call an episode lost so.

    Args:
        groups: labelled groups: successes verified, failures with predictions.
        tasks_by_id: the task instance of every group.
        env: an environment to replay parents in while planning.
        config: the run's configuration; ``evolution`` decides what is built.
        iteration: part of every seed.
        answer: writes the response text of a corrected action (``Agent.answer``).
        distance: shortest-plan distance, needed by ``evolution.oracle_rollback`` only.

    Raises:
        UserError: ``oracle_rollback`` is on and no distance was given.
    """
    settings = config.evolution
    check_oracle(config, distance)
    by_oracle = settings.oracle_rollback and "rollback" in settings.strategies
    episodes = []
    with Deadline(config.env.step_timeout_s) as deadline:
        replays = _Replays(env, deadline)
        for group in groups:
            task = tasks_by_id[group.task_id]
            locate: Locate = error_step
            if by_oracle and distance is not None:
                locate = partial(replays.error_step, task=task, distance=distance)
            for candidate in select(group, settings.per_group, settings.strategies, locate):
                recording = _build(candidate, task, replays, answer, settings.min_similarity)
                if recording is not None:
                    episodes.append(_episode(candidate, recording, task, config.seed, iteration))
    return Plan(episodes, replays.given_up)


@dataclass(frozen=True)
class EvolutionRecord:
    """One evolved trajectory beside its parent: the line of the run's evolution table.

    Attributes:
        id: the evolved trajectory.
        parent_id: its parent.
        task_id: their task instance.
        strategy: which of the three built it.
        t_err: 0-based position corrected or rolled back, None for elimination.
        steps_before: T of the parent.
        steps_after: T of the child; 0 where it could not be laid out.
        reward_before: R of the parent.
        reward_after: R of the child; 0 where it could not be laid out.
        success: the child solved the task.
        accepted: it takes part in the update.
        reason: why not, "" if it does.
    """

    id: str
    parent_id: str
    task_id: str
    strategy: Strategy
    t_err: int | None
    steps_before: int
    steps_after: int
    reward_before: float
    reward_after: float
    success: bool
    accepted: bool
    reason: str


@dataclass(frozen=True)
class Acceptance:
    """What evolution changed.

    Attributes:
        groups: the groups with their accepted children, in the order given.
        evolved: every child, ``evolution.accepted`` and ``evolution.reason`` filled in.
        records: one per child, in the same order.
        metrics: per strategy how many were attempted, succeeded and are used.
    """

    groups: list[Group]
    evolved: list[Trajectory]
    records: list[EvolutionRecord]
    metrics: dict[str, float]


def accept(
    groups: Sequence[Group], evolved: Sequence[Trajectory], config: EvolutionConfig
) -> Acceptance:
    """Decide which evolved trajectories take part in the update, and add them to their groups.

    A child is used when it solved the task and differs from its parent; ``keep_failed`` drops
    both conditions. Of children of one group with equal actions the first is used.
    ``membership`` says whether children enlarge the group to N + m or take their parent's place.
    """
    parents = {member.id: member for group in groups for member in group.sampled}
    seen: set[tuple[str, tuple[str | None, ...]]] = set()
    judged = []
    for child in evolved:
        key = child.task_id, child.actions
        reason = _refusal(child, parents, key in seen, config.keep_failed)
        if not reason:
            seen.add(key)
        provenance = replace(_provenance(child), accepted=not reason, reason=reason)
        judged.append(replace(child, evolution=provenance))
    return Acceptance(
        [_with_children(group, judged, config.membership) for group in groups],
        judged,
        [_record(child) for child in judged],
        _metrics(judged),
    )


class _Replays:
    """Replays parents in one environment, and gives up those in which it fails."""

    def __init__(self, env: Environment, deadline: Deadline) -> None:
        self._env = env
        self._deadline = deadline
        self.given_up: list[EvolutionRecord] = []

    def error_step(self, parent: Trajectory, task: Task, distance: Distance) -> int | None:
        """Find t_err by :func:`oracle_error_step`."""
        replay = partial(oracle_error_step, parent, task, self._env, distance, self._deadline)
        return self._attempt(replay, parent, "rollback", None)

    def correct(
        self, parent: Trajectory, task: Task, answer: Callable[[str], str], min_similarity: float
    ) -> Recording | None:
        """Plan by :func:`correct`."""
        replay = partial(correct, parent, task, self._env, answer, min_similarity, self._deadline)
        return self._attempt(replay, parent, "correction", first_invalid(parent))

    def _attempt(
        self,
        replay: Callable[[], Result],
        parent: Trajectory,
        strategy: Strategy,
        t_err: int | None,
    ) -> Result | None:
        try:
            return replay()
        except Exception as error:  # whatever an environment does, the others are evolved
            record = EvolutionRecord(
                id=_child_id(parent, strategy),
                parent_id=parent.id,
                task_id=parent.task_id,
                strategy=strategy,
                t_err=t_err,
                steps_before=len(parent),
                steps_after=0,
                reward_before=parent.reward,
                reward_after=0.0,
                success=False,
                accepted=False,
                reason=f"replay failed: {reason_of(error)}",
            )
            self.given_up.append(record)
            return None


def _build(
    candidate: Candidate,
    task: Task,
    replays: _Replays,
    answer: Callable[[str], str],
    min_similarity: float,
) -> Recording | None:
    if candidate.strategy == "elimination":
        return eliminate(candidate.parent)
    if candidate.strategy == "correction":
        return replays.correct(candidate.parent, task, answer, min_similarity)
    if candidate.t_err is None:
        raise ValueError(f"{candidate.parent.id}: rollback without t_err")
    return roll_back(candidate.parent, candidate.t_err)


def _child_id(parent: Trajectory, strategy: Strategy) -> str:
    return f"{parent.id}+{strategy}"


def _episode(
    candidate: Candidate, recording: Recording, task: Task, seed: int, iteration: int
) -> Episode:
    parent = candidate.parent
    return Episode(
        id=_child_id(parent, candidate.strategy),
        task=task,
        seed=derive_seed(seed, "evolution", iteration, parent.id),
        kept=recording.kept,
        resample=recording.resample,
        evolution=Evolution(
            parent_id=parent.id,
            strategy=candidate.strategy,
            t_err=recording.t_err,
            steps_before=len(parent),
            reward_before=parent.reward,
        ),
    )


def _provenance(child: Trajectory) -> Evolution:
    if child.evolution is None:
        raise ValueError(f"{child.id} was not evolved")
    return child.evolution


def _refusal(
    child: Trajectory, parents: Mapping[str, Trajectory], duplicate: bool, keep_failed: bool
) -> str:
    if duplicate:
        return "duplicate"
    if keep_failed:
        return ""
    if not child.success:
        return "failed"
    return "equal to parent" if child.actions == parents[_parent_id(child)].actions else ""


def _parent_id(child: Trajectory) -> str:
    return _provenance(child).parent_id


def _with_children(group: Group, judged: Sequence[Trajectory], membership: str) -> Group:
    own = {member.id for member in group.sampled}
    children = [c for c in judged if _parent_id(c) in own and _provenance(c).accepted]
    replaced = {_parent_id(c) for c in children} if membership == "replace" else set()
    return replace(
        group,
        sampled=tuple(member for member in group.sampled if member.id not in replaced),
        evolved=(*group.evolved, *children),
    )


def _record(child: Trajectory) -> EvolutionRecord:
    provenance = _provenance(child)
    return EvolutionRecord(
        id=child.id,
        parent_id=provenance.parent_id,
        task_id=child.task_id,
        strategy=provenance.strategy,
        t_err=provenance.t_err,
        steps_before=provenance.steps_before,
        steps_after=len(child),
        reward_before=provenance.reward_before,
        reward_after=child.reward,
        success=child.success,
        accepted=provenance.accepted,
        reason=provenance.reason,
    )


def _metrics(judged: Sequence[Trajectory]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for child in judged:
        provenance = _provenance(child)
        prefix = f"evolution/{provenance.strategy}"
        counts[f"{prefix}/attempted"] += 1
        counts[f"{prefix}/succeeded"] += child.success
        counts[f"{prefix}/used"] += provenance.accepted
    return {
        f"evolution/{strategy}/{outcome}": float(counts[f"evolution/{strategy}/{outcome}"])
        for strategy in get_args(Strategy)
        for outcome in ("attempted", "succeeded", "used")
    }
