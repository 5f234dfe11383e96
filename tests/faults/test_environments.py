"""An environment that raises or hangs in one episode: that one fails with its reason.

One that raises in ``reset`` or ``step`` stands in ``tests/test_rollout.py``.
"""

from __future__ import annotations

import json
import logging
import shutil
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from toys.lane import Lane
from toys.training import toy_config

from faults.misbehaving import HANGS, BrokenReplay, Hanging, Raising, sleep
from faults.toyrun import go_on
from trajevolve.agent.agents import ScriptedAgent
from trajevolve.agent.contract import Turn
from trajevolve.config import CreditConfig, EnvConfig, RunConfig
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.envs.contract import Environment, Outcome
from trajevolve.ledger import Ledger
from trajevolve.problems import Problem
from trajevolve.rollout import Episode, play
from trajevolve.storage import read_shard
from trajevolve.trajectory import Trajectory

TASKS = {task.id: task for task in Lane().tasks("all")}
LIMIT_S = 0.3


class Script(ScriptedAgent):
    """Goes straight to its goal, but for episodes called ``bad``, which look after one step."""

    def choose(self, turn: Turn) -> str:
        if turn.slot == 1 and turn.history:
            return "look"
        return "forth" if turn.task.id == "east" else "back"


def run(make: Callable[[], Environment], seconds: float | None = LIMIT_S) -> list[Trajectory]:
    """Play three episodes; the one in the middle looks."""
    episodes = [Episode(str(n), TASKS[end], n) for n, end in enumerate(("east", "west", "east"))]
    return play(episodes, Script(), make, EnvConfig(step_limit=5, step_timeout_s=seconds))


@pytest.mark.parametrize("hang", HANGS)
def test_a_step_that_hangs_fails_its_own_episode(hang: str) -> None:
    started = time.monotonic()
    first, bad, last = run(lambda: Hanging(HANGS[hang]))
    assert time.monotonic() - started < 20
    assert bad.termination == "error: TimeoutError: no answer within 0.3 s"
    assert (bad.success, bad.actions) == (False, ("back",))
    assert first.success and last.success


def test_a_reset_that_hangs_fails_its_own_episode() -> None:
    first, bad, last = run(lambda: Hanging(sleep, resets=True))
    assert bad.termination == "error: TimeoutError: no answer within 0.3 s"
    assert (bad.success, bad.actions) == (False, ())
    assert first.success and last.success


@pytest.mark.parametrize("method", ["canonical", "kind", "step", "state_key"])
def test_an_environment_may_raise_anywhere(method: str) -> None:
    first, bad, last = run(lambda: Raising(method))
    assert bad.termination == f"error: OSError: {method} is broken"
    assert not bad.success
    assert first.success and last.success


def test_what_was_played_stands_when_closing_fails() -> None:
    first, bad, last = run(lambda: Raising("close"))
    assert (bad.termination, len(bad)) == ("limit", 5)
    assert first.success and last.success


def test_the_time_of_the_model_does_not_count() -> None:
    class Slow(Script):
        def choose(self, turn: Turn) -> str:
            time.sleep(LIMIT_S if turn.slot == 0 and not turn.history else 0)
            return super().choose(turn)

    episodes = [Episode("a", TASKS["east"], 0)]
    (played,) = play(episodes, Slow(), Lane, EnvConfig(step_timeout_s=LIMIT_S / 2))
    assert played.success


def test_the_alarm_is_given_back_with_the_time_that_was_left() -> None:
    rung: list[int] = []

    def ring(number: int, frame: object) -> None:
        rung.append(number)

    previous = signal.signal(signal.SIGALRM, ring)
    before = signal.setitimer(signal.ITIMER_REAL, 1000.0)
    try:
        run(Hanging)
        assert signal.getsignal(signal.SIGALRM) is ring
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < left < 1000 - LIMIT_S
        signal.setitimer(signal.ITIMER_REAL, LIMIT_S / 3)
        run(Hanging)  # longer than what was left
        time.sleep(0.1)
        assert rung == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, previous)
        signal.setitimer(signal.ITIMER_REAL, *before)


def test_without_a_limit_nothing_is_watched() -> None:
    handler = signal.getsignal(signal.SIGALRM)

    class Looking(Lane):
        def step(self, action: str) -> Outcome:
            assert signal.getsignal(signal.SIGALRM) is handler
            return super().step(action)

    for seconds in (None, 0.0):
        assert all(t.termination in ("success", "limit") for t in run(Looking, seconds))


def test_another_thread_plays_unwatched_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    played: list[Trajectory] = []
    thread = threading.Thread(target=lambda: played.extend(run(Lane)))
    with caplog.at_level(logging.WARNING):
        thread.start()
        thread.join()
    assert [t.success for t in played] == [True, False, True]
    assert "without effect outside the main thread" in caplog.text


def test_a_replay_that_hangs_leaves_its_success_without_labels() -> None:
    """The limit holds for a transition, not for all the replays of a trajectory."""
    first, _, last = run(Lane)
    looked = play(
        [Episode("looked", TASKS["east"], 0)], Detour(), Lane, EnvConfig(step_timeout_s=0)
    )[0]
    assert looked.success

    class Slow(Hanging):
        def step(self, action: str) -> Outcome:
            time.sleep(0.3)
            return super().step(action)

    slow = CreditConfig(mode="independent", order="forward")
    labelled, stats = verify_trajectories(Slow(), TASKS, [first, looked, last], slow, timeout_s=1.0)
    assert [t.verified for t in labelled] == [True, False, True]
    assert stats.problems == (Problem("looked", "east", "TimeoutError: no answer within 1 s"),)
    assert stats.transitions > 2 * 1.0 / 0.3


class Detour(ScriptedAgent):
    def choose(self, turn: Turn) -> str:
        return "look" if len(turn.history) == 1 else "forth"


def test_a_run_goes_on_and_counts_the_episode(model: Path, tmp_path: Path) -> None:
    environment = {
        "name": "faults.misbehaving:HangsOnce",
        "split": "all",
        "step_limit": 8,
        "step_timeout_s": 1.0,
    }
    config = toy_config(model, iterations=1, env=environment)
    run_dir = tmp_path / "runs" / "hanging"
    go_on(run_dir, config)
    played = {c.stage: c.metrics for c in Ledger(run_dir, "").commits() if "errors" in c.metrics}
    shards = sorted((run_dir / "shards").glob("iter_*_rollout.parquet"))
    failed = [t for path in shards for t in read_shard(path) if t.broken]
    evaluated = read_shard(run_dir / "shards" / "iter_0000_evaluation_before.parquet")
    failed += [t for t in evaluated if t.broken]
    assert [t.termination for t in failed] == ["error: TimeoutError: no answer within 1 s"]
    assert played["rollout"]["errors"] <= 1.0
    assert (run_dir / "summary.json").is_file()


def test_stages_tell_which_successes_have_no_labels_and_why(
    model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    environment = {"name": "faults.misbehaving:BrokenReplay", "split": "all", "step_limit": 8}
    run_dir = tmp_path / "runs" / "broken"
    with caplog.at_level(logging.WARNING, "trajevolve.stages"):
        go_on(run_dir, toy_config(model, env=environment), before=(0, "labelling"))
    ledger = Ledger(run_dir, "")
    (verified,) = ledger.commits("verification")
    lost = int(verified.metrics["unverified"])
    assert lost == verified.metrics["successes"] > 0
    said = {str(record.args[1]): record.getMessage() for record in caplog.records if record.args}
    assert set(said) == {"evaluation_before", "verification"}
    assert f"iteration 0, verification: {lost} of {lost} success" in said["verification"]
    assert "KeyError: 'forth'" in said["verification"]
    assert "0000/00/" in said["verification"] and "(east)" in said["verification"]


def test_evolution_goes_on_where_nothing_can_be_replayed_any_more(
    late: Path, config: RunConfig, tmp_path: Path,
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    run_dir = Path(shutil.copytree(late, tmp_path / "runs" / "toy"))
    monkeypatch.setattr(Lane, "advance", BrokenReplay.advance)
    with caplog.at_level(logging.WARNING, "trajevolve.stages"):
        go_on(run_dir, config, before=(1, "advantages"))
    records = json.loads((run_dir / "iter_0001" / "evolution" / "records.json").read_text())
    children = read_shard(run_dir / "shards" / "iter_0001_evolution.parquet")
    solved = [child for child in children if child.success]
    assert solved and not any(child.verified for child in children)
    assert f"iteration 1, evolution: {len(solved)} of {len(solved)} success" in caplog.text
    given_up = [each for each in records if each["reason"].startswith("replay failed: KeyError: ")]
    assert given_up and len(given_up) + len(children) == len(records)
    assert f"iteration 1, evolution: {len(given_up)} parents not evolved: " in caplog.text


@pytest.mark.parametrize("dead", [{"west"}, {"west", "east"}])
def test_a_broken_episode_is_no_member_of_its_group(
    dead: set[str], config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a failure it would raise the others' advantages; where all broke nothing is learnt."""
    step = Lane.step

    def die(self: Lane, action: str) -> Outcome:
        if ("east" if self.goal > 0 else "west") in dead:
            raise ConnectionError("the engine died")
        return step(self, action)

    monkeypatch.setattr(Lane, "step", die)
    run_dir = tmp_path / "runs" / "toy"
    go_on(run_dir, config)
    rollout = read_shard(run_dir / "shards" / "iter_0001_rollout.parquet")
    assert {t.task_id for t in rollout if t.broken} == dead
    members = read_shard(run_dir / "shards" / "iter_0001_advantages.parquet")
    assert {t.task_id for t in members} == {"east", "west"} - dead
    (_, update) = Ledger(run_dir, "").commits("update")
    assert (update.metrics["optimiser_steps"] > 0) == (len(dead) == 1)
