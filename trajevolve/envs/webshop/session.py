"""Where a visitor is, and where an action leads: an immutable state and a pure transition."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from trajevolve.envs.webshop.catalogue import Catalogue

PAGE_SIZE = 10

BACK = "back to search"
NEXT = "next >"
PREV = "< prev"
BUY = "buy now"
TABS = ("description", "features", "reviews")
ATTRIBUTES = "attributes"
ALL_TABS = (*TABS, ATTRIBUTES)


class Page(StrEnum):
    """The kinds of page."""

    INDEX = "index"
    RESULTS = "results"
    ITEM = "item"
    TAB = "tab"
    DONE = "done"


class State(NamedTuple):
    """All that an episode depends on besides its goal.

    Attributes:
        page: kind of the current page.
        keywords: of the last search.
        number: page of results, from 1.
        asin: of the product looked at.
        tab: its page of details that is open.
        options: group and chosen value, by group.
    """

    page: Page = Page.INDEX
    keywords: tuple[str, ...] = ()
    number: int = 0
    asin: str = ""
    tab: str = ""
    options: tuple[tuple[str, str], ...] = ()

    @property
    def query(self) -> str:
        """The text that was searched for."""
        return " ".join(self.keywords)


class Action(NamedTuple):
    """``search[argument]`` or ``click[argument]``."""

    verb: str
    argument: str


def parse_action(text: str) -> Action | None:
    """Read an action in any case; None where the form is another one."""
    verb, opened, rest = text.strip().lower().partition("[")
    if verb not in ("search", "click") or not opened or not rest.endswith("]") or rest == "]":
        return None
    return Action(verb, rest[:-1])


def clickables(state: State, shop: Catalogue, show_attributes: bool = False) -> tuple[str, ...]:
    """List what can be clicked, lower case: buttons, then asins, then option values."""
    match state.page:
        case Page.RESULTS:
            buttons = (BACK, NEXT) if state.number == 1 else (BACK, PREV, NEXT)
            return buttons + tuple(shop.listing(row).asin.lower() for row in shown(state, shop))
        case Page.ITEM:
            tabs = ALL_TABS if show_attributes else TABS
            values = (value for _, group in shop.product(state.asin).options for value in group)
            # A value that is empty has nothing to click on; one that repeats is one clickable.
            return tuple(dict.fromkeys((BACK, PREV, *tabs, BUY, *filter(None, values))))
        case Page.TAB:
            return (BACK, PREV)
    return ()


def shown(state: State, shop: Catalogue) -> tuple[int, ...]:
    """Return the rows on the current page of results."""
    return shop.hits(state.query)[(state.number - 1) * PAGE_SIZE : state.number * PAGE_SIZE]


def transition(
    state: State, action: Action, shop: Catalogue, show_attributes: bool = False
) -> State | None:
    """Return the state after `action`, None where it cannot be executed."""
    verb, argument = action
    if verb == "search":
        if state.page != Page.INDEX:
            return None
        return State(Page.RESULTS, tuple(argument.split()), 1)
    match state.page:
        case Page.RESULTS:
            return _from_results(state, argument, shop)
        case Page.ITEM:
            return _from_item(state, argument, shop, show_attributes)
        case Page.TAB:
            if argument == BACK:
                return State()
            return state._replace(page=Page.ITEM, tab="") if argument == PREV else None
    return None


def _from_results(state: State, argument: str, shop: Catalogue) -> State | None:
    if argument == BACK:
        return State()
    if argument == NEXT:
        return state._replace(number=state.number + 1)
    if argument == PREV:
        return state._replace(number=state.number - 1) if state.number > 1 else None
    for row in shown(state, shop):
        asin = shop.listing(row).asin
        if asin.lower() == argument:
            return state._replace(page=Page.ITEM, asin=asin)
    return None


def _from_item(state: State, argument: str, shop: Catalogue, show_attributes: bool) -> State | None:
    if argument == BACK:
        return State()
    if argument == PREV:
        return State(Page.RESULTS, state.keywords, state.number)
    if argument == BUY:
        return state._replace(page=Page.DONE)
    if argument in TABS or (argument == ATTRIBUTES and show_attributes):
        return state._replace(page=Page.TAB, tab=argument)
    name = shop.product(state.asin).option_of(argument) if argument else None
    if name is None:
        return None
    chosen = dict(state.options) | {name: argument}
    return state._replace(options=tuple(sorted(chosen.items())))
