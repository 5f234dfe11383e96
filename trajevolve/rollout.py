"""Agents × environments: only live episodes generate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

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
        stop_when_infeasible: a kept action that was valid in its parent but cannot be executed
            now ends the recording; the agent continues from there (format correction).
        resample: the agent continues after the kept steps; otherwise the episode ends there.
        evolution: provenance, copied to the trajectory.
    """

    id: str
    task: Task
    seed: int
    kept: tuple[Kept, ...] = ()
    stop_when_infeasible: bool = False
    resample: bool = True
    evolution: Evolution | None = None
