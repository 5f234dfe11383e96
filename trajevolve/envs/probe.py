"""Random walks that the environment checker compares everything else with."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Task
from trajevolve.seeds import derive_seed

#: Text that no environment should be able to execute.
NONSENSE = "xyzzy the frobnicator 99"

WALKS_PER_TASK = 3
WALK_LENGTH = 20
TRIES = 8
TAIL = 5


@dataclass(frozen=True)
class Walk:
    """One recorded random walk of n actions.

    Attributes:
        task: the task it was played on.
        start: the observation of the start state.
        actions: the n actions, infeasible ones included.
        outcomes: the n answers.
        keys: the n + 1 state keys around them; empty without exact states.
    """

    task: Task
    start: Observation
    actions: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    keys: tuple[Hashable, ...]

    def observation(self, index: int) -> Observation:
        """Return what is seen after the first `index` actions."""
        return self.outcomes[index - 1].observation if index else self.start

    def executed(self, count: int) -> list[str]:
        """Keep the feasible ones of the first `count` actions."""
        pairs = zip(self.actions[:count], self.outcomes[:count], strict=True)
        return [action for action, outcome in pairs if outcome.feasible]


@dataclass
class Probe:
    """An environment with its recorded walks, and the ways to compare it with them."""

    env: Environment
    walks: tuple[Walk, ...]
    rng: np.random.Generator

    @classmethod
    def walk(cls, env: Environment, tasks: Sequence[Task], seed: int) -> Probe:
        """Record :data:`WALKS_PER_TASK` random walks on each task."""
        rng = np.random.default_rng(derive_seed(seed, "check-env"))
        walks = [_record(env, task, rng) for task in tasks for _ in range(WALKS_PER_TASK)]
        return cls(env, tuple(walks), rng)

    def reach(self, walk: Walk, count: int) -> None:
        """Bring the environment to the state after the walk's first `count` actions."""
        self.env.reset(walk.task)
        for action in walk.actions[:count]:
            self.env.step(action)

    def points(self, count: int = 3) -> list[tuple[Walk, int]]:
        """Draw up to `count` states of each walk, its start among them, none after an end."""
        drawn: list[tuple[Walk, int]] = []
        for walk in self.walks:
            size = len(walk.actions)
            inner = sorted(set(self.rng.integers(1, size, count - 1).tolist())) if size > 1 else []
            drawn += [(walk, index) for index in [0, *inner]]
        return drawn

    def sample(self, items: Sequence[str], count: int) -> list[str]:
        """Draw up to `count` different items, in the order given."""
        if len(items) <= count:
            return list(items)
        chosen = self.rng.choice(len(items), count, replace=False)
        return [items[index] for index in sorted(chosen.tolist())]

    def options(self, walk: Walk, index: int) -> Sequence[str]:
        """List actions to try in a state of a walk; the environment must be in it."""
        admissible = walk.observation(index).admissible
        return admissible if admissible is not None else self.env.candidates()

    def tail(self, walk: Walk, index: int) -> list[Outcome]:
        """Execute the next few of the walk's actions, from `index` on."""
        answers: list[Outcome] = []
        for action in walk.actions[index : index + TAIL]:
            answers.append(self.env.step(action))
            if answers[-1].done:
                break
        return answers

    def information(self, actions: Sequence[str]) -> list[str]:
        """Keep the actions declared as information."""
        return [action for action in actions if self.env.kind(action) == Kind.INFORMATION]


def _record(env: Environment, task: Task, rng: np.random.Generator) -> Walk:
    """Walk until the end or :data:`WALK_LENGTH` feasible actions, with nonsense in between."""
    start = observation = env.reset(task)
    exact = env.spec.exact_states
    keys: list[Hashable] = [env.state_key()] if exact else []
    actions: list[str] = []
    outcomes: list[Outcome] = []
    feasible = 0
    while feasible < WALK_LENGTH and len(actions) < WALK_LENGTH * TRIES:
        admissible = observation.admissible
        options = admissible if admissible is not None else env.candidates()
        nonsense = not len(options) or rng.random() < 0.1
        action = NONSENSE if nonsense else options[int(rng.integers(len(options)))]
        outcome = env.step(action)
        actions.append(action)
        outcomes.append(outcome)
        if exact:
            keys.append(env.state_key())
        if outcome.done:
            break
        feasible += outcome.feasible
        observation = outcome.observation
    return Walk(task, start, tuple(actions), tuple(outcomes), tuple(keys))
