"""An expert that shops by title: searches for what is asked for, opens what suits best, buys.

What to do next follows from where the visitor is and what has been opened, not from what was meant
before, so anybody may act in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trajevolve.agent.contract import Turn
from trajevolve.envs.contract import Task
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.environment import WebshopEnvironment
from trajevolve.envs.webshop.goals import Goal
from trajevolve.envs.webshop.prices import bound_text
from trajevolve.envs.webshop.session import BACK, BUY, PAGE_SIZE, PREV, Page, State, parse_action
from trajevolve.errors import UserError
from trajevolve.trajectory import Step

PATIENCE = 2
"""Products without a wanted option that are put back; the next one is bought as it is."""

_SAYS_NOTHING = (
    "i am looking for that are need want to buy find me they should be please get in and"
)
_ASIDE = frozenset(_SAYS_NOTHING.split())
_WORD = re.compile(r"[^\s,]*[^\s,.]")


@dataclass(frozen=True)
class Wish:
    """What an instruction asks for.

    Attributes:
        words: its words in their order, without those that say nothing and without options.
        values: the options wanted.
    """

    words: tuple[str, ...]
    values: tuple[str, ...]

    @classmethod
    def of(cls, goal: Goal, shop: Catalogue) -> Wish:
        """Read the instruction of `goal`."""
        text = goal.instruction.removesuffix(bound_text(goal.bound)).lower()
        product = shop.product(goal.asin)
        values = tuple(value.lower() for _, value in goal.options)
        for value in values:
            text = text.replace(f"{value} {product.option_of(value) or ''}".strip(), " ")
        words = [word for word in _WORD.findall(text) if word not in _ASIDE]
        return cls(tuple(words), values)

    @property
    def query(self) -> str:
        """All of it, as words to search for."""
        return " ".join((*self.words, *self.values))

    def likeness(self, title: str) -> int:
        """Count the words that a title has."""
        said = {word.strip(".,") for word in title.lower().split()}
        return sum(word in said for word in self.words)


@dataclass(frozen=True)
class View:
    """One moment of an episode, as the expert sees it."""

    goal: Goal
    wish: Wish
    shop: Catalogue
    state: State
    opened: tuple[str, ...]

    @classmethod
    def of(cls, turn: Turn) -> View:
        """Look at a turn. Raises UserError where it is of another environment."""
        environment = turn.environment
        if not isinstance(environment, WebshopEnvironment):
            raise UserError(f"task {turn.task.id}: the shopper plays webshop, nothing else")
        goal = goal_of(turn.task)
        return cls(
            goal,
            Wish.of(goal, environment.shop),
            environment.shop,
            environment.snapshot(),
            _opened(turn.history),
        )

    def best(self) -> str:
        """The product of the first page of results that suits best; "" without any."""
        rows = self.shop.hits(self.state.query)[:PAGE_SIZE]
        listings = [self.shop.listing(row) for row in rows]
        lacking = [one.asin for one in listings if self._put_back(one.asin)][:PATIENCE]
        left = [one for one in listings if one.asin not in lacking] or listings
        return max(left, key=lambda one: self.wish.likeness(one.title)).asin if left else ""

    def missing(self) -> list[str]:
        """Wanted options that the product looked at offers and that are not chosen."""
        product = self.shop.product(self.state.asin)
        chosen = {value for _, value in self.state.options}
        wanted = (value for value in self.wish.values if product.option_of(value))
        return [value for value in wanted if value not in chosen]

    def _put_back(self, asin: str) -> bool:
        product = self.shop.product(asin)
        return asin.lower() in self.opened and not all(map(product.option_of, self.wish.values))


def planned(view: View) -> str:
    """Return the action that brings the purchase nearest."""
    match view.state.page:
        case Page.INDEX:
            return f"search[{view.wish.query}]"
        case Page.TAB:
            return f"click[{PREV}]"
        case Page.RESULTS:
            best = view.best()
            if view.state.number > 1:
                return f"click[{PREV}]"
            return f"click[{best.lower()}]" if best else f"click[{BACK}]"
    if view.state.asin != view.best():
        return f"click[{PREV}]"
    missing = view.missing()
    return f"click[{missing[0]}]" if missing else f"click[{BUY}]"


def goal_of(task: Task) -> Goal:
    """Return what a task asks for. Raises UserError where it is of another environment."""
    if not isinstance(task.payload, Goal):
        raise UserError(f"task {task.id}: the shopper plays webshop, nothing else")
    return task.payload


def _opened(history: Sequence[Step]) -> tuple[str, ...]:
    """Everything clicked on; of these, asins are what :meth:`View.best` looks for."""
    return tuple(_arguments(step.action for step in history if step.valid and step.action))


def _arguments(actions: Iterable[str]) -> Iterable[str]:
    for action in actions:
        parsed = parse_action(action)
        if parsed is not None and parsed.verb == "click":
            yield parsed.argument
