"""Agents × environments: only live episodes generate.

An environment is somebody else's code: whatever it does in one episode, the others go on. One that
raises, hangs or answers with numbers that cannot be ends its episode as a failure that says why.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace

from trajevolve.agent.contract import Agent, Decision, Turn, TurnError
from trajevolve.config import EnvConfig
from trajevolve.credit.exploration import with_exploration
from trajevolve.credit.units import with_queries
from trajevolve.deadline import Deadline
from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Task
from trajevolve.errors import UserError
from trajevolve.seeds import derive_seed
from trajevolve.trajectory import Evolution, Step, Trajectory, trajectory_reward

SCORE_ROUNDING = 1e-6
"""How far a score may lie outside [0, 1], for those that are added up in floating point."""


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
    made: Environment | None
    observation: Observation
    steps: list[Step] = field(default_factory=list)
    score: float = 0.0
    success: bool = False
    termination: str = ""

    @property
    def environment(self) -> Environment:
        """The episode's own; without one it is over before it began, and nobody asks."""
        assert self.made is not None
        return self.made

    def lose(self, error: BaseException) -> None:
        """End as a failure for what the environment did."""
        self.success = False
        self.termination = f"error: {type(error).__name__}: {' '.join(str(error).split())}"

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

    An environment that raises, be it while it is made, takes longer than ``config.step_timeout_s``
    for an answer or gives a reward or score that is no number ends its own episode with termination
    ``error: …`` and success False; the others go on. How long making one takes is not watched.

    Args:
        episodes: what to play. All are live at once, or as many as the environment can have
            (``Spec.concurrent``): the next one then starts when one ends.
        agent: decides for all live episodes in one batch a step.
        make_environment: makes one environment per episode.
        config: step limit, time limit and rewards.
        progress: called with (finished, total) after each round.

    Raises:
        UserError: the policy's probabilities are no numbers, or no environment can be made, for
            want of Java for instance.
    """
    everyone: list[_Live] = []
    waiting = deque(enumerate(episodes))
    with Deadline(config.step_timeout_s) as deadline:
        try:
            live = _admit([], waiting, everyone, make_environment, deadline)
            while live:
                for item, decision in _decide(live, agent, deadline):
                    _apply(item, decision, config.step_limit, deadline)
                for item in live:
                    if item.termination:
                        _mark_steps(item, deadline)
                agent.release(item.slot for item in live if item.termination)
                live = _admit(live, waiting, everyone, make_environment, deadline)
                if progress:
                    progress(len(everyone) - len(live), len(episodes))
        finally:
            agent.release(item.slot for item in everyone)
            for item in everyone:
                _close(item, deadline)
    return [_finish(item, agent, config) for item in everyone]


def _admit(
    live: Sequence[_Live],
    waiting: deque[tuple[int, Episode]],
    everyone: list[_Live],
    make_environment: Callable[[], Environment],
    deadline: Deadline,
) -> list[_Live]:
    """Return the live episodes that go on, and those that can start beside them.

    Where an environment limits how many can live, those that are over are closed first, so that
    they make room.
    """
    limit = _room(everyone)
    if limit is not None:
        for item in live:
            if item.termination:
                _close(item, deadline)
    going = [item for item in live if not item.termination]
    while waiting and (limit is None or len(going) < limit):
        item = _start(*waiting.popleft(), make_environment, deadline)
        everyone.append(item)
        limit = _room(everyone)
        if not item.termination:
            going.append(item)
        elif limit is not None:
            _close(item, deadline)
    return going


def _room(everyone: Sequence[_Live]) -> int | None:
    """Return how many episodes can live at once, by the latest environment that could be made."""
    latest = next((item.made for item in reversed(everyone) if item.made is not None), None)
    return None if latest is None else latest.spec.concurrent


def _close(item: _Live, deadline: Deadline) -> None:
    if item.made is None:
        return
    # What was played stands, whatever an environment says to its end.
    with contextlib.suppress(Exception):
        deadline.within(item.made.close)


def _start(
    slot: int, episode: Episode, make_environment: Callable[[], Environment], deadline: Deadline
) -> _Live:
    item = _Live(slot, episode, None, Observation("", ()))
    try:
        environment = item.made = make_environment()
    except UserError:  # a setting or a package, which is as wrong for the next one
        raise
    except Exception as error:
        item.lose(error)
        return item
    over = not episode.kept and not episode.resample
    try:
        item.observation = deadline.within(lambda: environment.reset(episode.task))
        item.success = over and deadline.within(environment.success)
    except Exception as error:
        item.lose(error)
        return item
    if over:
        item.score = float(item.success)
        item.termination = "success" if item.success else "recording"
    return item


def _decide(
    live: Sequence[_Live], agent: Agent, deadline: Deadline
) -> list[tuple[_Live, Decision]]:
    """Decide for all; an episode whose environment fails the agent is over without a decision."""
    going = list(live)
    while going:
        try:
            return list(zip(going, _decisions(going, agent, deadline), strict=True))
        except TurnError as error:
            lost = next(item for item in going if item.slot == error.slot)
            lost.lose(error.__cause__ or error)
            going.remove(lost)
    return []


def _decisions(going: Sequence[_Live], agent: Agent, deadline: Deadline) -> list[Decision]:
    """Answer recorded steps from the recording and sample the others in one batch."""
    turns = [_turn(item, deadline) for item in going]
    sampled = iter(
        agent.act([t for t, item in zip(turns, going, strict=True) if item.recording is None])
    )
    decisions: list[Decision] = []
    for turn, item in zip(turns, going, strict=True):
        kept = item.recording
        if kept is None:
            decisions.append(_checked(next(sampled), item))
        else:
            forced = agent.force(turn, kept.response, kept.response_ids)
            decisions.append(replace(forced, action=kept.action))
    return decisions


def _checked(decision: Decision, item: _Live) -> Decision:
    """Refuse what was drawn from no distribution. Raises UserError."""
    if all(map(math.isfinite, decision.logprobs)):
        return decision
    raise UserError(
        f"policy: the probabilities of its tokens are not numbers (episode {item.episode.id}, "
        f"step {len(item.steps)}); its weights are damaged or overflow: set model.dtype to "
        "float32, or start from another model"
    )


def _turn(item: _Live, deadline: Deadline) -> Turn:
    seed = derive_seed(item.episode.seed, len(item.steps))
    return Turn(
        item.slot,
        item.episode.task,
        item.observation,
        tuple(item.steps),
        seed,
        item.environment,
        deadline,
    )


@dataclass(frozen=True)
class _Executed:
    """One action as the environment took it; without an outcome where there was no action."""

    action: str | None
    kind: Kind | None
    state_key: str
    outcome: Outcome | None


def _apply(item: _Live, decision: Decision, step_limit: int, deadline: Deadline) -> None:
    """Execute one decision, record the step and see whether the episode is over."""
    before = item.observation
    try:
        done = deadline.within(lambda: _execute(item.environment, decision.action))
    except Exception as error:
        item.lose(error)
        return
    outcome = done.outcome
    if outcome is not None:
        item.observation = outcome.observation
        item.success, item.score = outcome.success, outcome.score
    item.steps.append(
        Step(
            observation=before.text,
            admissible=before.admissible,
            response=decision.response,
            action=done.action,
            valid=outcome is not None and outcome.feasible,
            kind=done.kind,
            reward=outcome.reward if outcome else 0.0,
            costs_step=outcome.costs_step if outcome else True,
            thought=decision.thought,
            prompt_ids=decision.prompt_ids,
            response_ids=decision.response_ids,
            sampler_logprobs=decision.logprobs,
            state_key=done.state_key,
            truncated_tokens=decision.truncated_tokens,
        )
    )
    item.termination = _termination(item, outcome is not None and outcome.done, step_limit)


def _mark_steps(item: _Live, deadline: Deadline) -> None:
    """Mark coupled queries and exploration, now that it is known what was executed."""
    environment, final = item.environment, item.observation.text
    try:
        item.steps = deadline.within(lambda: with_queries(environment, item.steps))
        item.steps = deadline.within(lambda: with_exploration(environment, item.steps, final))
    except Exception as error:
        if not item.termination.startswith("error"):  # what came first says more
            item.lose(error)


def _execute(environment: Environment, said: str | None) -> _Executed:
    """Do all that one decision asks of the environment.

    Raises:
        ValueError: the answer holds a reward or a score that cannot be.
    """
    key = _state_digest(environment)
    if said is None:
        return _Executed(None, None, key, None)
    action = environment.canonical(said)
    kind = environment.kind(action)
    outcome = environment.step(action)
    if not math.isfinite(outcome.reward):
        raise ValueError(f"reward {outcome.reward!r} of {action!r} is not finite")
    if not -SCORE_ROUNDING <= outcome.score <= 1 + SCORE_ROUNDING:
        raise ValueError(f"score {outcome.score!r} after {action!r} is not in [0, 1]")
    return _Executed(action, kind, key, outcome)


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
