"""Successful, clumsy trajectories of the toys."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from trajevolve.envs.contract import Environment, Task


def clumsy(env: Environment, task: Task, choices: Sequence[int], junk: str) -> list[str]:
    """Follow `choices` (indices into the admissible set; 0 plays `junk`), then the way out.

    A choice that would end the episode is left out, so that the trajectory always succeeds.
    """
    env.reset(task)
    actions: list[str] = []
    for choice in choices:
        if choice == 0:
            env.step(junk)
            actions.append(junk)
            continue
        options = env.candidates()
        mark, action = env.snapshot(), options[choice % len(options)]
        if env.step(action).done:
            env.restore(mark)
        else:
            actions.append(action)
    return actions + way_out(env)


def way_out(env: Environment) -> list[str]:
    """Find a shortest plan to success from the current state, by breadth-first search."""
    queue = deque([(env.snapshot(), [])])
    seen = {env.state_key()}
    while queue:
        mark, plan = queue.popleft()
        env.restore(mark)
        for action in env.candidates():
            env.restore(mark)
            outcome = env.step(action)
            if outcome.success:
                return [*plan, action]
            if not outcome.done and env.state_key() not in seen:
                seen.add(env.state_key())
                queue.append((env.snapshot(), [*plan, action]))
    raise AssertionError("no way out")
