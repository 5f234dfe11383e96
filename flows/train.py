"""The training flow: reads like the algorithm, and does nothing but call its stages.

Re-execution and verification of evolved trajectories are part of ``evolution``; old
log-probabilities are computed in ``advantages``, once, before the policy moves.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect import flow, get_run_logger, runtime
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.exceptions import ObjectNotFound
from prefect.states import Crashed

from trajevolve import preflight
from trajevolve.closing import conclude
from trajevolve.config import load_config
from trajevolve.experiment import Experiment, running
from trajevolve.manifest import load_manifest, run_folder
from trajevolve.record import record_iteration
from trajevolve.schedule import evaluates, evolves
from trajevolve_flows.board import Board
from trajevolve_flows.logs import shorten_user_errors
from trajevolve_tasks.stages import (
    advantages,
    evaluation,
    evaluation_after,
    evaluation_before,
    evolution,
    fine_tune_discriminator,
    labelling,
    rollout,
    update_policy,
    verification,
)


@flow(name="trajevolve", flow_run_name="{run}", persist_result=False)
def train(run: str, config: str | None = None, overrides: dict[str, Any] | None = None) -> str:
    """Train one policy, or go on with a run of that name; return the path of its summary.

    Args:
        run: name of the run; its folder is ``runs/<run>``.
        config: path of a params.yaml; without it the defaults.
        overrides: dotted key -> value, laid over the file (``{"rollout.groups": 4}``).
    """
    shorten_user_errors()
    settings = load_config(
        Path(config) if config else None,
        [f"{key}={json.dumps(value)}" for key, value in (overrides or {}).items()],
    )
    run_dir = run_folder(run)
    for line in preflight.check(settings):
        get_run_logger().warning("note: %s", line)
    with running(run_dir, settings) as experiment:
        _note_flow_run(experiment)
        return str(_train(experiment, str(run_dir)))


def _train(experiment: Experiment, run: str) -> Path:
    config = experiment.config
    board = Board(experiment, get_run_logger())
    for k in range(_first_iteration(experiment), config.iterations):
        if k == 0:
            evaluation_before(run, k)
            board.begin()
        rollout(run, k)
        verification(run, k)
        if config.discriminator.enabled:
            labelling(run, k)
            fine_tune_discriminator(run, k)
        if evolves(config, k):
            evolution(run, k)
        advantages(run, k)
        update_policy(run, k)
        if evaluates(config, k):
            evaluation(run, k)
        record_iteration(experiment, k)
        board.show(k)
    evaluation_after(run, config.iterations)
    record_iteration(experiment, config.iterations)
    summary = conclude(experiment)
    board.close(summary)
    return summary


def _first_iteration(experiment: Experiment) -> int:
    """Return the iteration that is not finished; the one before is recorded if it was not."""
    point = experiment.next_point()
    if point is None or point.iteration == 0:
        return 0 if point else experiment.config.iterations
    record_iteration(experiment, point.iteration - 1)
    return point.iteration


def _note_flow_run(experiment: Experiment) -> None:
    flow_run = str(runtime.flow_run.id or "")
    if not flow_run:
        return
    earlier = load_manifest(experiment.run_dir).flow_runs
    if earlier and earlier[-1] != flow_run:
        _call_crashed(earlier[-1])
    experiment.note_flow_run(flow_run)


def _call_crashed(flow_run: str) -> None:
    """Say that an earlier start ended: one killed outright could not; the run's lock proves it."""
    with get_client(sync_client=True) as client:
        try:
            state = client.read_flow_run(UUID(flow_run)).state
        except ObjectNotFound:  # on another server
            return
        if state is not None and not state.is_final():
            crashed: State[None] = Crashed(message="its process ended; another one went on")
            client.set_flow_run_state(UUID(flow_run), crashed, force=True)
