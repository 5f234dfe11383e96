"""Agents × environments: only live episodes generate."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace

from trajevolve.agent.contract import Agent, Decision, Turn
from trajevolve.config import EnvConfig
from trajevolve.envs.contract import Environment, Observation, Task
from trajevolve.seeds import derive_seed
from trajevolve.trajectory import Evolution, Step, Trajectory, trajectory_reward


@dataclass(frozen=True)
class Kept:
    """A recorded step to execute again: its response, tokens where they were sampled, action."""

    response: str
    response_ids: tuple[int, ...]
    action: str | None


@dataclass(frozen=True)
class Episode:
    """One episode to play.

    Attributes:
        id: id of the trajectory it becomes.
        task: the task instance.
        seed: seed of its sampling.
        kept: recorded steps executed first, in order; their prompts are rendered anew.
        resample: the agent continues after the kept steps; otherwise the episode ends there.
        evolution: provenance, copied to the trajectory.
    """

    id: str
    task: Task
    seed: int
    kept: tuple[Kept, ...] = ()
    resample: bool = True
    evolution: Evolution | None = None


@dataclass
class _Live:
    """An episode in progress."""

    slot: int
    episode: Episode
    environment: Environment
    observation: Observation
    steps: list[Step] = field(default_factory=list)
    score: float = 0.0
    success: bool = False
    termination: str = ""

    @property
    def recording(self) -> Kept | None:
        """The recorded step to execute next, if any is left."""
        kept = self.episode.kept
        return kept[len(self.steps)] if len(self.steps) < len(kept) else None


def play(
    episodes: Sequence[Episode],
    agent: Agent,
    make_environment: Callable[[], Environment],
    config: EnvConfig,
    progress: Callable[[int, int], None] | None = None,
) -> list[Trajectory]:
    """Play all episodes together and return their trajectories in order.

    An environment that raises ends its own episode with termination ``error: …`` and success
    False; the others go on.

    Args:
        episodes: what to play; their number is the number of environments alive at once.
        agent: decides for all live episodes in one batch a step.
        make_environment: makes one environment per episode.
        config: step limit and rewards.
        progress: called with (finished, total) after each round.
    """
    everyone = [_start(slot, episode, make_environment) for slot, episode in enumerate(episodes)]
    live = [item for item in everyone if not item.termination]
    try:
        while live:
            for item, decision in zip(live, _decide(live, agent), strict=True):
                _apply(item, decision, config.step_limit)
            agent.release(item.slot for item in live if item.termination)
            live = [item for item in live if not item.termination]
            if progress:
                progress(len(everyone) - len(live), len(everyone))
    finally:
        agent.release(item.slot for item in everyone)
        for item in everyone:
            item.environment.close()
    return [_finish(item, agent, config) for item in everyone]


def _start(slot: int, episode: Episode, make_environment: Callable[[], Environment]) -> _Live:
    environment = make_environment()
    try:
        observation = environment.reset(episode.task)
    except Exception as error:
        nothing = Observation("", ())
        return _Live(slot, episode, environment, nothing, termination=_failure(error))
    item = _Live(slot, episode, environment, observation)
    if not episode.kept and not episode.resample:
        item.success = environment.success()
        item.score = float(item.success)
        item.termination = "success" if item.success else "recording"
    return item


def _decide(live: Sequence[_Live], agent: Agent) -> list[Decision]:
    """Answer recorded steps from the recording and sample the others in one batch."""
    turns = [_turn(item) for item in live]
    sampled = iter(
        agent.act([t for t, item in zip(turns, live, strict=True) if item.recording is None])
    )
    decisions: list[Decision] = []
    for turn, item in zip(turns, live, strict=True):
        kept = item.recording
        if kept is None:
            decisions.append(next(sampled))
        else:
            forced = agent.force(turn, kept.response, kept.response_ids)
            decisions.append(replace(forced, action=kept.action))
    return decisions


def _turn(item: _Live) -> Turn:
    seed = derive_seed(item.episode.seed, len(item.steps))
    return Turn(
        item.slot,
        item.episode.task,
        item.observation,
        tuple(item.steps),
        seed,
        item.environment,
    )


def _apply(item: _Live, decision: Decision, step_limit: int) -> None:
    """Execute one decision, record the step and see whether the episode is over."""
    environment = item.environment
    action = environment.canonical(decision.action) if decision.action is not None else None
    key = _state_digest(environment)
    done = False
    reward, valid, costs_step = 0.0, False, True
    before = item.observation
    try:
        kind = environment.kind(action) if action is not None else None
        if action is not None:
            outcome = environment.step(action)
            item.observation = outcome.observation
            item.success, item.score, done = outcome.success, outcome.score, outcome.done
            reward, valid, costs_step = outcome.reward, outcome.feasible, outcome.costs_step
    except Exception as error:
        item.success = False
        item.termination = _failure(error)
        return
    item.steps.append(
        Step(
            observation=before.text,
            admissible=before.admissible,
            response=decision.response,
            action=action,
            valid=valid,
            kind=kind,
            reward=reward,
            costs_step=costs_step,
            thought=decision.thought,
            prompt_ids=decision.prompt_ids,
            response_ids=decision.response_ids,
            sampler_logprobs=decision.logprobs,
            state_key=key,
        )
    )
    item.termination = _termination(item, done, step_limit)


def _termination(item: _Live, done: bool, step_limit: int) -> str:
    if item.success:
        return "success"
    if done:
        return "environment"
    if len(item.steps) >= step_limit:
        return "limit"
    if item.recording is None and not item.episode.resample:
        return "recording"
    return ""


def _state_digest(environment: Environment) -> str:
    if not environment.spec.exact_states:
        return ""
    text = _stable(environment.state_key())
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _stable(key: object) -> str:
    """Write a hashable key the same way in every process, whatever order its sets iterate in."""
    if isinstance(key, frozenset):
        return "{" + ",".join(sorted(map(_stable, key))) + "}"
    if isinstance(key, tuple):
        return "(" + ",".join(map(_stable, key)) + ")"
    if is_dataclass(key):
        return _stable(tuple(getattr(key, part.name) for part in fields(key)))
    return repr(key)


def _failure(error: Exception) -> str:
    return f"error: {type(error).__name__}: {' '.join(str(error).split())}"


def _finish(item: _Live, agent: Agent, config: EnvConfig) -> Trajectory:
    steps = tuple(item.steps)
    invalid = sum(not step.valid for step in steps)
    return Trajectory(
        id=item.episode.id,
        task_id=item.episode.task.id,
        task_type=item.episode.task.type,
        task=item.episode.task.text,
        seed=item.episode.seed,
        steps=steps,
        success=item.success,
        score=item.score,
        reward=trajectory_reward(
            item.success, invalid, config.success_reward, config.invalid_penalty
        ),
        layout=agent.layout,
        termination=item.termination,
        final_observation=item.observation.text,
        evolution=item.episode.evolution,
    )
