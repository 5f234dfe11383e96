"""ScienceWorld's warm start: clumsy solutions of some training variations, recorded once.

A step of the simulator costs more than a step of the policy, and working out a solution takes
seconds, so the lessons are recordings, played again as often as training wants. They are of
training variations only.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.agent.contract import Turn
from trajevolve.config import EnvConfig
from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Spec, Task
from trajevolve.envs.registry import make_env
from trajevolve.envs.scienceworld.clumsy import Clumsiness, ClumsyFollower, solve
from trajevolve.errors import UserError
from trajevolve.models.cloning import CloningConfig
from trajevolve.models.practice import CHUNK, Lesson
from trajevolve.models.small import SmallArchitecture
from trajevolve.models.warmup import Phase, WarmupConfig
from trajevolve.progress import advance, tracked, working
from trajevolve.rollout import Episode, play
from trajevolve.seeds import derive_seed
from trajevolve.trajectory import Trajectory

TYPES = ("find-living-thing", "find-non-living-thing", "find-animal")
"""Task types with short solutions."""
SLIPS = Clumsiness(mistake=0.0, confuse=0.2)
"""What the shipped weights were cloned from."""


@dataclass(frozen=True)
class ScienceWorldPractice:
    """Recordings of the clumsy follower.

    Attributes:
        environment: its name.
        types: task types.
        variations: training variations of all types together.
        episodes: clumsy solutions of each.
        step_limit: of an episode.
        seed: of variations and slips.
    """

    environment: str = "scienceworld"
    types: tuple[str, ...] = TYPES
    variations: int = 150
    episodes: int = 4
    step_limit: int = 30
    seed: int = 20240304

    def tokenizer(self) -> Any:
        """Build the tokenizer from the recorded texts."""
        from trajevolve.models.scienceworld_words import scienceworld_tokenizer

        return scienceworld_tokenizer(recorded(self))

    def expert(self, clumsiness: Clumsiness | None) -> ScriptedAgent:
        """Make the agent that does what was recorded; how clumsily is settled there."""
        return Repeater()

    def lesson(self, seed: int, stream: str, number: int) -> Lesson:
        """Choose recordings; all come up before one comes up again."""
        recordings = recorded(self)
        places = range(number * CHUNK, (number + 1) * CHUNK)
        return Lesson(
            [_task(recordings, seed, stream, place) for place in places], RecordedEnvironment
        )

    def exchangeable(self, tokenizer: Any) -> list[list[int]]:
        """Boxes. What is alive has to be known by its name."""
        from trajevolve.models.scienceworld_words import name_groups

        return name_groups(tokenizer)


@lru_cache(maxsize=1)
def recorded(practice: ScienceWorldPractice) -> tuple[Trajectory, ...]:
    """Play the clumsy solutions, as many at once as there are processes: minutes.

    Returns the successes.
    """
    env = make_env("scienceworld")
    limit = EnvConfig(  # in threads no deadline is watched; the pool watches its processes
        name="scienceworld", step_limit=practice.step_limit, step_timeout_s=None
    )
    split = f"train:{','.join(practice.types)}"
    tasks = env.tasks(split, practice.variations, derive_seed(practice.seed, "variations"))
    with working("working out solutions"):
        solutions = {task.id: solve(env, task) for task in tracked(tasks, "tasks")}
    env.close()
    episodes = [
        Episode(f"{task.id}#{number}", task, derive_seed(practice.seed, task.id, number))
        for task in tasks
        for number in range(practice.episodes)
    ]

    def record(episode: Episode) -> Trajectory:
        expert = ClumsyFollower(SLIPS, lambda _, task: solutions[task.id])
        (trajectory,) = play([episode], expert, lambda: make_env("scienceworld"), limit)
        return trajectory

    played: list[Trajectory] = []
    with working("playing them clumsily"), ThreadPoolExecutor(env.spec.concurrent) as threads:
        for trajectory in threads.map(record, episodes):
            played.append(trajectory)
            advance(len(played), len(episodes), "episodes")
    return tuple(trajectory for trajectory in played if trajectory.success)


def _task(recordings: Sequence[Trajectory], seed: int, stream: str, place: int) -> Task:
    turn, place = divmod(place, len(recordings))
    order = np.random.default_rng(derive_seed(seed, stream, turn)).permutation(len(recordings))
    played = recordings[int(order[place])]
    return Task(played.id, "scienceworld", played.task_type, played.task, played.id, played)


class Repeater(ScriptedAgent):
    """Does what was done."""

    def choose(self, turn: Turn) -> str:
        """Return the recorded action."""
        played: Trajectory = turn.task.payload
        return played.steps[len(turn.history)].action or ""


class RecordedEnvironment(Environment):
    """Answers what was answered; what is done does not matter. The payload is the recording."""

    spec = Spec(name="scienceworld", snapshots=False, feasibility="answer")

    def reset(self, task: Task) -> Observation:
        """Start a recording."""
        self._played: Trajectory = task.payload
        self._place = 0
        return self._observation()

    def step(self, action: str) -> Outcome:
        """Go on by one step."""
        step = self._played.steps[self._place]
        self._place += 1
        over = self._place == len(self._played.steps)
        success = over and self._played.success
        return Outcome(
            observation=self._observation(),
            feasible=step.valid,
            success=success,
            done=over,
            reward=step.reward,
            score=self._played.score if over else 0.0,
            costs_step=step.costs_step,
        )

    def kind(self, action: str) -> Kind:
        """Return what was recorded."""
        return self._played.steps[self._place].kind or Kind.CHANGING

    def task(self, ref: str) -> Task:
        """Refuse: recordings are given, not looked up."""
        raise UserError(f"task {ref!r}: recordings are given, not looked up")

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        """List nothing."""
        return ()

    def _observation(self) -> Observation:
        steps = self._played.steps
        over = self._place == len(steps)
        return Observation(
            self._played.final_observation if over else steps[self._place].observation, None
        )


POLICY = WarmupConfig(
    practice=ScienceWorldPractice(),
    seed=20240305,
    renamed_share=0.9,
    phases=(Phase("practice", CloningConfig(300), SLIPS),),
    architecture=SmallArchitecture(hidden=96, intermediate=256, positions=4096, copying=True),
)
