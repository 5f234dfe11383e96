"""An expert made clumsy on purpose: it knows the task and slips all the time.

Its episodes warm up the built-in policy and pre-train the discriminator. Each episode is careful
or careless throughout, so the policy that imitates them holds both side by side, as a base
language model does, and reinforcement learning can choose.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.agent.contract import Turn
from trajevolve.envs.alfworld.searcher import Searcher


@dataclass(frozen=True)
class Clumsiness:
    """How often and how an expert slips.

    Attributes:
        careful_share: share of careful episodes.
        careful: least and greatest probability of a slip at a step of a careful episode; each
            episode draws its own, uniformly.
        careless: the same of the others.
        wander: relative frequency of going to some receptacle for nothing.
        fiddle: of opening or closing what is at hand.
        grab: of taking some object.
        put_back: of putting the held object down where it stands.
        look: of looking, examining or taking stock.
        confuse: of naming a thing that is not there, an invalid action.
    """

    careful_share: float = 0.25
    careful: tuple[float, float] = (0.05, 0.35)
    careless: tuple[float, float] = (0.7, 0.97)
    wander: float = 0.42
    fiddle: float = 0.14
    grab: float = 0.12
    put_back: float = 0.06
    look: float = 0.12
    confuse: float = 0.05

    def draw(self, rng: np.random.Generator) -> float:
        """Draw an episode's probability of a slip at a step."""
        is_careful = self.careful_share > 0 and rng.random() < self.careful_share
        return float(rng.uniform(*(self.careful if is_careful else self.careless)))

    @property
    def slips(self) -> dict[str, float]:
        """Kind of slip -> probability, given that one happens."""
        names = ("wander", "fiddle", "grab", "put_back", "look", "confuse")
        total = sum(getattr(self, name) for name in names)
        return {name: getattr(self, name) / total for name in names}


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
        slips = self.clumsiness.slips
        kind = str(rng.choice(list(slips), p=list(slips.values())))
        if kind == "confuse":
            return _confused(rng, planned)
        options = [action for action in admissible if action.startswith(PREFIXES[kind])]
        return options[int(rng.integers(len(options)))] if options else planned


def _confused(rng: np.random.Generator, planned: str) -> str:
    """Get a number of the planned action wrong, which mostly makes it inadmissible."""
    words = planned.split()
    numbers = [place for place, word in enumerate(words) if word.isdigit()]
    if not numbers:
        return planned
    place = numbers[int(rng.integers(len(numbers)))]
    words[place] = str(int(words[place]) + int(rng.integers(1, 4)))
    return " ".join(words)
