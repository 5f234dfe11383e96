"""AdamW's state as named tensors, for the checkpoints of policy and discriminator."""

from __future__ import annotations

from typing import Any

import torch


def optimiser_tensors(model: Any, optimiser: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """AdamW's state as ``<parameter>/<quantity>``; parameters without a state are left out."""
    return {
        f"{name}/{quantity}": value.contiguous()
        for name, parameter in model.named_parameters()
        for quantity, value in optimiser.state.get(parameter, {}).items()
    }


def load_optimiser(
    model: Any, optimiser: torch.optim.Optimizer, tensors: dict[str, torch.Tensor]
) -> None:
    """Put back what :func:`optimiser_tensors` gave. Raises KeyError for an unknown parameter."""
    parameters = dict(model.named_parameters())
    optimiser.state.clear()
    for key, value in tensors.items():
        name, quantity = key.rsplit("/", 1)
        parameter = parameters[name]
        device = parameter.device if quantity != "step" else value.device
        optimiser.state[parameter][quantity] = value.to(device)
