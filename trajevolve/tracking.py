"""MLflow: curves, lineage and sampled trajectories; the only file that imports mlflow.

It is written to and never read to decide what to do: the ledger decides. One MLflow run per run;
``step`` is the iteration. A point carries the time of its commit, and MLflow keeps equal points
once, so what a killed process may have logged already can be logged again.
"""

from __future__ import annotations

import hashlib
import logging
import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trajevolve import telemetry
from trajevolve.config import TrackingConfig
from trajevolve.errors import UserError
from trajevolve.files import check_room
from trajevolve.locking import alone_in
from trajevolve.reachable import reachable
from trajevolve.tracker import Dataset, NullTracker, Place, Tracker
from trajevolve.tracking_pages import COMMIT, EXPERIMENT_TAGS, NOTE, SERVERS, SOURCE_TAGS, place_of
from trajevolve.trajectory import Step, Trajectory

log = logging.getLogger(__name__)

SQLITE = "sqlite:///"
MAX_VALUE = 500
PARAMETERS_A_CALL = 100
TRAJECTORY_TAG = "trajevolve.trajectory"
NOTE_WRITTEN = "mlflow.note.written"
LONGEST_NOTE = 8000


def open_tracker(
    config: TrackingConfig,
    run_name: str,
    parameters: Mapping[str, Any],
    tags: Mapping[str, str],
    *,
    run_id: str = "",
    project: Path,
) -> Tracker:
    """Start an MLflow run, or take up `run_id` again where the store still has it.

    Args:
        config: where to, and whether at all.
        run_name: shown in the list of runs.
        parameters: nested configuration; logged flat with dotted names.
        tags: method, model, seed …
        run_id: MLflow's id from the run's manifest, "" for a new run.
        project: relative paths in `config` start here.

    Raises:
        UserError: MLflow cannot use ``config.uri``, or the disk is full.
    """
    if not config.enabled:
        return NullTracker()
    from mlflow.exceptions import MlflowException

    try:
        return MlflowTracker(config, run_name, parameters, tags, run_id=run_id, project=project)
    except (MlflowException, ImportError) as error:
        check_room(project)
        raise UserError(f"tracking.uri {config.uri!r}: {error}") from error


def check_store(uri: str) -> None:
    """Find without opening it what would stop a run that is tracked at `uri`.

    Raises:
        UserError: MLflow keeps no runs at such an address, or no server answers there.
    """
    scheme = uri.partition("://")[0].partition("+")[0]
    if "://" not in uri and not uri.startswith("databricks"):
        raise UserError(
            f"tracking.uri {uri!r}: expected a database, as in sqlite:///mlflow.db, or a server, "
            "as in http://127.0.0.1:5000"
        )
    if scheme in ("http", "https") and not reachable(uri):
        raise UserError(
            f"tracking.uri {uri!r}: no server answers there; start it, or set "
            "tracking.enabled=false or another address"
        )


class MlflowTracker:
    """One MLflow run, addressed by its id and never by the thread's active run."""

    def __init__(
        self,
        config: TrackingConfig,
        run_name: str,
        parameters: Mapping[str, Any],
        tags: Mapping[str, str],
        *,
        run_id: str,
        project: Path,
    ) -> None:
        """See :func:`open_tracker`."""
        telemetry.switch_off()
        from mlflow import MlflowClient

        logging.getLogger("mlflow").setLevel(logging.WARNING)
        self._uri = absolute_uri(config.uri, project)
        # The first to ask makes the tables, which two may not do at once.
        with alone_in(_folder(self._uri, project)):
            _make_store(self._uri)
            self._client = MlflowClient(self._uri)
            self._experiment = self._find_experiment(config, project)
        self._known_traces: set[str] | None = None
        if run_id and self._resume(run_id):
            self.run_id = run_id
            self.tag({name: value for name, value in tags.items() if value})
            return
        self._known_traces = set()
        self.run_id = self._unnoted(tags) or self._create(run_name, tags)
        self._log_parameters(flatten(parameters))

    @property
    def place(self) -> Place:
        """Where the run is looked at."""
        return place_of(self._uri, self._experiment, self.run_id)

    def log_metrics(self, iteration: int, metrics: Mapping[str, float], time: float) -> None:
        """Log one batch; numbers that are not finite are left out and counted."""
        from mlflow.entities import Metric

        finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
        finite["tracking/not_finite"] = float(len(metrics) - len(finite))
        stamp = round(time * 1000)
        points = [Metric(name, value, stamp, iteration) for name, value in finite.items()]
        self._client.log_batch(self.run_id, metrics=points)

    def log_datasets(self, iteration: int, datasets: Iterable[Dataset]) -> None:
        """Log shards as dataset inputs; the digest is the md5 of the ledger."""
        from mlflow.entities import Dataset as Entity
        from mlflow.entities import DatasetInput, InputTag

        inputs = [
            DatasetInput(
                Entity(
                    name=f"{dataset.name} {iteration:04d}",
                    digest=dataset.md5,
                    source_type="local",
                    source=str(dataset.path),
                    profile=f'{{"num_rows": {dataset.rows}}}',
                ),
                [InputTag("mlflow.data.context", dataset.name)],
            )
            for dataset in datasets
        ]
        self._client.log_inputs(self.run_id, datasets=inputs)

    def log_trajectories(self, iteration: int, trajectories: Sequence[Trajectory]) -> None:
        """Log each trajectory once, as an AGENT span with one TOOL span a step."""
        import mlflow

        mlflow.set_tracking_uri(self._uri)
        known = self._traces()
        for trajectory in trajectories:
            if trajectory.id not in known:
                self._log_trace(mlflow, iteration, trajectory)
                known.add(trajectory.id)
        mlflow.flush_trace_async_logging()

    def tag(self, tags: Mapping[str, str]) -> None:
        """Set tags of the run."""
        from mlflow.entities import RunTag

        self._client.log_batch(self.run_id, tags=[RunTag(*pair) for pair in tags.items()])

    def describe(self, text: str) -> None:
        """Set the description; one that somebody has edited since is left as it is."""
        there = self._client.get_run(self.run_id).data.tags
        if NOTE in there and there.get(NOTE_WRITTEN) != _digest(there[NOTE]):
            return
        text = text[:LONGEST_NOTE]
        self.tag({NOTE: text, NOTE_WRITTEN: _digest(text)})

    def log_text(self, name: str, text: str) -> None:
        """Write it to the artifacts of the run."""
        self._client.log_text(self.run_id, text, name)

    def finish(self, succeeded: bool) -> None:
        """Set the run's status."""
        self._client.set_terminated(self.run_id, "FINISHED" if succeeded else "FAILED")

    def _find_experiment(self, config: TrackingConfig, project: Path) -> str:
        from mlflow.exceptions import MlflowException

        found = self._client.get_experiment_by_name(config.experiment)
        if found is None:
            location = artifacts_of(config, project)
            try:
                return str(
                    self._client.create_experiment(config.experiment, location, EXPERIMENT_TAGS)
                )
            except MlflowException:  # another run has just made it
                found = self._client.get_experiment_by_name(config.experiment)
                if found is None:
                    raise
        for name, text in EXPERIMENT_TAGS.items():
            if name not in found.tags:
                self._client.set_experiment_tag(found.experiment_id, name, text)
        return str(found.experiment_id)

    def _resume(self, run_id: str) -> bool:
        from mlflow.exceptions import MlflowException

        try:
            self._client.get_run(run_id)
        except MlflowException:
            log.warning("%s has no run %s any more; starting another one", self._uri, run_id)
            return False
        self._client.update_run(run_id, status="RUNNING")
        return True

    def _create(self, run_name: str, tags: Mapping[str, str]) -> str:
        shown = {**SOURCE_TAGS, COMMIT: tags.get("git", "").removesuffix("+changes"), **tags}
        known = {name: value for name, value in shown.items() if value}
        run = self._client.create_run(self._experiment, run_name=run_name, tags=known)
        return str(run.info.run_id)

    def _unnoted(self, tags: Mapping[str, str]) -> str | None:
        """Find the run that a process killed before it could note the id has left without numbers.

        Same folder and configuration make it this run's, which nobody else works on.
        """
        mine = {name: tags.get(name) for name in ("run", "config")}
        if None in mine.values():
            return None
        running = self._client.search_runs([self._experiment], "attributes.status = 'RUNNING'")
        for run in running:
            same = {name: run.data.tags.get(name) for name in mine} == mine
            if same and not run.data.metrics:
                return str(run.info.run_id)
        return None

    def _log_parameters(self, parameters: Mapping[str, Any]) -> None:
        from mlflow.entities import Param

        pairs = [Param(name, str(value)[:MAX_VALUE]) for name, value in parameters.items()]
        for start in range(0, len(pairs), PARAMETERS_A_CALL):
            self._client.log_batch(self.run_id, params=pairs[start : start + PARAMETERS_A_CALL])

    def _traces(self) -> set[str]:
        """Ids of the trajectories shown already; asked once, after a restart."""
        if self._known_traces is None:
            found = self._client.search_traces(
                locations=[self._experiment],
                filter_string=f"metadata.`mlflow.sourceRun` = '{self.run_id}'",
                max_results=5000,
                include_spans=False,
            )
            self._known_traces = {trace.info.tags.get(TRAJECTORY_TAG, "") for trace in found}
        return self._known_traces

    def _log_trace(self, mlflow: Any, iteration: int, trajectory: Trajectory) -> None:
        from mlflow.entities import SpanType

        root = mlflow.start_span_no_context(
            trajectory.task_type or "trajectory",
            span_type=SpanType.AGENT,
            inputs={"task": trajectory.task},
            attributes={"task_id": trajectory.task_id, "rho": trajectory.rho},
            tags={TRAJECTORY_TAG: trajectory.id, "iteration": str(iteration)},
            metadata={"mlflow.sourceRun": self.run_id},
            experiment_id=self._experiment,
        )
        answers = [*(step.observation for step in trajectory.steps), trajectory.final_observation]
        spans = []
        for step, answer in zip(trajectory.steps, answers[1:], strict=True):
            span = mlflow.start_span_no_context(
                step.action or "unparsable",
                span_type=SpanType.TOOL,
                parent_span=root,
                inputs={"observation": step.observation, "response": step.response},
                attributes=_attributes(step),
            )
            span.end(outputs={"observation": answer})
            spans.append(span.span_id)
        root.end(outputs={"success": trajectory.success, "reward": trajectory.reward})
        mlflow.flush_trace_async_logging()
        for span_id, step in zip(spans, trajectory.steps, strict=True):
            _log_label(mlflow, root.trace_id, span_id, step)


def _attributes(step: Step) -> dict[str, Any]:
    values = {
        "valid": step.valid,
        "kind": None if step.kind is None else str(step.kind),
        "probability": step.probability,
        "dependents": list(step.dependents),
        "advantage": step.advantage,
        "step_advantage": step.step_advantage,
        "exploring": step.exploring,
        "truncated_tokens": step.truncated_tokens,
    }
    return {name: value for name, value in values.items() if value is not None}


def _log_label(mlflow: Any, trace_id: str, span_id: str, step: Step) -> None:
    from mlflow.entities import AssessmentSource

    if step.credit is None:
        return
    verified = step.label is not None
    mlflow.log_feedback(
        trace_id=trace_id,
        name="necessary",
        value=bool(step.credit),
        span_id=span_id,
        source=AssessmentSource(
            source_type="CODE" if verified else "LLM_JUDGE",
            source_id="hindsight verification" if verified else "discriminator",
        ),
    )


def _digest(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def artifacts_of(config: TrackingConfig, project: Path) -> str | None:
    """Return where artifacts lie; None leaves it to a server, which sees no folder of ours."""
    if "://" in config.artifacts:
        return config.artifacts
    if config.uri.startswith(SERVERS):
        return None
    return str((project / config.artifacts).resolve())


def absolute_uri(uri: str, project: Path) -> str:
    """Let a relative SQLite path start at `project`, not at the working directory."""
    path = uri.removeprefix(SQLITE)
    if path == uri or path.startswith("/") or path == ":memory:":
        return uri
    return SQLITE + str((project / path).resolve())


def _folder(uri: str, project: Path) -> Path:
    """Return the folder of an SQLite store, `project` for other stores."""
    path = uri.removeprefix(SQLITE)
    return Path(path).parent if path != uri and path != ":memory:" else project


def _make_store(uri: str) -> None:
    """Make the tables of a new SQLite store under another name, and move it in place when whole.

    MLflow makes them over seconds, one migration after the other, and cannot go on with a store in
    which it was interrupted.
    """
    from mlflow import MlflowClient

    store = Path(uri.removeprefix(SQLITE))
    if not uri.startswith(SQLITE) or str(store) == ":memory:" or store.exists():
        return
    # A name of its own each time: MLflow remembers for which files it has made tables.
    with tempfile.TemporaryDirectory(prefix=f".{store.name}.", dir=store.parent) as folder:
        unfinished = Path(folder) / store.name
        MlflowClient(f"{SQLITE}{unfinished}").search_experiments(max_results=1)
        unfinished.replace(store)


def flatten(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Turn nested mappings into one with dotted names."""
    flat: dict[str, Any] = {}
    for key, value in content.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
