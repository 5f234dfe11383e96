"""What went wrong with single trajectories, told in one line however many they are.

An environment is somebody else's code. Where it breaks while one trajectory is replayed, the others
go on, and whoever runs it learns which one was lost and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trajevolve.errors import one_line
from trajevolve.trajectory import Trajectory
from trajevolve.wording import counted

SHOWN = 3
"""How many different reasons a line names."""


@dataclass(frozen=True)
class Problem:
    """Why something is missing from one trajectory.

    Attributes:
        trajectory_id: the trajectory.
        task_id: its task instance.
        reason: one line.
    """

    trajectory_id: str
    task_id: str
    reason: str


def reason_of(error: Exception) -> str:
    """Write an exception of an environment in one line, its type first."""
    return one_line(f"{type(error).__name__}: {error}")


def told(problems: Iterable[Problem]) -> str:
    """Name the first trajectory of each of the first few reasons, and how many are like it."""
    alike: dict[str, list[Problem]] = {}
    for problem in problems:
        alike.setdefault(problem.reason, []).append(problem)
    parts = []
    for first, *more in list(alike.values())[:SHOWN]:
        others = f" and {len(more):,} more" if more else ""
        parts.append(f"{first.trajectory_id} ({first.task_id}){others}: {first.reason}")
    if len(alike) > SHOWN:
        parts.append(counted(len(alike) - SHOWN, "other reason"))
    return "; ".join(parts)


def truncation(trajectories: Sequence[Trajectory], limit: int) -> str:
    """Say how many prompts were cut to ``agent.max_prompt_tokens`` = `limit`; "" if none was.

    In a dialogue that is full the policy is shown nothing and answers nothing, which is invalid.
    """
    cut = sum(trajectory.truncated_prompts for trajectory in trajectories)
    if not cut:
        return ""
    steps = sum(map(len, trajectories))
    episodes = sum(trajectory.truncated_prompts > 0 for trajectory in trajectories)
    return (
        f"{cut:,} of {counted(steps, 'prompt')}, in {counted(episodes, 'episode')}, did not fit "
        f"agent.max_prompt_tokens = {limit:,} and were shortened or left out; raise it"
    )
