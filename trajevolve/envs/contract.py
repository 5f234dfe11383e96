"""What an environment must offer: reset, step, feasibility, kinds of action and replay.

The method rests on one property (paper, appendix D.1): the same actions from the same start give
the same states. An environment offers it in one of two ways, named by :class:`Spec`:

* ``snapshots=True``: :meth:`Environment.snapshot` and :meth:`Environment.restore` cost O(1);
* ``snapshots=False``: replay only, a state is reached again by ``reset`` and the same actions.

Whether an action can be executed is read in one of two ways as well: from the admissible set
before the step, or from the environment's answer to it. Both end in :attr:`Outcome.feasible`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class Kind(StrEnum):
    """What an action can do to the state (paper §3.2, "action categorization")."""

    CHANGING = "changing"
    INFORMATION = "information"


@dataclass(frozen=True)
class Spec:
    """The traits of an environment that the method needs to know.

    Attributes:
        name: registry name, ``alfworld`` for instance.
        snapshots: ``snapshot``/``restore`` work and cost O(1).
        feasibility: ``admissible`` when the admissible set decides, ``answer`` when only
            executing the action tells.
        exact_states: ``state_key`` is equal exactly when two states behave the same.
        step_limit: usual number of steps of an episode, for readers: runs go by ``env.step_limit``.
        kinds: verb -> kind, for readers and for the environment's own
            :meth:`Environment.kind`, which is what everything else asks.
        concurrent: how many episodes can be live at once in one process; None for any number.
        exploration: :meth:`Environment.exploring` tells which steps looked for something.
    """

    name: str
    snapshots: bool
    feasibility: Literal["admissible", "answer"]
    exact_states: bool = False
    step_limit: int = 30
    kinds: dict[str, Kind] = field(default_factory=dict)
    concurrent: int | None = None
    exploration: bool = False


@dataclass(frozen=True)
class Task:
    """One task instance with a fixed start state.

    Attributes:
        id: stable name, the same on every machine (``valid_seen/<task>/<trial>``).
        env: name of the environment it belongs to.
        type: task type for tables (``pick_and_place_simple``).
        text: the task description x, in natural language.
        digest: hash of the content; equal digests mean equal games.
        payload: whatever the environment needs to start it; never serialised by others.
    """

    id: str
    env: str
    type: str
    text: str
    digest: str
    payload: Any = field(repr=False, compare=False, default=None)


@dataclass(frozen=True)
class Observation:
    """s_t = (o_t, A_t) as the agent sees it.

    ``admissible`` is None where the set is too large to list; ``templates`` and
    :meth:`Environment.objects` then say how actions are formed.
    """

    text: str
    admissible: tuple[str, ...] | None
    templates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The answer to one action.

    Attributes:
        observation: what the agent sees next.
        feasible: the action could be executed in the state before it (a ∈ A(s)).
        success: the task is solved in the state after it.
        done: the environment ended the episode, solved or not; step limits are not its business.
        reward: the environment's own reward for this step.
        score: graded score in [0, 1] so far; 1.0 exactly on success.
        costs_step: False where the environment's clock did not tick (free queries, unknown input).
    """

    observation: Observation
    feasible: bool
    success: bool
    done: bool
    reward: float
    score: float
    costs_step: bool = True


@dataclass(frozen=True, slots=True)
class Transition:
    """An :class:`Outcome` without its texts: all that replay needs."""

    feasible: bool
    success: bool
    done: bool
    costs_step: bool = True


class Environment(ABC):
    """One episode at a time; make one object per concurrent episode.

    An infeasible action never changes the state. After ``done`` the only legal call is
    :meth:`reset` (or :meth:`restore`).
    """

    spec: Spec

    @abstractmethod
    def reset(self, task: Task) -> Observation:
        """Start `task` from its start state and return s_1."""

    @abstractmethod
    def step(self, action: str) -> Outcome:
        """Execute `action`; an infeasible one answers with ``feasible=False``."""

    @abstractmethod
    def kind(self, action: str) -> Kind:
        """Declare whether `action` may alter the state; unknown verbs count as changing."""

    @abstractmethod
    def task(self, ref: str) -> Task:
        """Find one task by id or path. Raises UserError naming what was looked for and where."""

    @abstractmethod
    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        """List the tasks of `split`; with `count`, a seeded sample of that many, in fixed order."""

    def advance(self, action: str) -> Transition:
        """Execute `action` without making texts. Override where texts are the cost."""
        outcome = self.step(action)
        return Transition(outcome.feasible, outcome.success, outcome.done, outcome.costs_step)

    def success(self) -> bool:
        """Say whether the task is solved in the current state before any further action."""
        return False

    def coupled(self, actions: Sequence[str]) -> Iterable[tuple[int, ...]]:
        """Group 0-based positions that are executed or left out together.

        Called with the actions that were executed, in order. Positions in no group stand alone.
        A group whose members query only (a tab and the ``< Prev`` that leaves it) is one
        information unit.
        """
        return ()

    def exploring(self, actions: Sequence[str], answers: Sequence[str]) -> Iterable[int]:
        """Return the 0-based positions that looked for the task's object before it was seen.

        First visits and first openings, ascending: which of them were needed shows only afterwards.
        Called after an episode with the actions that were executed and the text after each. Only
        with ``spec.exploration``.
        """
        return ()

    def canonical(self, action: str) -> str:
        """Rewrite accepted aliases (ALFWorld's old ``put O in/on R``) to the standard form."""
        return action

    def objects(self) -> Sequence[str]:
        """Name the things that can stand in templates now. Asked for only where prompts show them.

        Apart from the observation, since finding them out may cost more than the step itself. A
        prompt that has to be shortened asks again: remember what is slow to find out.
        """
        return ()

    def candidates(self) -> Sequence[str]:
        """List the actions among which format correction looks for the nearest one.

        The admissible set of the current state where there is one, else what the templates give.
        To be overridden for training with format correction, and where prompts list nothing.
        """
        raise NotImplementedError(f"{self.spec.name}: override candidates() for format correction")

    def corrections(self, action: str) -> Sequence[str]:
        """List what a wrong `action` may have meant: the candidates, unless overridden.

        Where an action holds free text no list has it; the environment then writes the action
        that `action` tried to be (WebShop: ``search red shoes`` → ``search[red shoes]``).
        """
        return self.candidates()

    def snapshot(self) -> Any:
        """Return an immutable mark of the current state, O(1). Only with ``spec.snapshots``."""
        raise NotImplementedError(f"{self.spec.name} offers replay only")

    def restore(self, mark: Any) -> None:
        """Go back to a state returned by :meth:`snapshot` of the same task. O(1)."""
        raise NotImplementedError(f"{self.spec.name} offers replay only")

    def state_key(self) -> Hashable:
        """Return a key equal for equal states. Only with ``spec.exact_states``."""
        raise NotImplementedError(f"{self.spec.name} cannot compare states exactly")

    def close(self) -> None:
        """Release processes and files. Idempotent."""
        return None
