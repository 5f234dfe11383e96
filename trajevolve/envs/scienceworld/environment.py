"""ScienceWorld behind the environment contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Spec, Task, Transition
from trajevolve.envs.scienceworld import simplifications as simple
from trajevolve.envs.scienceworld.actions import KINDS, instantiate, kind_of, nearby
from trajevolve.envs.scienceworld.answers import UNKNOWN, ambiguous, choices, choose, failed_softly
from trajevolve.envs.scienceworld.episode import Episode
from trajevolve.envs.scienceworld.gold import GoldPaths
from trajevolve.envs.scienceworld.instance import Instance
from trajevolve.envs.scienceworld.jvm import Answer, Launch
from trajevolve.envs.scienceworld.pool import shared_pool
from trajevolve.envs.scienceworld.sight import names_in_sight
from trajevolve.envs.scienceworld.splits import members
from trajevolve.envs.scienceworld.tasks import ENV, parse_ref, task_of
from trajevolve.envs.task_list import TaskList
from trajevolve.errors import UserError

LONGEST_ACTION = 300
"""Characters; nothing longer is an action, and the simulator's parser is not asked."""
LEAST_HEAP_MB = 64
"""With 24 a process ran out of memory in its first episodes, with 32 it did not; twice that."""
_START = Answer("", 0, 0.0, False)


class ScienceWorldEnvironment(Environment):
    """One episode at a time; all of a process share a pool of Java processes.

    Replay is the only snapshot. Splits: ``train``, ``dev``, ``test`` (``iid`` and ``ood`` are other
    names of the first and the last), each also for some task types: ``train:boil,melt``.

    Success is a score of 100, never the end of an episode alone. Score and reward are the
    benchmark's, divided by 100; a wrong focus ends the episode with score 0. An ambiguous request
    is settled within its step: the choice that reads as the action does, else the first one; the
    observation begins with what was chosen. An action from which nothing comes although it takes
    time (``The freezer is already open.``) is infeasible and costs a step.

    Args:
        simplifications: ``easy``, ``none``, or names joined by commas; of tasks whose id names
            none.
        workers: Java processes at most, and so episodes that live at once; else 2, or 1 on one
            core.
        heap_mb: cap of each process's heap in MiB.
        launch: how processes are started; overrides `heap_mb`.

    Raises:
        UserError: an option is wrong, or there is no Java.
    """

    spec = Spec(
        name=ENV,
        snapshots=False,
        feasibility="answer",
        exact_states=False,
        step_limit=30,
        kinds=KINDS,
    )

    def __init__(
        self,
        simplifications: str = simple.EASY,
        workers: int | None = None,
        heap_mb: int = Launch.heap_mb,
        launch: Launch | None = None,
    ) -> None:
        self.simplifications = simple.parse(simplifications)
        if type(heap_mb) is not int or heap_mb < LEAST_HEAP_MB:
            raise UserError(
                f"environment {ENV}: heap_mb {heap_mb!r}: expected a number of MiB, "
                f"{LEAST_HEAP_MB} at least"
            )
        launch = launch or Launch(heap_mb=heap_mb)
        launch.command()  # without Java there is no environment, whatever it is wanted for
        self.pool = shared_pool(workers, launch)
        self.spec = replace(type(self).spec, concurrent=self.pool.limit)
        self._gold = GoldPaths(self.pool.launch)
        self._episode: Episode | None = None
        self._last = _START
        self._things: tuple[str, ...] | None = None

    def reset(self, task: Task) -> Observation:
        """Start `task`: 0.1 to 0.3 seconds of processor time once its process runs.

        The observation begins with the task and goes on with what is seen.

        Raises:
            UserError: there is no Java, or its replay cannot be trusted.
            EpisodeLost: Java processes fail again and again.
        """
        self._leave()
        self._episode = episode = Episode(self.pool, task.payload)
        self._last = start = episode.begin()
        self._things = None
        return self._observe(f"{task.text}\n\n{start.text}")

    def step(self, action: str) -> Outcome:
        """Execute `action`; one that is not known changes nothing and is answered so."""
        answer, before, feasible = self._execute(action)
        score, success, done = _judge(answer)
        if done:
            self._playing().release()
        return Outcome(
            observation=self._observe(answer.text),
            feasible=feasible,
            success=success,
            done=done,
            reward=_hundredths(answer) - _hundredths(before),
            score=score,
            costs_step=answer.moves != before.moves,
        )

    def advance(self, action: str) -> Transition:
        """Execute `action` without making an observation."""
        answer, before, feasible = self._execute(action)
        _, success, done = _judge(answer)
        if done:
            self._playing().release()
        return Transition(feasible, success, done, costs_step=answer.moves != before.moves)

    def success(self) -> bool:
        """The score is 100."""
        return _judge(self._last)[1]

    def kind(self, action: str) -> Kind:
        """Looking, reading and measuring only query; everything else may change the state."""
        return kind_of(action)

    def canonical(self, action: str) -> str:
        """Collapse blanks."""
        return " ".join(action.split())

    def objects(self) -> tuple[str, ...]:
        """Name what is in sight, nothing after the end. Takes three times as long as a step."""
        if _judge(self._last)[2]:
            return ()
        if self._things is None:  # while no time passes that stays as it is
            found = self._playing().ask(lambda jvm: (jvm.in_sight(), jvm.everything()))
            self._things = names_in_sight(*found)
        return self._things

    def candidates(self) -> Sequence[str]:
        """Templates filled with what is in sight, at most 4,000: many cannot be executed."""
        return instantiate(self._templates(), self.objects())

    def corrections(self, action: str) -> Sequence[str]:
        """Templates filled with the things in sight whose names are nearest to `action`'s words."""
        return nearby(self.canonical(action), self._templates(), self.objects())

    def task(self, ref: str) -> Task:
        """Find a task by id: ``boil/12``, or ``boil/12@none`` with simplifications of its own."""
        return task_of(parse_ref(ref, self.simplifications), self._describe)

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        """List a split; with `count` a seeded sample in which the task types take turns.

        Each costs the simulator a load, so they are made when they are looked at.
        """
        chosen = [
            Instance(name, number, self.simplifications)
            for name, number in members(split, count, seed)
        ]
        for name in {each.name for each in chosen}:
            simple.check_playable(name, self.simplifications)
        return TaskList(chosen, lambda each: task_of(each, self._describe))

    def gold(self, task: Task) -> tuple[str, ...]:
        """Return the benchmark's own solution of `task`, in a Java process kept for that."""
        return self._gold.of(task.payload)

    def close(self) -> None:
        """Give the process back to the pool, which keeps it for the next environment."""
        self._leave()
        self._gold.close()

    def _execute(self, action: str) -> tuple[Answer, Answer, bool]:
        """Return the answer, the one before it, and whether the action could be executed."""
        episode, before = self._playing(), self._last
        action = self.canonical(action)
        if len(action) > LONGEST_ACTION:
            return replace(before, text=UNKNOWN), before, False
        answer = episode.step(action)
        chosen = ""
        if ambiguous(answer.text):
            chosen, answer = _settle(episode, action, answer)
        if answer.moves != before.moves:
            self._things = None
        self._last = answer
        feasible = answer.text.strip() != UNKNOWN and not failed_softly(answer.text)
        return replace(answer, text=chosen + answer.text), before, feasible

    def _observe(self, text: str) -> Observation:
        return Observation(text.strip(), None, self._templates())

    def _templates(self) -> tuple[str, ...]:
        episode = self._playing()
        key = episode.instance.simplifications
        if key not in self.pool.templates:
            self.pool.templates[key] = tuple(sorted(episode.ask(lambda jvm: jvm.templates())))
        return self.pool.templates[key]

    def _describe(self, instance: Instance) -> str:
        known = self.pool.descriptions
        if instance not in known:
            episode = Episode(self.pool, instance)
            known[instance] = episode.ask(lambda jvm: jvm.description()).strip()
            episode.release()
        return known[instance]

    def _playing(self) -> Episode:
        if self._episode is None:
            raise RuntimeError("reset an environment before using it")
        return self._episode

    def _leave(self) -> None:
        if self._episode is not None:
            self._episode.release()
        self._episode = None


def _settle(episode: Episode, action: str, request: Answer) -> tuple[str, Answer]:
    """Answer the simulator's question, which would take the next action for the answer.

    Returns:
        A line that says what was chosen, and the answer to it.
    """
    offered = choices(request.text)
    if not offered:
        return "", episode.step("")
    number, chosen = choose(action, offered)
    return f"({chosen})\n", episode.step(number)


def _hundredths(answer: Answer) -> float:
    """The score as the benchmark's wrapper rounds it, -1 after a wrong focus."""
    return round(100 * answer.score) / 100


def _judge(answer: Answer) -> tuple[float, bool, bool]:
    """Score in [0, 1], success, and whether the episode is over."""
    score = _hundredths(answer)
    success = score >= 1.0
    return max(score, 0.0), success, success or answer.completed or score < 0
