import pytest
from toys import corridor as toy

from trajevolve.envs.contract import Task


@pytest.fixture
def corridor() -> toy.Corridor:
    return toy.Corridor()


@pytest.fixture
def task() -> Task:
    return toy.TASK


@pytest.fixture
def play():
    return toy.play
