"""Loading a policy: the built-in one or any local folder in Hugging Face layout."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from trajevolve.config import ModelConfig
from trajevolve.errors import UserError
from trajevolve.files import read_object
from trajevolve.progress import working

BUILTIN = Path(__file__).parent / "weights"


def model_path(name: str, environment: str = "alfworld", key: str = "model") -> Path:
    """Resolve ``builtin`` or a folder.

    Args:
        name: what is configured.
        environment: whose built-in weights are meant.
        key: what names the model, for the message.

    Raises:
        UserError: nothing lies there.
    """
    path = BUILTIN / environment / "policy" if name == "builtin" else Path(name)
    # Unlike Path.is_file this is False, not an error, for a name that no file can have.
    if not os.path.isfile(path / "config.json"):
        why = f"{path} has no config.json" if os.path.isdir(path) else "no such folder"
        if os.path.isfile(path / "manifest.json"):
            why = f"{path} is a run, whose model `trajevolve export {path} --as model` writes"
        raise UserError(
            f"{key} {name!r}: {why}; give 'builtin' or a local folder in Hugging Face layout "
            "(models are never downloaded here)"
        )
    return path


def check_model(name: str, environment: str) -> None:
    """Find without loading anything what would stop a run that prompts this model.

    Raises:
        UserError: it is not there, or its tokenizer has no chat template.
    """
    folder = model_path(name, environment)
    settings = folder / "tokenizer_config.json"
    inside = settings.is_file() and "chat_template" in read_object(settings)
    if not (inside or (folder / "chat_template.jinja").is_file()):
        raise UserError(
            f"model {name!r}: its tokenizer has no chat template; use an instruction-tuned model, "
            f"or add chat_template.jinja to {folder}"
        )


def load_policy(config: ModelConfig, environment: str = "alfworld") -> tuple[Any, Any]:
    """Return (causal LM in eval mode on its device, tokenizer).

    Raises:
        UserError: the folder is missing or cannot be read as a model.
    """
    path = model_path(config.name, environment)
    with working(f"loading model {config.name}"):
        model, tokenizer = _load(path, config)
    return model.to(resolve_device(config.device)).eval(), tokenizer


def _load(path: Path, config: ModelConfig) -> tuple[Any, Any]:
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM

    try:
        tokenizer = _load_tokenizer(path)
        model = AutoModelForCausalLM.from_pretrained(
            path,
            dtype=getattr(torch, config.dtype),
            local_files_only=True,
            attn_implementation="sdpa",
            use_safetensors=True,
            trust_remote_code=False,
        )
    except (OSError, ValueError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"model {config.name!r}: {path} cannot be loaded: {reason}") from None
    return model, tokenizer


def _load_tokenizer(path: Path) -> Any:
    import transformers

    loader = getattr(transformers, tokenizer_class(path))
    return loader.from_pretrained(path, local_files_only=True, trust_remote_code=False)


def tokenizer_class(path: Path) -> str:
    """Name the class of transformers that loads the tokenizer of a model folder as it says.

    AutoTokenizer overrules a generic class for some model types.

    Raises:
        OSError, ValueError: ``tokenizer_config.json`` cannot be read.
    """
    settings = path / "tokenizer_config.json"
    content = json.loads(settings.read_text(encoding="utf-8")) if settings.is_file() else {}
    named = content.get("tokenizer_class")
    generic = named in ("TokenizersBackend", "PreTrainedTokenizerFast")
    return "PreTrainedTokenizerFast" if generic else "AutoTokenizer"


def check_device(device: str) -> None:
    """Raise UserError where :func:`resolve_device` would; PyTorch is imported only to ask it."""
    if device not in ("auto", "cpu"):
        resolve_device(device)


def resolve_device(device: str) -> str:
    """Turn ``auto`` into cuda where there is one, else cpu.

    Raises:
        UserError: PyTorch knows no such device, or this machine has none.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # of a build without it the latter
        reason = str(error).partition("\n")[0].partition(". ")[0]
        raise UserError(
            f"model.device {device!r}: {reason}; give auto, cpu, or a device that is here"
        ) from None
    return device
