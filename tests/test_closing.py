"""What a run leaves behind: card, page, summary, and what MLflow shows; each of it once."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from huggingface_hub import ModelCard
from mlflow import MlflowClient
from toys.training import make_model, toy_config, trained_run

from trajevolve import closing
from trajevolve.closing import conclude
from trajevolve.config import parse_config
from trajevolve.experiment import Experiment
from trajevolve.model_card import CARD, base_model, model_card, stored_summary
from trajevolve.record import record_iteration
from trajevolve.reports.report import write_report
from trajevolve.viewer.ends import PAGE, ends


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Experiment]:
    """A tracked toy run with all stages committed and told, not yet concluded."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    project = tmp_path_factory.mktemp("project")
    make_model(project / "model")
    config = toy_config(project / "model", iterations=1, evolution={"every": 1}, tracking={})
    with trained_run(config, project, "mine") as experiment:
        for iteration in (0, 1):
            record_iteration(experiment, iteration)
        yield experiment
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def client(finished: Experiment) -> MlflowClient:
    return MlflowClient(f"sqlite:///{finished.run_dir.parents[1]}/mlflow.db")


@pytest.fixture(scope="module")
def card(finished: Experiment) -> str:
    conclude(finished)
    return (finished.run_dir / CARD).read_text(encoding="utf-8")


def note(client: MlflowClient, experiment: Experiment) -> str:
    return str(client.get_run(experiment.tracker.run_id).data.tags["mlflow.note.content"])


def test_the_hub_reads_the_card(card: str, finished: Experiment) -> None:
    read = ModelCard(card)
    assert read.data.base_model == "model"
    assert read.data.library_name == "transformers"
    assert {"trajevolve", "reinforcement-learning"} <= set(read.data.tags)
    summary = stored_summary(finished.run_dir)
    assert summary is not None
    by_type = {result.metric_type: result.metric_value for result in read.data.eval_results}
    assert by_type == {"success_rate": summary["after"]["success"], "steps": 3.0} | {
        "steps": summary["after"]["steps"]
    }


def test_the_card_has_counts_intervals_and_hashes(card: str, finished: Experiment) -> None:
    summary = stored_summary(finished.run_dir)
    assert summary is not None
    solved = round(summary["after"]["success"] * 2)
    assert f"| {solved} of 2, {50 * solved:.1f} % [" in card
    assert finished.config.digest() in card
    assert finished.commit(0, "update").outputs["checkpoint"].md5 in card
    assert summary["data"]["panel"] in card
    assert "at most 8 steps, temperature 0.4" in card


@pytest.mark.usefixtures("card")
def test_a_copy_of_a_run_is_reported_by_the_name_of_its_folder(
    finished: Experiment, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(finished.run_dir, tmp_path / "copied"))
    text = write_report([copy, finished.run_dir], tmp_path / "out").read_text(encoding="utf-8")
    assert "Not finished" not in text
    assert text.count("| copied |") == text.count("| mine |") > 0


def test_the_card_can_be_published(card: str, finished: Experiment) -> None:
    """No folder of this machine, and no time: made again it has the same bytes."""
    assert str(finished.run_dir.parents[1]) not in card
    assert not re.search(r"\d\d:\d\d", card)
    again = model_card(
        finished.run_dir, finished.commit(0, "update"), stored_summary(finished.run_dir)
    )
    assert again == card


def test_the_code_on_the_card_loads_the_weights(card: str, finished: Experiment) -> None:
    found = re.search(r"```python\n(.*?)```", card, re.DOTALL)
    assert found
    folder = finished.ledger.path(finished.commit(0, "update").outputs["checkpoint"])
    names: dict[str, object] = {}
    exec(found[1].replace("path/to/this/folder", str(folder)), names)
    assert type(names["model"]).__name__.endswith("ForCausalLM")
    assert names["tokenizer"]("go east")["input_ids"]  # type: ignore[operator]


def test_a_card_of_other_weights_shows_no_evaluation(card: str, finished: Experiment) -> None:
    commit = finished.commit(0, "update")
    for summary in (None, {"updates_of_result": 7}):
        text = model_card(finished.run_dir, commit, summary)
        assert "None: training was not finished" in text and "model-index" not in text
        assert ModelCard(text).data.library_name == "transformers"


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("builtin", None),
        ("/data/models/Qwen2.5-1.5B-Instruct", "Qwen2.5-1.5B-Instruct"),
        ("~/hub/models--Qwen--Qwen2.5-0.5B/snapshots/0a1", "Qwen/Qwen2.5-0.5B"),
        ("/data/my model", None),
    ],
)
def test_a_base_model_is_named_as_the_hub_does(name: str, base: str | None) -> None:
    assert base_model(name) == base


def test_mlflow_keeps_the_card_and_no_weights(
    card: str, finished: Experiment, client: MlflowClient, tmp_path: Path
) -> None:
    run = finished.tracker.run_id
    assert [file.path for file in client.list_artifacts(run)] == ["README.md"]
    path = client.download_artifacts(run, "README.md", str(tmp_path))
    assert Path(path).read_text(encoding="utf-8") == card
    kept = [path.name for path in (finished.run_dir.parents[1] / "mlruns").rglob("*.*")]
    assert kept == ["README.md"]


def test_the_description_gets_the_result_once(
    card: str, finished: Experiment, client: MlflowClient
) -> None:
    first = note(client, finished)
    conclude(finished)
    assert note(client, finished) == first
    assert first.count("### Result") == first.count("### Where") == 1
    assert "| success" in first
    assert client.get_run(finished.tracker.run_id).info.status == "FINISHED"


def test_what_somebody_wrote_into_the_description_stays(
    card: str, finished: Experiment, client: MlflowClient
) -> None:
    before = note(client, finished)
    client.set_tag(finished.tracker.run_id, "mlflow.note.content", before + "\nMine.")
    conclude(finished)
    assert note(client, finished) == before + "\nMine."
    client.set_tag(finished.tracker.run_id, "mlflow.note.content", before)


def test_the_page_shows_the_ends_with_evidence(card: str, finished: Experiment) -> None:
    page = (finished.run_dir / PAGE).read_text(encoding="utf-8")
    document = json.loads(
        re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page)[0]
    )
    assert {each["iteration"] for each in document["trajectories"]} == {0}
    assert document["evidence"] == "redundant"
    assert ends(parse_config({"iterations": 28})) == [0, 24, 27]
    assert ends(parse_config({"iterations": 1})) == [0]


def test_a_page_that_cannot_be_written_costs_nothing_else(
    card: str,
    finished: Experiment,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (finished.run_dir / "summary.json").unlink()
    (finished.run_dir / PAGE).unlink()
    (finished.run_dir / PAGE).mkdir()
    assert json.loads(conclude(finished).read_text())["iterations"] == 1
    assert "trajevolve view mine" in caplog.text
    (finished.run_dir / PAGE).rmdir()
    off = finished.config.tracking.model_copy(update={"page": False})
    monkeypatch.setattr(finished, "config", finished.config.model_copy(update={"tracking": off}))
    conclude(finished)
    assert not (finished.run_dir / PAGE).exists()


def test_the_summary_comes_last(
    card: str, finished: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that has one is not opened again, so whatever comes after it might never be done."""
    (finished.run_dir / "summary.json").unlink(missing_ok=True)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for name in ("_write_card", "_write_page"):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(closing, name, interrupt)
            conclude(finished)
        assert not (finished.run_dir / "summary.json").exists()
    conclude(finished)
    assert (finished.run_dir / "summary.json").is_file()
