"""An expert made clumsy on purpose: it knows the task and slips all the time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.agent.clumsiness import Slips, one_of
from trajevolve.agent.contract import Turn
from trajevolve.envs.alfworld.searcher import Searcher


@dataclass(frozen=True)
class Clumsiness(Slips):
    """How often and how an expert slips.

    Attributes:
        wander: relative frequency of going to some receptacle for nothing.
        fiddle: of opening or closing what is at hand.
        grab: of taking some object.
        put_back: of putting the held object down where it stands.
        look: of looking, examining or taking stock.
        confuse: of naming a thing that is not there, an invalid action.
    """

    careful: tuple[float, float] = (0.05, 0.35)
    careless: tuple[float, float] = (0.7, 0.97)
    wander: float = 0.42
    fiddle: float = 0.14
    grab: float = 0.12
    put_back: float = 0.06
    look: float = 0.12
    confuse: float = 0.05


CAREFUL = Clumsiness(careful_share=1.0, careful=(0.0, 0.0))
"""Never slips."""

KINDS = ("wander", "fiddle", "grab", "put_back", "look", "confuse")
PREFIXES: dict[str, tuple[str, ...]] = {
    "wander": ("go to ",),
    "fiddle": ("open ", "close "),
    "grab": ("take ",),
    "put_back": ("move ",),
    "look": ("look", "inventory", "examine "),
}


class ClumsyExpert(ScriptedAgent):
    """A :class:`Searcher` per episode, interrupted by slips drawn from the episode's seed."""

    def __init__(self, clumsiness: Clumsiness = Clumsiness()) -> None:
        self.clumsiness = clumsiness
        self._episodes: dict[int, tuple[Searcher, np.random.Generator, float]] = {}

    def choose(self, turn: Turn) -> str:
        """Return the expert's action, or a slip."""
        if turn.slot not in self._episodes:
            rng = np.random.default_rng(turn.seed)
            level = self.clumsiness.draw(rng)
            self._episodes[turn.slot] = (Searcher(turn.task, rng), rng, level)
        searcher, rng, level = self._episodes[turn.slot]
        admissible = turn.observation.admissible or ()
        planned = searcher.act(turn.observation.text, admissible)
        if rng.random() >= level:
            return planned
        return self._slip(rng, admissible, planned)

    def release(self, slots: Iterable[int]) -> None:
        """Forget finished episodes."""
        for slot in slots:
            self._episodes.pop(slot, None)

    def _slip(self, rng: np.random.Generator, admissible: tuple[str, ...], planned: str) -> str:
        kind = self.clumsiness.slip(KINDS, rng)
        if kind == "confuse":
            return _confused(rng, planned)
        options = [action for action in admissible if action.startswith(PREFIXES[kind])]
        return one_of(options, rng) or planned


def _confused(rng: np.random.Generator, planned: str) -> str:
    """Get a number of the planned action wrong, which mostly makes it inadmissible."""
    words = planned.split()
    numbers = [place for place, word in enumerate(words) if word.isdigit()]
    if not numbers:
        return planned
    place = numbers[int(rng.integers(len(numbers)))]
    words[place] = str(int(words[place]) + int(rng.integers(1, 4)))
    return " ".join(words)
