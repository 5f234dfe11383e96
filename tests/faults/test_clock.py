"""A clock that is set back while a run goes on: nothing depends on its order."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import pytest

from faults.toyrun import contents, go_on
from trajevolve.config import RunConfig
from trajevolve.ledger import Ledger
from trajevolve.manifest import load_manifest

HOUR = 3600.0


@pytest.fixture
def backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for the time gets one an hour before the last."""
    now, asked = time.time, itertools.count(1)
    monkeypatch.setattr(time, "time", lambda: now() - HOUR * next(asked))


@pytest.mark.usefixtures("backwards")
def test_a_run_ends_like_one_that_was_not_disturbed(
    run_dir: Path, config: RunConfig, whole: dict[tuple[int, str], str]
) -> None:
    known = set(contents(run_dir))
    go_on(run_dir, config)
    assert contents(run_dir) == whole
    order = [(1, "labelling"), (1, "discriminator"), (1, "advantages"), (1, "update")]
    new = {(c.iteration, c.stage): c for c in Ledger(run_dir, "").commits()}
    times = [new[key].time for key in order]
    assert known.isdisjoint(order)
    assert times == sorted(times, reverse=True), "the clock was set back"
    assert all(commit.seconds >= 0 for commit in new.values())
    summary = json.loads((run_dir / "summary.json").read_text())
    assert all(seconds >= 0 for seconds in summary["seconds"].values())


@pytest.mark.slow
@pytest.mark.usefixtures("backwards")
def test_mlflow_shows_the_last_iteration(run_dir: Path, config: RunConfig) -> None:
    """Its "latest" value of a metric is that of the highest step, whatever the points' times."""
    from mlflow import MlflowClient

    tracked = config.tracking.model_copy(update={"enabled": True})
    go_on(run_dir, config.model_copy(update={"tracking": tracked}))
    client = MlflowClient(f"sqlite:///{run_dir.parents[1]}/mlflow.db")
    run = load_manifest(run_dir).mlflow_run
    last = Ledger(run_dir, config.digest()).committed(1, "rollout")
    assert last is not None
    history = client.get_metric_history(run, "rollout/success")
    assert sorted(point.step for point in history) == [0, 1]
    assert client.get_run(run).data.metrics["rollout/success"] == last.metrics["success"]
