"""The small architecture, and its copying start."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from trajevolve.models.small import SmallArchitecture, build_model
from trajevolve.models.tokenizer import Reading, build_tokenizer

SIZES: dict[str, Any] = {"hidden": 32, "layers": 2, "heads": 2, "intermediate": 32}


def model_of(seed: int, **settings: Any) -> Any:
    tokenizer = build_tokenizer(Reading((), "[a-z0-9]+"), [f"w{n}" for n in range(200)])
    return build_model(tokenizer, SmallArchitecture(**SIZES, **settings), seed)


@pytest.mark.parametrize("copying", [True, False])
def test_the_copying_start_hands_on_what_a_head_looks_at(copying: bool) -> None:
    """Of a token that a head looks at, the same token comes out; else something else."""
    model = model_of(1, copying=copying)
    tokens = model.model.embed_tokens.weight.detach()
    for layer in model.model.layers:
        attention = layer.self_attn
        moved = tokens @ (attention.o_proj.weight @ attention.v_proj.weight).detach().T
        likest = (moved @ tokens.T).argmax(1)
        same = float((likest == torch.arange(len(tokens))).float().mean())
        assert same > 0.9 if copying else same < 0.1


def test_the_same_seed_makes_the_same_weights() -> None:
    first, again, other = (
        model_of(seed, copying=True).model.embed_tokens.weight for seed in (3, 3, 4)
    )
    assert torch.equal(first, again) and not torch.equal(first, other)
