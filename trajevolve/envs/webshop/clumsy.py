"""A shopper made clumsy on purpose: it knows what it wants and slips all the time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.agent.clumsiness import Slips, one_of
from trajevolve.agent.contract import Turn
from trajevolve.envs.webshop.session import BACK, BUY, NEXT, PREV, TABS, Page
from trajevolve.envs.webshop.shopper import View, planned

SLIPS: dict[Page, tuple[str, ...]] = {
    Page.INDEX: ("vague", "confuse"),
    Page.RESULTS: ("browse", "open", "restart", "confuse"),
    Page.ITEM: ("tab", "option", "leave", "restart", "rash", "confuse"),
    Page.TAB: ("restart", "confuse"),
}
"""What can go wrong where."""


@dataclass(frozen=True)
class Clumsiness(Slips):
    """How often and how a shopper slips.

    Attributes:
        vague: relative frequency of searching for a part of what is wanted.
        browse: of turning a page of results.
        open: of opening some product.
        restart: of going back to the search.
        tab: of reading a tab.
        option: of choosing some option.
        leave: of leaving a product for its results.
        rash: of buying what is at hand.
        confuse: of an action that is not possible here.
    """

    careful: tuple[float, float] = (0.0, 0.2)
    careless: tuple[float, float] = (0.5, 0.85)
    vague: float = 0.1
    browse: float = 0.2
    open: float = 0.2
    restart: float = 0.06
    tab: float = 0.3
    option: float = 0.3
    leave: float = 0.1
    rash: float = 0.12
    confuse: float = 0.07


CAREFUL = Clumsiness(careful_share=1.0, careful=(0.0, 0.0))
"""Never slips."""


class ClumsyShopper(ScriptedAgent):
    """The expert of :func:`~trajevolve.envs.webshop.shopper.planned`, interrupted by slips.

    Slips are drawn from the seed of the episode's first turn.
    """

    def __init__(self, clumsiness: Clumsiness = Clumsiness()) -> None:
        self.clumsiness = clumsiness
        self._episodes: dict[int, tuple[np.random.Generator, float]] = {}

    def choose(self, turn: Turn) -> str:
        """Return the expert's action, or a slip."""
        if turn.slot not in self._episodes:
            rng = np.random.default_rng(turn.seed)
            self._episodes[turn.slot] = (rng, self.clumsiness.draw(rng))
        rng, level = self._episodes[turn.slot]
        view = View.of(turn)
        if rng.random() >= level:
            return planned(view)
        kind = self.clumsiness.slip(SLIPS[view.state.page], rng)
        if kind == "vague":
            return _vague(view, rng)
        if kind == "confuse":
            return _confused(view, turn.observation.admissible or (), rng)
        options = _slips(kind, view, turn.observation.admissible or ())
        return one_of(options, rng) or planned(view)

    def release(self, slots: Iterable[int]) -> None:
        """Forget finished episodes."""
        for slot in slots:
            self._episodes.pop(slot, None)


def _slips(kind: str, view: View, admissible: tuple[str, ...]) -> list[str]:
    """List the possible actions that are slips of a kind."""
    fixed = {
        "browse": (f"click[{NEXT}]",),
        "restart": (f"click[{BACK}]",),
        "tab": tuple(f"click[{tab}]" for tab in TABS),
        "leave": (f"click[{PREV}]",),
        "rash": (f"click[{BUY}]",),
    }
    if kind in fixed:
        return [action for action in fixed[kind] if action in admissible]
    # What is left, products among results and options of a product, is listed after the buttons.
    buttons = {f"click[{text}]" for text in (BACK, NEXT, PREV, BUY, *TABS)}
    return [action for action in admissible if action not in buttons]


def _vague(view: View, rng: np.random.Generator) -> str:
    """Search for the options alone, or for all but the options."""
    parts = [" ".join(part) for part in (view.wish.words, view.wish.values) if part]
    return f"search[{one_of(parts, rng)}]"


def _confused(view: View, admissible: tuple[str, ...], rng: np.random.Generator) -> str:
    """Leave a bracket open, or click on what is not there."""
    if view.state.page == Page.INDEX:
        return planned(view)[:-1]
    elsewhere = [f"click[{text}]" for text in (BUY, NEXT, *TABS, *view.wish.values)]
    absent = [action for action in elsewhere if action not in admissible]
    return one_of(absent, rng) or planned(view)
