"""What a learner's checkpoint holds: weights, AdamW's moments, random state, never a pickle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from trajevolve.checkpoint import read_checkpoint, write_checkpoint
from trajevolve.errors import UserError
from trajevolve.optimiser_state import load_optimiser, optimiser_tensors

if TYPE_CHECKING:
    from trajevolve.learning.learner import Learner

OPTIMISER = "optimizer.safetensors"
RANDOM = "random.safetensors"


def save_learner(
    learner: Learner,
    directory: Path,
    *,
    iteration: int,
    tokenizer: Any | None,
) -> None:
    """Write model, optimiser and random state; see :meth:`Learner.save`."""

    def fill(folder: Path) -> None:
        learner.model.save_pretrained(folder)
        if tokenizer is not None:
            tokenizer.save_pretrained(folder)
        save_file(optimiser_tensors(learner.model, learner.optimiser), folder / OPTIMISER)
        save_file(_random_state(), folder / RANDOM)

    facts = {"iteration": iteration, "bad_updates": learner.bad_updates}
    write_checkpoint(directory, fill, facts)


def load_learner(learner: Learner, directory: Path) -> int:
    """Restore what :func:`save_learner` wrote; return the recorded iteration."""
    record = read_checkpoint(directory)
    kind = type(learner.model)
    saved = kind.from_pretrained(directory, dtype=torch.float32, use_safetensors=True)
    weights = saved.state_dict()
    try:
        learner.model.load_state_dict(weights)
        load_optimiser(learner.model, learner.optimiser, load_file(directory / OPTIMISER))
    except (RuntimeError, KeyError, SafetensorError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{directory}: a checkpoint of another model: {reason}") from None
    _restore_random_state(load_file(directory / RANDOM))
    learner.bad_updates = int(record["bad_updates"])
    return int(record["iteration"])


def _random_state() -> dict[str, torch.Tensor]:
    state = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def _restore_random_state(state: dict[str, torch.Tensor]) -> None:
    torch.set_rng_state(state["cpu"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])
