"""One toy run to its end and one that stands in the middle, for every fault to start from."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from toys.training import make_model, toy_config

from faults.toyrun import contents, go_on
from trajevolve.config import RunConfig


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    make_model(folder)
    return folder


@pytest.fixture(scope="session")
def config(model: Path) -> RunConfig:
    return toy_config(model, checkpoints={"keep_last": 9})


@pytest.fixture(scope="session")
def half(config: RunConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run whose second iteration has been played and verified."""
    run_dir = tmp_path_factory.mktemp("half") / "runs" / "toy"
    go_on(run_dir, config, before=(1, "labelling"))
    return run_dir


@pytest.fixture(scope="session")
def late(half: Path, config: RunConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same run when it is about to load the policy."""
    run_dir = tmp_path_factory.mktemp("late") / "runs" / "toy"
    shutil.copytree(half, run_dir)
    go_on(run_dir, config, before=(1, "evolution"))
    return run_dir


@pytest.fixture(scope="session")
def finished(late: Path, config: RunConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same run at its end."""
    run_dir = tmp_path_factory.mktemp("finished") / "runs" / "toy"
    shutil.copytree(late, run_dir)
    go_on(run_dir, config)
    return run_dir


@pytest.fixture(scope="session")
def whole(finished: Path) -> dict[tuple[int, str], str]:
    """Content of every stage of the same run, undisturbed."""
    return contents(finished)


@pytest.fixture
def run_dir(half: Path, tmp_path: Path) -> Path:
    """A copy of the half run, to be damaged."""
    return Path(shutil.copytree(half, tmp_path / "runs" / "toy"))
