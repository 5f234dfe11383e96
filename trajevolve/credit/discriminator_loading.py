"""From the configuration to a discriminator that is ready to judge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from trajevolve.checkpoint import RECORD, read_checkpoint
from trajevolve.config import DiscriminatorConfig, ModelConfig
from trajevolve.credit.discriminator_state import ADAPTER
from trajevolve.errors import UserError
from trajevolve.files import read_object
from trajevolve.models.loading import BUILTIN, load_policy, model_path, resolve_device

if TYPE_CHECKING:
    from trajevolve.credit.discriminator import Discriminator

# Of the weights that an adapter has a part for, one whose sizes tell models apart.
QUERIES = "q_proj.lora_A.weight"


def adapter_path(adapter: str, environment: str) -> Path:
    """Resolve ``builtin`` or a folder."""
    return BUILTIN / environment / "discriminator" if adapter == "builtin" else Path(adapter)


def open_discriminator(
    config: DiscriminatorConfig, model: ModelConfig, environment: str, seed: int
) -> Discriminator:
    """Load the base model, put an adapter into it and fill that from ``config.adapter``.

    Args:
        config: which base and adapter; without an adapter it is untrained and predicts nothing.
        model: the policy's settings, for dtype and device.
        environment: whose built-in weights are meant.
        seed: of an untrained adapter.

    Raises:
        UserError: base or adapter is missing, damaged or made for another model.
    """
    from trajevolve.credit.discriminator import Discriminator

    base, tokenizer = load_policy(model.model_copy(update={"name": config.model}), environment)
    discriminator = Discriminator(
        base, tokenizer, config, device=resolve_device(model.device), seed=seed
    )
    if config.adapter is not None:
        discriminator.load(adapter_path(config.adapter, environment))
    return discriminator


def check_discriminator(config: DiscriminatorConfig, environment: str) -> None:
    """Find without loading anything what would stop :func:`open_discriminator`.

    Args:
        config: which base and adapter.
        environment: whose built-in weights are meant.

    Raises:
        UserError: base or adapter is missing, or the adapter is damaged, of another rank or of a
            model of another hidden size.
    """
    base = model_path(config.model, environment, "discriminator.model")
    if config.adapter is None:
        return
    folder = adapter_path(config.adapter, environment)
    named = f"discriminator.adapter {config.adapter!r}"
    if not all(os.path.isfile(folder / name) for name in (RECORD, ADAPTER)):
        raise UserError(
            f"{named}: {folder} holds no adapter; give a folder that `trajevolve warmup --part "
            "discriminator` made, or null to begin with an untrained one"
        )
    read_checkpoint(folder)
    hidden = _hidden_size(base / "config.json")
    for rank, width in _query_shapes(folder / ADAPTER):
        if rank != config.lora_rank:
            raise UserError(
                f"{named}: is of rank {rank}, discriminator.lora_rank = {config.lora_rank}; set "
                f"that to {rank}, or adapter to null to begin with an untrained one"
            )
        if hidden is not None and width != hidden:
            raise UserError(
                f"{named}: is for a model of hidden size {width}, discriminator.model has {hidden};"
                " give the model it was made for, or null to begin with an untrained adapter"
            )


def _hidden_size(path: Path) -> int | None:
    """Read it from a model's configuration; None where that calls it otherwise."""
    return read_object(path).get("hidden_size")


def _query_shapes(adapter: Path) -> set[tuple[int, int]]:
    """Return the (rank, hidden size) of an adapter's query projections, read from its header."""
    from safetensors import safe_open

    with safe_open(adapter, framework="np") as weights:
        names = weights.keys()
        shapes = [weights.get_slice(name).get_shape() for name in names if name.endswith(QUERIES)]
    return {(rank, width) for rank, width in shapes}
