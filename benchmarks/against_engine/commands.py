"""Texts to send: what agents really write, from the next step of a plan to plain noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

VERBS = ("go to", "open", "close", "take", "move", "heat", "clean", "cool", "use", "slice")
_JOINED = {"take": "from", "move": "to", "heat": "with", "clean": "with", "cool": "with"}
_BLANKS = ("  ", "\t", "\n", "\u00a0", "\u2003", "\r\n")
_ODD = ("é", "ß", "ſ", "İ", "Ω", "中", "🙂", "\u200b", "\u0301", "\x00", "ﬁ", "１")


@dataclass(frozen=True)
class Scene:
    """What texts are made from.

    Attributes:
        admissible: the admissible commands of the state.
        names: names of everything in the game, ``cabinet 3``.
    """

    admissible: Sequence[str]
    names: Sequence[str]


def admissible(rng: np.random.Generator, scene: Scene) -> str:
    """Draw a verb, then one of its admissible commands, so that ``go to`` is not most of it."""
    by_verb: dict[str, list[str]] = {}
    for command in scene.admissible:
        by_verb.setdefault(command.partition(" ")[0], []).append(command)
    return _pick(rng, by_verb[_pick(rng, sorted(by_verb))])


def elsewhere(rng: np.random.Generator, scene: Scene) -> str:
    """Draw a well-formed command about things of this game; it is seldom admissible."""
    if rng.random() < 0.5:
        words = admissible(rng, scene).split(" ")
        name = _pick(rng, scene.names).split(" ")
        return " ".join([*words[:-2], *name]) if len(words) > 2 else f"examine {' '.join(name)}"
    verb = _pick(rng, VERBS)
    first, second = _pick(rng, scene.names), _pick(rng, scene.names)
    if verb == "slice":
        return f"slice {first} with {second}"
    return f"{verb} {first} {_JOINED[verb]} {second}" if verb in _JOINED else f"{verb} {first}"


def alias(rng: np.random.Generator, scene: Scene) -> str:
    """Write ``put O in/on R``, the verb of older releases, for a move that may be possible."""
    moves = [command for command in scene.admissible if command.startswith("move ")]
    if moves:
        thing, place = _pick(rng, moves)[len("move ") :].split(" to ")
    else:
        thing, place = _pick(rng, scene.names), _pick(rng, scene.names)
    return f"put {thing} {_pick(rng, ('in/on', 'in', 'on', 'into'))} {place}"


def malformed(rng: np.random.Generator, scene: Scene) -> str:
    """Damage a command: words lost, doubled, swapped or joined, numbers and signs changed."""
    words = admissible(rng, scene).split(" ")
    place = int(rng.integers(len(words)))
    damage = int(rng.integers(7))
    if damage == 0:
        del words[place]
    elif damage == 1:
        words.insert(place, words[place])
    elif damage == 2:
        words.reverse()
    elif damage == 3:
        return "".join(words)
    elif damage == 4:
        words[-1] = f"0{words[-1]}" if words[-1].isdigit() else f"{words[-1]} 1"
    elif damage == 5:
        words[-1] += _pick(rng, (".", "!", ",", ";", " please", "\\", '"', "{r}", "%s", "#task#"))
    else:
        return _pick(rng, ("go", "go to", "take", "take from", "moon 1", "help me", "xyzzy", "-1"))
    return " ".join(words)


def spacing(rng: np.random.Generator, scene: Scene) -> str:
    """Write an admissible command with other blanks between and around its words."""
    words = admissible(rng, scene).split(" ")
    joined = "".join(word + _pick(rng, (" ", *_BLANKS)) for word in words[:-1]) + words[-1]
    return _pick(rng, ("", " ", *_BLANKS)) + joined + _pick(rng, ("", " ", *_BLANKS))


def case(rng: np.random.Generator, scene: Scene) -> str:
    """Write an admissible command in other case."""
    command = admissible(rng, scene)
    return _pick(rng, (command.upper(), command.title(), command.capitalize(), command.swapcase()))


def non_ascii(rng: np.random.Generator, scene: Scene) -> str:
    """Put a character that is not ASCII somewhere into an admissible command."""
    command = admissible(rng, scene)
    place = int(rng.integers(len(command) + 1))
    replaced = int(rng.integers(2))
    return command[:place] + _pick(rng, _ODD) + command[place + replaced :]


def empty(rng: np.random.Generator, scene: Scene) -> str:
    """Write nothing, or blanks."""
    return _pick(rng, ("", " ", *_BLANKS))


def long(rng: np.random.Generator, scene: Scene) -> str:
    """Write thousands of characters."""
    command = admissible(rng, scene)
    return _pick(rng, (" ".join([command] * 400), command + "x" * 20_000, "go to " * 2_000))


KINDS: dict[str, tuple[float, Callable[[np.random.Generator, Scene], str]]] = {
    "admissible": (0.46, admissible),
    "elsewhere": (0.18, elsewhere),
    "alias": (0.05, alias),
    "malformed": (0.11, malformed),
    "spacing": (0.06, spacing),
    "case": (0.04, case),
    "non-ASCII": (0.05, non_ascii),
    "empty": (0.03, empty),
    "long": (0.02, long),
}
"""Kind of text -> its share of the texts, and how one is drawn."""


def draw(rng: np.random.Generator, scene: Scene) -> tuple[str, str]:
    """Draw (kind, text)."""
    shares = [share for share, _ in KINDS.values()]
    kind = str(rng.choice(list(KINDS), p=shares))
    return kind, KINDS[kind][1](rng, scene)


def _pick(rng: np.random.Generator, options: Sequence[str]) -> str:
    return options[int(rng.integers(len(options)))]
