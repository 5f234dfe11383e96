"""What a saved discriminator holds: the adapter, AdamW's moments and counters, never a pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError

from trajevolve.checkpoint import read_checkpoint, write_checkpoint
from trajevolve.errors import UserError

if TYPE_CHECKING:
    from trajevolve.credit.discriminator import Discriminator

ADAPTER = "adapter_model.safetensors"
OPTIMISER = "optimizer.safetensors"


def save_discriminator(discriminator: Discriminator, directory: Path) -> None:
    """Write `directory` at once: PEFT's adapter files, the optimiser's state and the record."""
    from safetensors.torch import save_file

    from trajevolve.optimiser_state import optimiser_tensors

    def fill(folder: Path) -> None:
        discriminator.model.save_pretrained(folder, save_embedding_layers=False)
        (folder / "README.md").unlink(missing_ok=True)  # PEFT's empty model card
        _settle(folder / "adapter_config.json")
        save_file(
            optimiser_tensors(discriminator.model, discriminator.optimiser), folder / OPTIMISER
        )

    facts = {
        "trained": discriminator.trained,
        "updates": discriminator.updates,
        "bad_steps": discriminator.bad_steps,
    }
    write_checkpoint(directory, fill, facts)


def load_discriminator(discriminator: Discriminator, directory: Path) -> None:
    """Restore what :func:`save_discriminator` wrote.

    Raises:
        UserError: nothing there, damaged, or made for another model or rank.
    """
    from peft import set_peft_model_state_dict
    from safetensors.torch import load_file

    from trajevolve.optimiser_state import load_optimiser

    record = read_checkpoint(directory)
    try:
        weights = load_file(directory / ADAPTER)
        result = set_peft_model_state_dict(discriminator.model, weights)
        if result.unexpected_keys:
            raise KeyError(result.unexpected_keys[0])
        load_optimiser(
            discriminator.model, discriminator.optimiser, load_file(directory / OPTIMISER)
        )
    except (RuntimeError, KeyError, OSError, SafetensorError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise UserError(
            f"{directory}: an adapter of another model or discriminator.lora_rank: {reason}"
        ) from None
    discriminator.trained = bool(record["trained"])
    discriminator.updates = int(record["updates"])
    discriminator.bad_steps = int(record.get("bad_steps", 0))  # not in older adapters


def _settle(path: Path) -> None:
    """Make PEFT's record the same in every process: sets sorted, no path of this machine."""
    record = json.loads(path.read_text(encoding="utf-8"))
    record = {k: sorted(v) if isinstance(v, list) else v for k, v in record.items()}
    record["base_model_name_or_path"] = None
    path.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n", encoding="utf-8")
