"""Architecture of the built-in small policy: a Qwen2-config causal LM for a CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SmallArchitecture:
    """Sizes; the defaults give about 1.0 million parameters."""

    hidden: int = 128
    layers: int = 4
    heads: int = 4
    intermediate: int = 384
    positions: int = 2048


def build_model(tokenizer: Any, architecture: SmallArchitecture, seed: int) -> Any:
    """Make an untrained Qwen2ForCausalLM for `tokenizer`, weights drawn from `seed`."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=architecture.hidden,
        intermediate_size=architecture.intermediate,
        num_hidden_layers=architecture.layers,
        num_attention_heads=architecture.heads,
        num_key_value_heads=architecture.heads,
        max_position_embeddings=architecture.positions,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen2ForCausalLM(config)
