"""A slice of the long run of ``benchmarks/fuzz.py``, and the sizes that it relies on."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from fuzz.campaign import fuzz
from fuzz.judging import Broken, judge, little_memory
from fuzz.mutations import mutate
from fuzz.targets import TARGETS, Target
from trajevolve.errors import UserError

INPUTS = 3000
SEED = 2026


def test_shares_are_percent() -> None:
    assert sum(target.share for target in TARGETS) == 100


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_any_input_is_a_result_or_one_clear_line(target: Target) -> None:
    tally = fuzz(target, INPUTS * target.share // 100, SEED)
    assert tally.failures == []
    assert tally.outcomes.total() == INPUTS * target.share // 100


def test_the_same_seed_spoils_the_same_way() -> None:
    for target in TARGETS:
        samples = [b'{"a": [1, 2, {"b": "c"}]}', b"x y\nz"]
        once, again, other = (
            [
                mutate(np.random.default_rng([seed, i]), samples[0], samples, target.kinds)
                for i in range(20)
            ]
            for seed in (0, 0, 1)
        )
        assert once == again != other


def refuse(text: str) -> None:
    raise UserError(text)


def overflow(depth: int = 0) -> int:
    return overflow(depth + 1) + 1


@pytest.mark.parametrize(
    "read",
    [
        lambda: {}["missing"],
        lambda: refuse(""),
        lambda: refuse("somewhere else"),
        lambda: bytearray(8 << 30),
        overflow,
    ],
    ids=["another exception", "no text", "no place", "memory", "recursion"],
)
def test_the_judge_finds(read: Callable[[], object]) -> None:
    with little_memory(), pytest.raises(Broken):
        judge(read, "game.tw-pddl")


def test_the_judge_finds_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.judging.CPU_SECONDS", 0.2)
    started = time.process_time()

    def hang() -> None:
        try:
            while True:
                pass
        except Exception:
            hang()

    with pytest.raises(Broken, match="CPU seconds"):
        judge(hang)
    assert time.process_time() - started < 5
