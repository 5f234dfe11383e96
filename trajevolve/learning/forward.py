"""Log-probabilities of response tokens under a causal LM, and nothing else.

The decoder runs over whole sequences, the language-model head only where a response token is
predicted: prompts are most of the tokens and the head most of the memory.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from trajevolve.errors import UserError
from trajevolve.learning.batching import TokenBatch

HEAD_TOKENS = 4096
"""Response tokens for which logits exist at once; more are recomputed in the backward pass."""


def response_logprobs(
    model: Any, batch: TokenBatch, temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return log π(token) and the entropy of π at each response token, both float32 [R].

    π is the distribution that was sampled from: softmax of logits / `temperature`. The entropy,
    in nats, carries no gradient.
    """
    hidden = model.get_decoder()(input_ids=batch.ids, use_cache=False).last_hidden_state
    chosen = hidden.flatten(0, 1)[batch.where]
    head = model.get_output_embeddings()
    parts = list(
        zip(torch.split(chosen, HEAD_TOKENS), torch.split(batch.targets, HEAD_TOKENS), strict=True)
    )
    if len(parts) > 1 and torch.is_grad_enabled():
        outputs = [
            checkpoint(_read_head, head, states, targets, temperature, use_reentrant=False)
            for states, targets in parts
        ]
    else:
        outputs = [_read_head(head, states, targets, temperature) for states, targets in parts]
    logprobs, entropies = zip(*outputs, strict=True)
    return torch.cat(logprobs), torch.cat(entropies)


def _read_head(
    head: Any, states: torch.Tensor, targets: torch.Tensor, temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    logprobs = torch.log_softmax(head(states).float() / temperature, dim=-1)
    with torch.no_grad():
        entropy = -(logprobs.exp() * logprobs).sum(-1)
    return logprobs.gather(-1, targets[:, None]).squeeze(-1), entropy


def check_head(model: Any) -> None:
    """Refuse a model whose logits are not simply its head over its decoder's output.

    Raises:
        UserError: the model changes its logits afterwards (soft-capping, scaling).
    """
    ids = torch.tensor([[0, 1]], device=model.device)
    with torch.inference_mode():
        whole = model(input_ids=ids, use_cache=False).logits
        states = model.get_decoder()(input_ids=ids, use_cache=False).last_hidden_state
        parts = model.get_output_embeddings()(states)
    if not torch.allclose(whole.float(), parts.float(), rtol=1e-2, atol=1e-3):
        raise UserError(
            f"model: {type(model).__name__} changes its logits after the head, which the learner "
            "does not follow; use a model without logit soft-capping or scaling"
        )
