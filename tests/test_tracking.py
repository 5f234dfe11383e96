"""What MLflow shows afterwards, read back with its own client from a real store."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow import MlflowClient

from trajevolve.config import TrackingConfig, parse_config
from trajevolve.envs.contract import Kind
from trajevolve.tracker import Dataset, NullTracker, Place, Tracker
from trajevolve.tracking import absolute_uri, artifacts_of, flatten, open_tracker
from trajevolve.tracking_pages import place_of
from trajevolve.trajectory import Step, Trajectory

STEPS = (
    Step("a room", ("look",), "look", "look", True, Kind.INFORMATION, label=1),
    Step("a shelf", ("look",), "take mug", "take mug", True, Kind.CHANGING, predicted=0),
    Step("a shelf", None, "?", None, False),
)
TRAJECTORY = Trajectory("0003/t/1", "t", "pick", "put mug", 0, STEPS, True, 1.0, 9.9)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


def start(project: Path, run_id: str = "", **tags: str) -> Tracker:
    config = parse_config({"seed": 3})
    return open_tracker(
        config.tracking,
        "name",
        config.model_dump(),
        {"method": "trajevolve", **tags},
        run_id=run_id,
        project=project,
    )


@pytest.fixture(scope="module")
def tracker(project: Path) -> Iterator[Tracker]:
    tracker = start(project)
    yield tracker
    tracker.finish(succeeded=True)


@pytest.fixture(scope="module")
def client(project: Path) -> MlflowClient:
    return MlflowClient(f"sqlite:///{project}/mlflow.db")


def test_the_configuration_is_there_flat(tracker: Tracker, client: MlflowClient) -> None:
    run = client.get_run(tracker.run_id)
    assert run.data.params["seed"] == "3"
    assert run.data.params["credit.lam"] == "0.5"
    assert run.data.tags["method"] == "trajevolve"
    assert run.info.run_name == "name"


def test_artifacts_lie_in_the_project(
    tracker: Tracker, client: MlflowClient, project: Path
) -> None:
    experiment = client.get_experiment_by_name("trajevolve")
    assert experiment.artifact_location == str(project / "mlruns")


def test_points_are_not_doubled_and_the_ones_that_are_not_numbers_are_counted(
    tracker: Tracker, client: MlflowClient, project: Path
) -> None:
    metrics = {"reward": 1.5, "kl/evolved": math.nan, "loss": math.inf}
    tracker.log_metrics(7, metrics, 1000.25)
    again = start(project, tracker.run_id)
    assert again.run_id == tracker.run_id
    again.log_metrics(7, metrics, 1000.25)
    history = client.get_metric_history(tracker.run_id, "reward")
    assert [(point.step, point.value, point.timestamp) for point in history] == [(7, 1.5, 1000250)]
    assert client.get_run(tracker.run_id).data.metrics == {
        "reward": 1.5,
        "tracking/not_finite": 2.0,
    }


def test_a_run_the_store_does_not_know_is_started_anew(tracker: Tracker, project: Path) -> None:
    assert start(project, "0" * 32).run_id not in {"0" * 32, tracker.run_id}


def test_a_shard_is_named_by_its_md5(tracker: Tracker, client: MlflowClient, project: Path) -> None:
    tracker.log_datasets(2, [Dataset("rollout", "5d41402abc4b2a76b9719d911017c592", 64, project)])
    (entry,) = client.get_run(tracker.run_id).inputs.dataset_inputs
    assert entry.dataset.digest == "5d41402abc4b2a76b9719d911017c592"
    assert entry.dataset.name == "rollout 0002"
    assert entry.dataset.profile == '{"num_rows": 64}'


def test_a_trajectory_is_a_trace_with_its_labels_and_shown_once(
    tracker: Tracker, client: MlflowClient, project: Path
) -> None:
    tracker.log_trajectories(3, [TRAJECTORY])
    start(project, tracker.run_id).log_trajectories(3, [TRAJECTORY])
    tracker.log_trajectories(3, [replace(TRAJECTORY, id="0003/t/2", steps=())])
    experiment = client.get_experiment_by_name("trajevolve")
    traces = client.search_traces(locations=[experiment.experiment_id])
    by_id = {trace.info.tags["trajevolve.trajectory"]: trace for trace in traces}
    assert len(traces) == 2
    spans = by_id["0003/t/1"].data.spans
    assert [(span.name, span.span_type) for span in spans] == [
        ("pick", "AGENT"),
        ("look", "TOOL"),
        ("take mug", "TOOL"),
        ("unparsable", "TOOL"),
    ]
    feedback = {
        a.span_id: (a.value, a.source.source_type) for a in by_id["0003/t/1"].info.assessments
    }
    assert feedback == {
        spans[1].span_id: (True, "CODE"),
        spans[2].span_id: (False, "LLM_JUDGE"),
    }


def test_tags_link_checkpoints(tracker: Tracker, client: MlflowClient) -> None:
    tracker.tag({"checkpoint": "runs/a/iter_0002"})
    assert client.get_run(tracker.run_id).data.tags["checkpoint"] == "runs/a/iter_0002"


def test_switched_off_it_makes_nothing(tmp_path: Path) -> None:
    off = open_tracker(TrackingConfig(enabled=False), "n", {}, {}, project=tmp_path)
    assert isinstance(off, NullTracker)
    off.log_metrics(0, {"a": 1.0}, 0.0)
    off.log_trajectories(0, [TRAJECTORY])
    off.finish(succeeded=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("sqlite:///mlflow.db", "sqlite:////p/mlflow.db"),
        ("sqlite:////abs/m.db", "sqlite:////abs/m.db"),
        ("http://host:5000", "http://host:5000"),
    ],
)
def test_relative_stores_start_at_the_project(uri: str, expected: str) -> None:
    assert absolute_uri(uri, Path("/p")) == expected


def test_flatten_joins_names_with_dots() -> None:
    assert flatten({"a": {"b": 1, "c": {"d": ()}}, "e": None}) == {"a.b": 1, "a.c.d": (), "e": None}


def test_a_run_whose_id_was_never_noted_is_taken_up_and_not_doubled(project: Path) -> None:
    def begin(config: str) -> Tracker:
        return start(project, run="/somewhere/runs/killed", config=config)

    first = begin("a")
    assert begin("a").run_id == first.run_id != begin("b").run_id
    first.log_metrics(0, {"rollout/success": 0.5}, 1000.0)
    assert begin("a").run_id != first.run_id


def test_tables_of_a_store_are_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(MlflowClient, "search_experiments", interrupt)
        with pytest.raises(KeyboardInterrupt):
            start(tmp_path)
    assert not list(tmp_path.iterdir())
    assert start(tmp_path).run_id
    assert {path.name for path in tmp_path.iterdir()} == {"mlflow.db"}


def test_a_description_is_replaced_until_somebody_edits_it(
    tracker: Tracker, client: MlflowClient, project: Path
) -> None:
    def note() -> str:
        return client.get_run(tracker.run_id).data.tags["mlflow.note.content"]

    tracker.describe("first")
    start(project, tracker.run_id).describe("second")
    assert note() == "second"
    tracker.describe("long " * 4000)
    tracker.describe("third")
    assert note() == "third"
    client.set_tag(tracker.run_id, "mlflow.note.content", "third, and what I think of it")
    tracker.describe("fourth")
    assert note() == "third, and what I think of it"


def test_the_experiment_says_how_to_read_its_runs(
    tracker: Tracker, client: MlflowClient, project: Path
) -> None:
    experiment = client.get_experiment_by_name("trajevolve")
    assert "`variant`" in experiment.tags["mlflow.note.content"]
    client.set_experiment_tag(experiment.experiment_id, "mlflow.note.content", "mine")
    start(project)
    found = client.get_experiment_by_name("trajevolve")
    assert found.tags["mlflow.note.content"] == "mine"


def test_a_small_file_is_kept_with_the_run_and_replaced(
    tracker: Tracker, client: MlflowClient, tmp_path: Path
) -> None:
    for text in ("a", "b"):
        tracker.log_text("README.md", text)
    assert [file.path for file in client.list_artifacts(tracker.run_id)] == ["README.md"]
    found = client.download_artifacts(tracker.run_id, "README.md", str(tmp_path))
    assert Path(found).read_text() == "b"


def test_a_run_in_a_file_is_looked_at_with_a_command(tracker: Tracker, project: Path) -> None:
    place = tracker.place
    assert place is not None
    assert place.command == f"mlflow ui --backend-store-uri sqlite:///{project}/mlflow.db"
    assert place.page.startswith(f"#/experiments/1/runs/{tracker.run_id}?")


def test_a_run_on_a_server_has_a_page_there_and_its_artifacts_too(tmp_path: Path) -> None:
    """A client of a server answers nothing here; what is made of the address needs none."""
    mode = "workflowType=machine_learning"
    runs = "http://host:5000/#/experiments/7/runs"
    table = f"{runs}?viewStateShareKey=ablation&{mode}"
    expected = Place(f"{runs}/ab?{mode}", table, "", "ab")
    assert place_of("http://host:5000/", "7", "ab") == expected
    server = TrackingConfig(uri="http://host:5000")
    assert artifacts_of(server, tmp_path) is None
    assert artifacts_of(TrackingConfig(), tmp_path) == str(tmp_path / "mlruns")
    bucket = TrackingConfig(artifacts="s3://bucket/runs")
    assert artifacts_of(bucket, tmp_path) == "s3://bucket/runs"
