"""A run in progress: its configuration, its folder, and the live objects its stages share.

Live objects (policy, discriminator, environments) are a cache of what is on disk: whoever needs
the policy after k updates asks for exactly that and gets the weights in memory where they are the
right ones, else the checkpoint of the ledger. So a run that was killed anywhere goes on like one
that was not.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajevolve.config import RunConfig, parse_config
from trajevolve.description import run_description, run_tags
from trajevolve.envs.contract import Environment, Task
from trajevolve.envs.registry import configured_env
from trajevolve.errors import UserError, one_line
from trajevolve.files import content_md5, json_md5
from trajevolve.ledger import Commit, Ledger, Output, Point
from trajevolve.manifest import Manifest, RunLock, load_manifest, open_run, update_manifest
from trajevolve.models.loading import model_path
from trajevolve.schedule import Stage, stages
from trajevolve.seeds import derive_seed
from trajevolve.storage import read_shard, write_shard
from trajevolve.tracker import Tracker
from trajevolve.tracking import open_tracker
from trajevolve.trajectory import Trajectory
from trajevolve.versioning import Versioner

if TYPE_CHECKING:
    from trajevolve.credit.discriminator import Discriminator
    from trajevolve.policy import Policy

log = logging.getLogger(__name__)

# What the weights in memory are, where they are no checkpoint's.
BASE = "base"
CHANGING = "changing"


class Experiment:
    """One run, held by one process.

    Attributes:
        run_dir: ``runs/<run id>``.
        config: of the run.
        ledger: what is done.
        tracker: where it is shown.
        versioner: where its shards are kept.
    """

    def __init__(self, run_dir: Path, config: RunConfig, project: Path | None = None) -> None:
        """Open the run: take its lock, check its configuration, take up tracking.

        Args:
            run_dir: its folder; made where missing.
            config: its configuration.
            project: the folder with ``.dvc`` and ``mlflow.db``; the working directory by default.

        Raises:
            UserError: another process works on it, or it was started with another configuration.
        """
        self.run_dir = run_dir.resolve()
        self.config = config
        self.ledger = Ledger(self.run_dir, config.digest())
        project = project or Path.cwd()
        self._held = ExitStack()
        self._held.enter_context(RunLock(self.run_dir))
        try:
            manifest = open_run(self.run_dir, config)
            self.tracker = self._open_tracker(manifest, project)
        except BaseException:
            self._held.close()
            raise
        self.versioner = Versioner(config.versioning, project)
        self._environment: Environment | None = None
        self._beside: Sequence[Environment] | None = None
        self._policy: tuple[str, Policy] | None = None
        self._discriminator: tuple[str, Discriminator] | None = None
        self._memory: dict[str, list[Trajectory]] = {}
        _prepare_torch(config.threads)

    def close(self) -> None:
        """Let everything go, the lock last. Idempotent."""
        self._policy = self._discriminator = None
        environments = (self._environment, *(self._beside or ()))
        self._environment = self._beside = None
        self._held.callback(self.versioner.close)
        for environment in filter(None, environments):
            self._held.callback(environment.close)
        self._held.close()  # all of it, whatever one of them raises

    def next_point(self) -> Point | None:
        """Return the first stage that is not committed; None when the run is done."""
        return self.ledger.next_point(
            self.config.iterations + 1, lambda iteration: stages(self.config, iteration)
        )

    def seed(self, *purpose: int | str) -> int:
        """Derive the seed for one purpose from the configuration's seed."""
        return derive_seed(self.config.seed, *purpose)

    # Environment and tasks.

    def make_environment(self) -> Environment:
        """Make an environment for one more episode."""
        return configured_env(self.config.env)

    @property
    def environment(self) -> Environment:
        """The environment for replays and for listing tasks."""
        if self._environment is None:
            self._environment = self.make_environment()
        return self._environment

    @property
    def beside(self) -> Sequence[Environment]:
        """More environments for replays, where several can share them out."""
        if self._beside is None:
            from trajevolve.credit.lots import helpers

            self._beside = helpers(self.environment, self.make_environment)
        return self._beside

    def tasks(self, iteration: int) -> Sequence[Task]:
        """List the tasks of one iteration: one a group, all different."""
        return self._tasks(
            self.config.env.split, self.config.rollout.groups, self.seed("tasks", iteration)
        )

    def panel(self) -> Sequence[Task]:
        """List the reported panel: the same for every run, whatever its seed."""
        evaluation = self.config.evaluation
        return self._tasks(evaluation.panel, evaluation.panel_size, 0)

    def selection(self) -> Sequence[Task]:
        """List the panel that chooses the best checkpoint."""
        evaluation = self.config.evaluation
        return self._tasks(evaluation.selection, evaluation.selection_size, 0)

    @lru_cache(maxsize=3)  # noqa: B019 - one instance lives as long as the process
    def _tasks(self, split: str, count: int, seed: int) -> Sequence[Task]:
        tasks = self.environment.tasks(split, count, seed)
        if not tasks:
            raise UserError(f"env: split {split!r} has no tasks; choose another or give --data")
        return tasks

    # Trajectories.

    def write(
        self, iteration: int, stage: str, trajectories: Sequence[Trajectory]
    ) -> tuple[Path, int]:
        """Write the shard of a stage and return (path, rows), as an output of it."""
        path = self.run_dir / "shards" / f"iter_{iteration:04d}_{stage}.parquet"
        shard = write_shard(path, trajectories)
        self._remember(shard.md5, list(trajectories))
        return path, shard.rows

    def read(self, iteration: int, stage: Stage) -> list[Trajectory]:
        """Read the shard that a committed stage wrote."""
        commit = self.commit(iteration, stage)
        md5 = commit.outputs["trajectories"].md5
        if md5 not in self._memory:
            self._remember(md5, read_shard(self.ledger.sound(commit, "trajectories")))
        return list(self._memory[md5])

    def _remember(self, md5: str, trajectories: list[Trajectory]) -> None:
        """Keep the latest shards: the next stage reads what the last one wrote."""
        self._memory = dict([*self._memory.items(), (md5, trajectories)][-3:])

    def commit(self, iteration: int, stage: Stage) -> Commit:
        """Return the commit of a stage that has to be done by now."""
        commit = self.ledger.committed(iteration, stage, verify=False)
        if commit is None:
            raise UserError(
                f"{self.ledger.stage_dir(iteration, stage)}: not committed, and a later stage "
                "needs it; run the same command again"
            )
        return commit

    # Models.

    def policy_md5(self, updates: int) -> str:
        """Content hash of the policy after so many updates; of the starting model at 0."""
        return self._model_md5 if updates == 0 else self._checkpoint(updates, "update").md5

    def policy(self, updates: int) -> Policy:
        """Return the policy after so many updates, loading its checkpoint where needed."""
        from trajevolve.policy import Policy

        wanted = BASE if updates == 0 else self.policy_md5(updates)
        if self._policy is None or (self._policy[0] != wanted and wanted == BASE):
            self._policy = (BASE, Policy(self.config))
        if self._policy[0] != wanted:
            self._policy[1].load(self._checkpoint_path(updates, "update"))
            self._policy = (wanted, self._policy[1])
        return self._policy[1]

    def discriminator_md5(self, fits: int) -> str:
        """Content hash of the discriminator after so many rounds of fine-tuning."""
        return self._judge_md5 if fits == 0 else self._checkpoint(fits, "discriminator").md5

    def discriminator(self, fits: int) -> Discriminator:
        """Return the discriminator after so many rounds of fine-tuning."""
        from trajevolve.credit.discriminator_loading import open_discriminator

        wanted = BASE if fits == 0 else self.discriminator_md5(fits)
        if self._discriminator is None or (self._discriminator[0] != wanted and wanted == BASE):
            config = self.config
            judge = open_discriminator(
                config.discriminator, config.model, config.env.name, self.seed("discriminator")
            )
            self._discriminator = (BASE, judge)
        if self._discriminator[0] != wanted:
            self._discriminator[1].load(self._checkpoint_path(fits, "discriminator"))
            self._discriminator = (wanted, self._discriminator[1])
        return self._discriminator[1]

    def begin_training(self, iteration: int, stage: Stage) -> None:
        """Weights in memory are about to differ from every checkpoint.

        Torch's random state is set here, since what was loaded or restored before it depends on
        where a run was interrupted.
        """
        import torch

        torch.manual_seed(self.seed("torch", stage, iteration))
        if stage == "update" and self._policy is not None:
            self._policy = (CHANGING, self._policy[1])
        if stage == "discriminator" and self._discriminator is not None:
            self._discriminator = (CHANGING, self._discriminator[1])

    def end_training(self, commit: Commit) -> None:
        """Weights in memory are those that `commit` has just put on disk."""
        md5 = commit.outputs["checkpoint"].md5
        policy, judge = self._policy, self._discriminator
        if commit.stage == "update" and policy is not None and policy[0] == CHANGING:
            self._policy = (md5, policy[1])
        if commit.stage == "discriminator" and judge is not None and judge[0] == CHANGING:
            self._discriminator = (md5, judge[1])

    def _checkpoint(self, count: int, stage: Stage) -> Output:
        return self.commit(count - 1, stage).outputs["checkpoint"]

    def _checkpoint_path(self, count: int, stage: Stage) -> Path:
        return self.ledger.sound(self.commit(count - 1, stage), "checkpoint")

    @property
    def _model_md5(self) -> str:
        return _folder_md5(model_path(self.config.model.name, self.config.env.name))

    @property
    def _judge_md5(self) -> str:
        from trajevolve.credit.discriminator_loading import adapter_path

        settings, environment = self.config.discriminator, self.config.env.name
        base = _folder_md5(model_path(settings.model, environment))
        if settings.adapter is None:
            return base
        return json_md5([base, _folder_md5(adapter_path(settings.adapter, environment))])

    # The record.

    def note(self, **changes: Any) -> Manifest:
        """Replace fields of the run's manifest."""
        return update_manifest(self.run_dir, **changes)

    def note_flow_run(self, flow_run: str) -> None:
        """Record Prefect's id of one more start of this run."""
        self.note(flow_runs=(*load_manifest(self.run_dir).flow_runs, flow_run))

    def note_version(self, md5: str) -> None:
        """Record DVC's hash of the run's shards as they are now."""
        self.note(data={**load_manifest(self.run_dir).data, "shards": md5})

    def note_data(self, name: str, tasks: Sequence[Task]) -> None:
        """Record which task instances were used, by content."""
        data: Mapping[str, str] = load_manifest(self.run_dir).data
        digest = json_md5([task.digest for task in tasks])
        if data.get(name) != digest:
            self.note(data={**data, name: digest})

    def _open_tracker(self, manifest: Manifest, project: Path) -> Tracker:
        config = self.config
        tracker = open_tracker(
            config.tracking,
            self.run_dir.name,
            config.model_dump(mode="json"),
            {**run_tags(config), "git": manifest.git, "run": str(self.run_dir)},
            run_id=manifest.mlflow_run,
            project=project,
        )
        if tracker.run_id != manifest.mlflow_run:
            self.note(mlflow_run=tracker.run_id)
        tracker.describe(run_description(config, self.run_dir))
        return tracker


def _prepare_torch(threads: int) -> None:
    """Set the number of threads (0: all cores), and keep progress bars of files off the screen."""
    import torch
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    if threads:
        torch.set_num_threads(threads)


@lru_cache(maxsize=4)
def _folder_md5(folder: Path) -> str:
    return content_md5(folder)


_OPEN: dict[Path, Experiment] = {}


def open_experiment(run_dir: Path, config: RunConfig | None = None) -> Experiment:
    """Return this process's experiment of `run_dir`, opening it from disk where it is not yet.

    Args:
        run_dir: the run's folder.
        config: of a new run; None takes what the run was started with.
    """
    key = run_dir.resolve()
    if key not in _OPEN:
        if config is None:
            config = parse_config(load_manifest(key).config, source=str(key / "manifest.json"))
        _OPEN[key] = Experiment(key, config)
    return _OPEN[key]


@contextmanager
def running(run_dir: Path, config: RunConfig) -> Iterator[Experiment]:
    """Hold the run inside the block, for its stages to find; where it is shown, failing shows.

    Raises:
        UserError: see :class:`Experiment`.
    """
    experiment = open_experiment(run_dir, config)
    try:
        yield experiment
    except BaseException:
        _show_failed(experiment)
        raise
    finally:
        close_experiment(run_dir)


def _show_failed(experiment: Experiment) -> None:
    """What made the run fail is to be heard of, not that nobody could be told."""
    try:
        experiment.tracker.finish(succeeded=False)
    except Exception as error:
        log.warning("MLflow still shows the run as running (%s)", one_line(str(error)))


def close_experiment(run_dir: Path) -> None:
    """Close this process's experiment of `run_dir`, if it has one."""
    experiment = _OPEN.pop(run_dir.resolve(), None)
    if experiment is not None:
        experiment.close()
