"""A Qwen2 of a few thousand weights, with logits spread enough to tell tokens apart."""

from __future__ import annotations

from typing import Any

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM


def tiny_qwen(vocabulary: int, seed: int = 0, **fields: Any) -> Qwen2ForCausalLM:
    """Make one with random weights; `fields` are those of its configuration."""
    torch.manual_seed(seed)
    shape = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "tie_word_embeddings": True,
        "initializer_range": 0.3,
    }
    return Qwen2ForCausalLM(Qwen2Config(vocab_size=vocabulary, **(shape | fields))).eval()
