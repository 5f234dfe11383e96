"""From the configuration to a discriminator that is ready to judge."""

from __future__ import annotations

from pathlib import Path

from trajevolve.config import DiscriminatorConfig, ModelConfig
from trajevolve.credit.discriminator import Discriminator
from trajevolve.models.loading import BUILTIN, load_policy, resolve_device


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
    base, tokenizer = load_policy(model.model_copy(update={"name": config.model}), environment)
    discriminator = Discriminator(
        base, tokenizer, config, device=resolve_device(model.device), seed=seed
    )
    if config.adapter is not None:
        discriminator.load(adapter_path(config.adapter, environment))
    return discriminator
