"""Architecture of the built-in small policy: a Qwen3-config causal LM for a CPU.

Not Qwen2: transformers' AutoTokenizer gives every qwen2 folder Qwen2's own byte-level tokenizer,
whatever its files say, so a word-level one would be replaced without a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EMBEDDING_SCALE = 5.0
SHARPNESS = 1.5


@dataclass(frozen=True)
class SmallArchitecture:
    """Sizes; the defaults give about 1.0 million parameters.

    Attributes:
        copying: start with heads that bring what they look at to the output, and look at what is
            like the token they stand on: a policy that mostly repeats what it read learns that
            much sooner. After Trockman and Kolter, "Mimetic Initialization of Self-Attention
            Layers", 2023.
    """

    hidden: int = 128
    layers: int = 4
    heads: int = 4
    intermediate: int = 384
    positions: int = 2048
    copying: bool = False


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
        model = Qwen3ForCausalLM(config)
        if architecture.copying:
            _let_it_copy(model)
        return model


def _let_it_copy(model: Any) -> None:
    """Make keys like queries, values and outputs like the identity, and tokens tell apart."""
    import torch

    with torch.no_grad():
        model.model.embed_tokens.weight.mul_(EMBEDDING_SCALE)
        for layer in model.model.layers:
            attention = layer.self_attn
            identity = torch.eye(attention.o_proj.weight.shape[0])
            attention.k_proj.weight.mul_(0.3).add_(attention.q_proj.weight)
            attention.v_proj.weight.add_(identity)
            attention.o_proj.weight.add_(0.5 * identity)
            attention.q_norm.weight.fill_(SHARPNESS)
            attention.k_norm.weight.fill_(SHARPNESS)
