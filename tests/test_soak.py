"""A short soak: 300 episodes in one process leave memory and open files as they were."""

from __future__ import annotations

import gc
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "soak.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("soak_benchmark", BENCHMARK)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["soak_benchmark"] = module
    spec.loader.exec_module(module)
    return module


def made(benchmark: ModuleType, memory: list[float], handles: list[int]) -> list[object]:
    pairs = zip(memory, handles, strict=True)
    return [benchmark.Sample(50 * i, mb, mb, files) for i, (mb, files) in enumerate(pairs)]


def test_growth_is_found(benchmark: ModuleType) -> None:
    warm = [100.0, 150.0, 200.0, 250.0]
    flat = [300.0] * 12
    assert benchmark.is_flat(made(benchmark, warm + flat, [9] * 16))
    assert not benchmark.is_flat(made(benchmark, warm + flat, [9] * 15 + [10]))
    rising = [300.0 + 2 * i for i in range(12)]
    samples = made(benchmark, warm + rising, [9] * 16)
    found = benchmark.growth(samples, "rss_mb")
    assert (found["second_quarter"], found["last_quarter"]) == (303.0, 319.0)
    assert found["allowed"] == 11.06
    assert found["slope"] == 40.0
    assert not benchmark.is_flat(samples)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_300_episodes_leave_memory_and_files_as_they_were(benchmark: ModuleType) -> None:
    gc.collect()  # what other tests left open is none of it
    work, samples = benchmark.soak(300, games=5, chunk=12)
    assert work.played == 300
    assert work.by_model == 24
    assert work.successes == work.verified > 0
    assert benchmark.is_flat(samples), [benchmark.growth(samples, "rss_mb"), samples[-1]]
