"""Architecture of the built-in small policy: a Qwen3-config causal LM for a CPU.

Not Qwen2: transformers' AutoTokenizer gives every qwen2 folder Qwen2's own byte-level tokenizer,
whatever its files say, so a word-level one would be replaced without a word.
"""

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
    """Make an untrained Qwen3ForCausalLM for `tokenizer`, weights drawn from `seed`."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=architecture.hidden,
        intermediate_size=architecture.intermediate,
        num_hidden_layers=architecture.layers,
        num_attention_heads=architecture.heads,
        num_key_value_heads=architecture.heads,
        head_dim=architecture.hidden // architecture.heads,
        max_position_embeddings=architecture.positions,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(config)
