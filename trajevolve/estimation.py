"""What a configuration will roughly cost: time, memory and disk (the `estimate` command).

Measured once with the built-in policy (1.02 million parameters, dialogue layout) on one thread of
a two-core cloud CPU, 32 episodes at once. Other models are scaled in proportion to their
parameters, which overstates larger ones. On a GPU nothing was measured, so no time is given.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path

from trajevolve.config import RunConfig

MEASURED_PARAMETERS = 1_023_744
#: Processor seconds per step of an episode: sampling it with the environment.
ROLLOUT_S = 5.0e-3
#: The same for the learner's old log-probabilities, and for one epoch of updates.
OLD_LOGPROBS_S = 1.6e-3
UPDATE_S = 5.0e-3
#: The same for environments that take long themselves, replays of verification included: an
#: iteration of 36 episodes at up to 30 steps took a little less than two minutes.
ENVIRONMENT_S = {"scienceworld": 0.1}
#: Resident memory of what such an environment runs beside the training process: two of Java.
ENVIRONMENT_MEMORY = {"scienceworld": 2 * 350 * 2**20}
#: Start of Prefect, MLflow and DVC, and their share of an iteration.
START_S = 40.0
RECORD_S = 2.0
BASE_MEMORY = 550 * 2**20
#: Weights, reference, gradients and AdamW's two moments, float32 each.
BYTES_PER_PARAMETER = 20
#: Activations of a training pass, per padded token.
BYTES_PER_TOKEN = 12 * 1024
#: A checkpoint: weights and two moments.
CHECKPOINT_BYTES_PER_PARAMETER = 12
#: One step in one Parquet shard, and how many shards repeat it.
SHARD_BYTES_PER_STEP = 100
SHARDS = 4


@dataclass(frozen=True)
class Estimate:
    """An estimate, not a promise.

    Attributes:
        parameters: of the policy.
        episodes: sampled in training, evolved and evaluated ones included.
        steps: the same in steps, at the step limit: episodes that succeed are shorter.
        seconds: processor time on one thread; None on a GPU.
        memory_bytes: of the training process and of what its environment runs.
        disk_bytes: checkpoints that stay, and shards, which DVC's cache holds once more.
    """

    parameters: int
    episodes: int
    steps: int
    seconds: float | None
    memory_bytes: int
    disk_bytes: int


def estimate(config: RunConfig) -> Estimate:
    """Estimate a whole run.

    Raises:
        UserError: the policy's weights are not there.
    """
    from trajevolve.models.loading import model_path, resolve_device

    parameters = count_parameters(model_path(config.model.name, config.env.name))
    sampled = config.iterations * config.rollout.groups * config.rollout.group_size
    extra = _evolved(config) + _evaluated(config)
    limit = config.env.step_limit
    scale = max(1.0, parameters / MEASURED_PARAMETERS)
    learning = OLD_LOGPROBS_S + UPDATE_S * config.learner.epochs
    seconds = scale * limit * ((sampled + extra) * ROLLOUT_S + sampled * learning)
    seconds += limit * (sampled + extra) * ENVIRONMENT_S.get(config.env.name, 0.0)
    device = config.model.device  # of another machine, maybe
    on_cpu = (resolve_device(device) if device == "auto" else device).startswith("cpu")
    kept = config.checkpoints.keep_last + config.checkpoints.keep_best
    copies = 2 if config.versioning.enabled else 1
    shards = copies * SHARDS * (sampled + extra) * limit * SHARD_BYTES_PER_STEP
    return Estimate(
        parameters=parameters,
        episodes=sampled + extra,
        steps=(sampled + extra) * limit,
        seconds=seconds + START_S + RECORD_S * config.iterations if on_cpu else None,
        memory_bytes=BASE_MEMORY
        + ENVIRONMENT_MEMORY.get(config.env.name, 0)
        + BYTES_PER_PARAMETER * parameters
        + BYTES_PER_TOKEN * config.learner.tokens_per_batch,
        disk_bytes=kept * CHECKPOINT_BYTES_PER_PARAMETER * parameters + shards,
    )


def count_parameters(model: Path) -> int:
    """Count the parameters of a model folder from the headers of its safetensors files."""
    total = 0
    for file in model.glob("*.safetensors"):
        if file.name.startswith("model"):
            with file.open("rb") as stream:
                (length,) = struct.unpack("<Q", stream.read(8))
                header = json.loads(stream.read(length))
            total += sum(
                _product(entry["shape"]) for name, entry in header.items() if name != "__metadata__"
            )
    return total


def _evolved(config: RunConfig) -> int:
    """At most so many trajectories are evolved in the whole run."""
    if not config.evolution.enabled:
        return 0
    rounds = config.iterations // config.evolution.every
    return rounds * config.rollout.groups * config.evolution.per_group


def _evaluated(config: RunConfig) -> int:
    settings = config.evaluation
    selections = config.iterations // settings.every if settings.every else 0
    return 2 * settings.panel_size + selections * settings.selection_size


def _product(shape: list[int]) -> int:
    result = 1
    for size in shape:
        result *= size
    return result
