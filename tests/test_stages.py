"""A whole toy run, stage by stage: every stage commits, and a restart anywhere changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import torch
from toys.training import make_model, toy_config, trained_run

from trajevolve.config import RunConfig
from trajevolve.errors import UserError
from trajevolve.experiment import Experiment, close_experiment, open_experiment
from trajevolve.ledger import Point
from trajevolve.record import record_iteration
from trajevolve.schedule import all_stages, stages
from trajevolve.selection import best_updates
from trajevolve.stages import STAGES
from trajevolve.summary import summarise, write_summary
from trajevolve.trajectory import to_groups


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> RunConfig:
    folder = tmp_path_factory.mktemp("model")
    make_model(folder)
    return toy_config(folder, checkpoints={"keep_last": 1, "keep_best": 1}, iterations=3)


@pytest.fixture(scope="module")
def finished(config: RunConfig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Experiment]:
    project = tmp_path_factory.mktemp("project")
    with trained_run(config, project, "whole") as experiment:
        yield experiment


def contents(experiment: Experiment) -> dict[tuple[int, str], str]:
    return {(c.iteration, c.stage): c.content for c in experiment.ledger.commits()}


def test_every_stage_is_committed_and_none_is_left(finished: Experiment) -> None:
    assert set(contents(finished)) == set(all_stages(finished.config))
    assert finished.next_point() is None


def test_the_toy_exercises_credit_and_evolution(finished: Experiment) -> None:
    """Otherwise the equalities below would say little."""
    assert any(c.metrics["verified"] > 0 for c in finished.ledger.commits("verification"))
    evolved = finished.read(1, "evolution")
    assert any(child.evolution is not None and child.evolution.accepted for child in evolved)
    trained = [step for t in finished.read(1, "advantages") for step in t.steps]
    assert any(step.step_advantage for step in trained)
    assert all(len(step.old_logprobs) == len(step.response_ids) for step in trained)


def test_prompts_that_do_not_fit_are_recorded_counted_and_told(
    config: RunConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agent = config.agent.model_copy(update={"max_prompt_tokens": 40})
    short = config.model_copy(update={"agent": agent})
    with closing(Experiment(tmp_path / "runs" / "short", short, tmp_path)) as experiment:
        commit = STAGES["rollout"](experiment, 0)
        steps = [step for t in experiment.read(0, "rollout") for step in t.steps]
    cut = [step for step in steps if step.truncated_tokens]
    assert 0 < len(cut) < len(steps)
    assert commit.metrics["truncated_share"] == len(cut) / len(steps)
    assert f"iteration 0, rollout: {len(cut)} of {len(steps)} prompts, in " in caplog.text


def test_a_restart_before_every_stage_gives_the_same_content(
    finished: Experiment, config: RunConfig, tmp_path: Path
) -> None:
    run_dir = tmp_path / "runs" / "interrupted"
    for iteration, stage in all_stages(config):
        experiment = Experiment(run_dir, config, tmp_path)
        assert experiment.next_point() == Point(iteration, stage)
        STAGES[stage](experiment, iteration)
        experiment.close()
    assert contents(experiment) == contents(finished)


def test_an_update_that_breaks_off_starts_again_from_its_checkpoint(
    finished: Experiment, config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = Experiment(tmp_path / "runs" / "broken", config, tmp_path)
    for iteration, stage in all_stages(config):
        if (iteration, stage) == (1, "update"):
            policy = experiment.policy(1)
            with monkeypatch.context() as patch, pytest.raises(OSError, match="disk full"):
                patch.setattr(policy, "save", _disk_full)
                STAGES[stage](experiment, iteration)
        STAGES[stage](experiment, iteration)
        if (iteration, stage) == (1, "update"):
            break
    experiment.close()
    wanted = contents(finished)
    assert all(wanted[key] == content for key, content in contents(experiment).items())


def _disk_full(folder: Path, iteration: int) -> None:
    raise OSError("disk full")


def test_the_result_is_the_best_checkpoint_and_the_others_go(finished: Experiment) -> None:
    for iteration in range(finished.config.iterations + 1):
        record_iteration(finished, iteration)
    tried = {c.iteration + 1: c.metrics["success"] for c in finished.ledger.commits("evaluation")}
    best = best_updates(finished.ledger, finished.config.iterations)
    assert tried[best] == max(tried.values())
    assert all(tried[later] < tried[best] for later in tried if later > best)
    left = {
        c.iteration + 1
        for c in finished.ledger.commits("update")
        if not c.outputs["checkpoint"].pruned
    }
    assert left <= {best, finished.config.iterations}
    assert best in left


def test_the_summary_compares_both_ends(finished: Experiment) -> None:
    for iteration in range(finished.config.iterations + 1):
        record_iteration(finished, iteration)
    summary = json.loads(write_summary(finished.run_dir, summarise(finished)).read_text())
    first = finished.commit(0, "evaluation_before").metrics["success"]
    last = finished.commit(finished.config.iterations, "evaluation_after").metrics["success"]
    assert summary["before"]["success"] == first
    assert summary["after"]["success"] == last
    assert summary["difference"]["success_difference"] == pytest.approx(last - first)
    assert summary["evolution"]["elimination"]["attempted"] > 0
    assert set(summary["seconds"]) == {stage for _, stage in all_stages(finished.config)}
    assert (finished.run_dir / summary["paths"]["model"] / "model.safetensors").is_file()


def test_a_finished_run_that_gets_longer_equals_one_that_was(
    finished: Experiment, config: RunConfig, tmp_path: Path
) -> None:
    run_dir = tmp_path / "runs" / "extended"
    for iterations in (2, config.iterations):
        longer = config.model_copy(update={"iterations": iterations})
        experiment = Experiment(run_dir, longer, tmp_path)
        for iteration, stage in all_stages(longer):
            STAGES[stage](experiment, iteration)
            if stage == stages(longer, iteration)[-1]:
                record_iteration(experiment, iteration)
        summary = json.loads(write_summary(run_dir, summarise(experiment)).read_text())
        experiment.close()
        assert summary["iterations"] == iterations
    marker = json.loads((run_dir / "iter_0002" / "recorded.json").read_text())
    assert marker["stages"] == stages(config, 2)
    extended = contents(experiment)
    assert extended.pop((2, "evaluation_after"))
    assert extended == contents(finished)


def test_groups_keep_the_order_and_tell_evolved_members_apart(finished: Experiment) -> None:
    groups = to_groups(finished.read(1, "advantages"))
    assert [group.task_id for group in groups] == ["east", "west"]
    assert [len(group.sampled) for group in groups] == [4, 4]
    assert all(child.evolution for group in groups for child in group.evolved)
    assert sum(len(group.evolved) for group in groups) > 0


def test_a_run_is_held_once_and_reopened_from_disk(config: RunConfig, tmp_path: Path) -> None:
    run_dir = tmp_path / "runs" / "held"
    experiment = open_experiment(run_dir, config)
    try:
        assert open_experiment(run_dir) is experiment
        with pytest.raises(UserError, match="is working on this run"):
            Experiment(run_dir, config)
    finally:
        close_experiment(run_dir)
    assert open_experiment(run_dir).config == config
    close_experiment(run_dir)
