"""ScienceWorld's tokens: words, and rooms, boxes and numbered flower pots as one token each.

A look around names dozens of things; what no short task needs is dropped: doors (the house is
always the same), the air, empty containers, states of devices.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trajevolve.envs.scienceworld.clumsy import COLOURS, ROOMS
from trajevolve.models.tokenizer import Reading, build_tokenizer
from trajevolve.trajectory import Trajectory

BOXES = [f"{colour} box" for colour in COLOURS]
POTS = [f"flower pot {number}" for number in range(1, 11)]

READING = Reading(
    dropped=(
        r"your task is to find|first, focus on the thing\. then, move it to the",
        r"you also see:[\s\S]*",
        r"this (?:room|outside location) is called the|in it, you see:|here you see:",
        r"(?:the agent|a substance called air|the ground)(?=\s)",
        r"\(containing nothing\)|\(containing a book [^\n]*",
        r"(?:in|on) the [a-z ]+ is: nothing\.",
        r", which is [a-z ]+",
        r"the [a-z ]+ door is (?:closed|open)\.",
        r" in the [a-z]+ stage(?: with a [a-z]+ height)?",
        r"a substance called",
        r"you decide to",
        r"for 1 iterations",
        r"matches that input",
        r"[^a-z0-9 ]",
    ),
    pieces=rf"{'|'.join(room for room in ROOMS if ' ' in room)}|flower pot [0-9]+"
    r"|(?:"
    + "|".join(COLOURS)
    + r") box|(?<![a-z0-9])(?!(?:a|an|n|the|you|your|it|is|are)(?![a-z0-9]))[a-z0-9]+",
)

ALWAYS = (
    "no known action look around inventory at in read examine wait wait1 task open close door to "
    "go put down pick up move focus on take living non thing animal plant not now see closed "
    "openable moveable egg hatchling baby adult tree soil water containing and box of nothing "
    "clear how there from here s"
)
"""Words of actions and answers."""

NAMED = (
    "ant apple apricot avocado banana bear beaver bee blue brown butterfly caterpillar chameleon "
    "cherry chicken common crocodile dove dragonfly elephant fire fox frog giant grapefruit "
    "hedgehog jay lemon lizard moth mouse orange parrot pea peach rabbit squirrel toad tortoise "
    "turtle wolf"
)
"""Animals and plants that need not have been recorded."""


def scienceworld_tokenizer(recordings: Iterable[Trajectory]) -> Any:
    """Build the tokenizer from recorded texts."""
    words = set(ALWAYS.split()) | set(NAMED.split()) | set(ROOMS)
    for trajectory in recordings:
        for step in trajectory.steps:
            words.update(READING.split(step.observation))
            words.update(READING.split(step.action or ""))
        words.update(READING.split(trajectory.final_observation))
    return build_tokenizer(READING, [*sorted(words.difference(BOXES, POTS)), *BOXES, *POTS])


def name_groups(tokenizer: Any) -> list[list[int]]:
    """Token ids that can stand for each other: the boxes. Else what is seen is to be known."""
    numbers = tokenizer.get_vocab()
    return [[numbers[name] for name in BOXES]]
