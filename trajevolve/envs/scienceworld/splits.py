"""Which variations train, choose and test: the benchmark's own split, shipped as a manifest.

In the literature IID means seen task types and variations, OOD unseen variations of seen types:
here ``iid`` is another name of ``train`` and ``ood`` of ``test``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import numpy as np

from trajevolve.errors import UserError
from trajevolve.seeds import derive_seed
from trajevolve.wording import did_you_mean

RELEASE = "1.2.3"
"""Of the package scienceworld, whose tasks these are."""
SPLITS = ("train", "dev", "test")
ALIASES = {"iid": "train", "ood": "test"}


@cache
def counts() -> dict[str, tuple[int, int, int]]:
    """Variations of each task type in train, dev and test; they follow each other from 0 on."""
    text = files("trajevolve.envs.scienceworld").joinpath("splits.json").read_text("utf-8")
    return {name: (a, b, c) for name, (a, b, c) in json.loads(text)["types"].items()}


def variations(name: str, split: str) -> range:
    """Numbers of the variations of one task type in one split."""
    place = SPLITS.index(split)
    sizes = counts()[name]
    start = sum(sizes[:place])
    return range(start, start + sizes[place])


def members(split: str, count: int | None, seed: int) -> list[tuple[str, int]]:
    """List task type and variation of a split's tasks.

    Without a count all, by type and number. With one the types take turns, in a seeded order, so
    that the five with most variations do not fill the sample.

    Args:
        split: ``train``, ``dev``, ``test``, ``iid`` or ``ood``; ``train:boil,melt`` keeps some
            types.
        count: how many; all where the split has no more.
        seed: of the sample.

    Raises:
        UserError: the split or a task type is unknown.
    """
    part, colon, wanted = split.partition(":")
    part = ALIASES.get(part, part)
    if part not in SPLITS:
        raise UserError(
            f"split {split!r}: expected train, dev, test, iid (= train) or ood (= test), and after "
            "a colon task types: train:boil,melt"
        )
    names = known_types(wanted.split(",")) if colon else list(counts())
    everyone = [(name, number) for name in names for number in variations(name, part)]
    if count is None or count >= len(everyone):
        return everyone
    rng = np.random.default_rng(derive_seed("scienceworld", "sample", split, seed))
    order = [names[place] for place in rng.permutation(len(names))]
    drawn = {name: rng.permutation(variations(name, part)).tolist() for name in order}
    turns = (
        (name, drawn[name][turn])
        for turn in range(count)
        for name in order
        if turn < len(drawn[name])
    )
    return [pair for pair, _ in zip(turns, range(count), strict=False)]


def known_types(names: Iterable[str]) -> list[str]:
    """Return `names` without blanks and repeats. Raises UserError where one is no task type."""
    found = list(dict.fromkeys(name.strip() for name in names))
    for name in found:
        if name not in counts():
            what = did_you_mean(name, counts()) or f"known: {', '.join(counts())}"
            raise UserError(f"task type {name!r}: unknown; {what.strip()}")
    return found
