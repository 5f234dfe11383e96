"""WebShop behind the environment contract."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Spec, Task, Transition
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.folder import MANIFEST, open_catalogue
from trajevolve.envs.webshop.generated import generated_catalogue
from trajevolve.envs.webshop.goals import Goal
from trajevolve.envs.webshop.nearest import corrections
from trajevolve.envs.webshop.pages import observation
from trajevolve.envs.webshop.reward import Reward, judge
from trajevolve.envs.webshop.session import (
    ALL_TABS,
    PREV,
    Page,
    State,
    clickables,
    parse_action,
    transition,
)
from trajevolve.envs.webshop.tasks import ENV, find_task, list_tasks

SEARCH = "search[<your query>]"
"""Stands for every search in the list of admissible actions: any text can be searched for."""

GENERATED = "generated"
DEFAULT_FOLDER = Path("data") / ENV

_TAB_CLICKS = frozenset(f"click[{tab}]" for tab in ALL_TABS)
_PREV_CLICK = f"click[{PREV}]"
_REFUSED = Transition(feasible=False, success=False, done=False)
_MOVED = Transition(feasible=True, success=False, done=False)


class WebshopEnvironment(Environment):
    """One shopping episode at a time; all of a process share one catalogue.

    Splits: ``train``, ``dev``, ``test``. The episode ends with the purchase; its reward and score
    are the benchmark's, success is a reward of 1.

    Any text can be searched for, on the index page only: there the admissible actions are the one
    line ``search[<your query>]``, which stands for all.

    Args:
        data: a prepared catalogue; without it ``$WEBSHOP_DATA``, then ``data/webshop`` where there
            is one, then a small generated shop. ``generated``: that one in any case.
        show_attributes: item pages have the tab that lists a product's attributes.

    Raises:
        UserError: there is no usable catalogue.
    """

    spec = Spec(
        name=ENV,
        snapshots=True,
        feasibility="admissible",
        exact_states=True,
        step_limit=20,
        kinds={"search": Kind.CHANGING, "click": Kind.CHANGING, "tab": Kind.INFORMATION},
    )

    def __init__(self, data: str | Path | None = None, show_attributes: bool = False) -> None:
        self.shop = _find_catalogue(data)
        self._show_attributes = show_attributes
        self._goal: Goal | None = None
        self._state = State()

    def reset(self, task: Task) -> Observation:
        """Start `task` on the index page."""
        self._goal = task.payload
        self._state = State()
        return self._observe()

    def step(self, action: str) -> Outcome:
        """Execute `action`; one that is not possible leaves the page as it is."""
        feasible = self._move(action)
        done = self._state.page == Page.DONE
        score = self.reward().total if done else 0.0
        return Outcome(
            observation=self._observe(),
            feasible=feasible,
            success=score == 1.0,
            done=done,
            reward=score if feasible else 0.0,
            score=score,
        )

    def advance(self, action: str) -> Transition:
        """Execute `action` without writing the page."""
        if not self._move(action):
            return _REFUSED
        if self._state.page != Page.DONE:
            return _MOVED
        return Transition(feasible=True, success=self.reward().total == 1.0, done=True)

    def reward(self) -> Reward:
        """Judge the purchase of what is on the current page, with the options chosen there.

        Raises:
            RuntimeError: no product is looked at.
        """
        if not self._state.asin:
            raise RuntimeError("no product is looked at, so nothing can be bought")
        chosen = [value for _, value in self._state.options]
        return judge(self.shop.product(self._state.asin), chosen, self._playing())

    def success(self) -> bool:
        """Something was bought, and it is exactly what was asked for."""
        return self._state.page == Page.DONE and self.reward().total == 1.0

    def kind(self, action: str) -> Kind:
        """Tabs only show text; everything else counts as changing."""
        return Kind.INFORMATION if action.strip().lower() in _TAB_CLICKS else Kind.CHANGING

    def coupled(self, actions: Sequence[str]) -> Iterable[tuple[int, ...]]:
        """Couple a tab with the ``< Prev`` that leaves it: together they are one look."""
        plain = [self.canonical(action) for action in actions]
        return [
            (place, place + 1)
            for place, (action, after) in enumerate(pairwise(plain))
            if action in _TAB_CLICKS and after == _PREV_CLICK
        ]

    def canonical(self, action: str) -> str:
        """Lower the case and take blanks from the ends."""
        return action.strip().lower()

    def candidates(self) -> Sequence[str]:
        """The admissible actions, ``search[<your query>]`` standing for every search."""
        if self._state.page == Page.INDEX:
            return (SEARCH,)
        clicks = clickables(self._state, self.shop, self._show_attributes)
        return tuple(f"click[{text}]" for text in clicks)

    def corrections(self, action: str) -> Sequence[str]:
        """What a wrong `action` may have meant: on the index page, a search for its words."""
        return corrections(action, self._state, self.candidates())

    def task(self, ref: str) -> Task:
        """Find a task by the number of its goal."""
        return find_task(self.shop, ref)

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        """List the goals of ``train``, ``dev`` or ``test``; with `count`, a seeded sample."""
        return list_tasks(self.shop, split, count, seed)

    def snapshot(self) -> State:
        """The current state; it is immutable."""
        return self._state

    def restore(self, mark: State) -> None:
        """Go back to a state of the same task."""
        self._state = mark

    def state_key(self) -> State:
        """The state itself."""
        return self._state

    def _move(self, action: str) -> bool:
        """Go where `action` leads; say whether it can be executed."""
        self._playing()
        parsed = parse_action(action)
        if parsed is None:
            return False
        after = transition(self._state, parsed, self.shop, self._show_attributes)
        if after is None:
            return False
        self._state = after
        return True

    def _observe(self) -> Observation:
        instruction = self._playing().instruction
        text = observation(self._state, instruction, self.shop, self._show_attributes)
        return Observation(text, tuple(self.candidates()))

    def _playing(self) -> Goal:
        if self._goal is None:
            raise RuntimeError("reset an environment before using it")
        return self._goal


def _find_catalogue(data: str | Path | None) -> Catalogue:
    if data is None:
        data = os.environ.get("WEBSHOP_DATA") or None
    if data is None and (DEFAULT_FOLDER / MANIFEST).is_file():
        data = DEFAULT_FOLDER
    if data is None or str(data) == GENERATED:
        return generated_catalogue()
    return open_catalogue(Path(data))
