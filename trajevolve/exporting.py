"""Data sets for other trainers: successes as chat, and (parent, evolved) pairs as preferences.

Both speak the plain chat form that fine-tuning tools read: lists of ``role``/``content`` messages,
observations as the user, responses as the assistant. Texts are those of the dialogue layout
whatever layout the run used, and what a policy answered is kept word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from trajevolve.config import EnvConfig
from trajevolve.envs.contract import Environment
from trajevolve.trajectory import Step, Trajectory

Message = dict[str, str]


def sft_rows(trajectories: Iterable[Trajectory]) -> Iterator[dict[str, Any]]:
    """Yield one conversation per successful trajectory; equal conversations once."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for trajectory in trajectories:
        key = (trajectory.task_id, tuple(step.response for step in trajectory.steps))
        if not trajectory.success or not trajectory.steps or key in seen:
            continue
        seen.add(key)
        yield {
            "task_id": trajectory.task_id,
            "trajectory_id": trajectory.id,
            "steps": len(trajectory),
            "messages": messages(trajectory.steps),
        }


def preference_rows(trajectories: Sequence[Trajectory]) -> Iterator[dict[str, Any]]:
    """Yield (prompt, chosen, rejected) for each accepted evolved trajectory and its parent.

    The prompt is what the two have in common, up to the observation before their first different
    response. A child without a different response (its parent cut short) gives no pair.
    """
    parents = {trajectory.id: trajectory for trajectory in trajectories}
    for child in trajectories:
        if child.evolution is None or not child.evolution.accepted:
            continue
        parent = parents.get(child.evolution.parent_id)
        if parent is None:
            continue
        shared = _shared(child.steps, parent.steps)
        if shared in (len(child), len(parent)):
            continue
        yield {
            "task_id": child.task_id,
            "strategy": child.evolution.strategy,
            "chosen_id": child.id,
            "rejected_id": parent.id,
            "prompt": [*messages(child.steps[:shared]), _user(child.steps[shared])],
            "chosen": messages(child.steps[shared:])[1:],
            "rejected": messages(parent.steps[shared:])[1:],
        }


def messages(steps: Iterable[Step]) -> list[Message]:
    """Turn steps into alternating user and assistant messages."""
    return [message for step in steps for message in (_user(step), _assistant(step))]


def shorten(
    trajectories: Iterable[Trajectory],
    make_environment: Callable[[], Environment],
    config: EnvConfig,
) -> Iterator[Trajectory]:
    """Replace every verified success by its minimal form, executed again for true observations.

    Trajectories without labels, and those that have nothing to remove, come back as they are.
    """
    from trajevolve.agent.agents import ScriptedAgent
    from trajevolve.rollout import Episode, Kept, play

    environment = make_environment()
    try:
        for trajectory in trajectories:
            if not trajectory.verified or len(trajectory.minimal) == len(trajectory):
                yield trajectory
                continue
            steps = [trajectory.steps[position] for position in trajectory.minimal]
            kept = tuple(Kept(step.response, (), step.action) for step in steps)
            task = environment.task(trajectory.task_id)
            episode = Episode(
                f"{trajectory.id}/minimal", task, trajectory.seed, kept, resample=False
            )
            yield play([episode], ScriptedAgent(), make_environment, config)[0]
    finally:
        environment.close()


def _shared(first: Sequence[Step], second: Sequence[Step]) -> int:
    """Count the leading steps with equal observations and responses."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if (a.observation, a.response) != (b.observation, b.response):
            break
        count += 1
    return count


def _user(step: Step) -> Message:
    return {"role": "user", "content": step.observation}


def _assistant(step: Step) -> Message:
    return {"role": "assistant", "content": step.response}
