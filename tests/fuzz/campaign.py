"""Many mutated inputs for every target, counted; the first of each kind of failure is kept."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from fuzz.judging import Broken, judge, little_memory
from fuzz.mutations import mutate
from fuzz.targets import Target


@dataclass
class Tally:
    """What became of the inputs of one target.

    Attributes:
        outcomes: ``done``, ``refused`` and ``failed`` -> how many.
        seconds: of processor time.
        failures: (number of the input, what was wrong, the input), one of each kind.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    failures: list[tuple[int, str, bytes]] = field(default_factory=list)


def fuzz(
    target: Target, count: int, seed: int, report: Callable[[str], None] = lambda text: None
) -> Tally:
    """Read `count` mutated inputs at `target`; the same seed gives the same inputs."""
    tally, seen = Tally(), set[str]()
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    started = time.process_time()
    try:
        samples = target.samples(folder)
        for sample in samples:
            attempt(target, sample, folder)
        with little_memory():
            for number in range(count):
                data = make_input(target, samples, seed, number)
                try:
                    tally.outcomes[attempt(target, data, folder)] += 1
                except Broken as broken:
                    tally.outcomes["failed"] += 1
                    kind = str(broken)[:60]
                    if kind not in seen:
                        seen.add(kind)
                        tally.failures.append((number, str(broken), data))
                        report(f"{target.name}, input {number}: {broken}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tally.seconds = time.process_time() - started
    return tally


def make_input(target: Target, samples: list[bytes], seed: int, number: int) -> bytes:
    """Make input `number` of a campaign."""
    rng = np.random.default_rng([seed, number])
    return mutate(rng, samples[int(rng.integers(len(samples)))], samples, target.kinds)


def attempt(target: Target, data: bytes, folder: Path) -> str:
    """Read one input and judge what happens."""
    if target.file:
        (folder / target.file).write_bytes(data)
    return judge(partial(target.read, data, folder), place=target.file)
