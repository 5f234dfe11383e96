"""The clipped objective with a k3 penalty (paper §3.3), token by token.

J = Σ weight · [ min(ratio·A, clip(ratio, 1±ε)·A) - β·k3 ]; the loss is -J.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from trajevolve.config import LearnerConfig
from trajevolve.learning.batching import TokenBatch

EVOLVED_LIMIT = 10.0
"""Bound of |r| in k3 on evolved tokens, which the policy did not choose and may find unlikely."""


@dataclass(frozen=True, eq=False)
class LossTerms:
    """The loss of a micro-batch and what it was made of.

    Attributes:
        loss: scalar, -Σ weight · objective.
        policy_kl: [R], k3 estimate of KL(π_old ‖ π_θ), without gradient.
        clipped: [R], the clip cut the gradient of this token.
        reference_kl: [R], k3 of the reference; None without a reference.
    """

    loss: torch.Tensor
    policy_kl: torch.Tensor
    clipped: torch.Tensor
    reference_kl: torch.Tensor | None


def policy_loss(
    logprobs: torch.Tensor, batch: TokenBatch, config: LearnerConfig, *, reference: bool
) -> LossTerms:
    """Compare `logprobs` (log π_θ of the response tokens, [R]) with the old policy.

    Args:
        logprobs: log π_θ with gradient.
        batch: advantages, weights, old and reference log-probabilities.
        config: ε, β (``kl``) and the kind of ratio.
        reference: the batch holds reference log-probabilities.
    """
    change = logprobs - batch.old
    ratio = torch.exp(_step_sums(change, batch.step_of) if config.ratio == "step" else change)
    plain = ratio * batch.advantage
    bounded = ratio.clamp(1 - config.clip, 1 + config.clip) * batch.advantage
    objective = torch.minimum(plain, bounded)
    penalty = _reference_penalty(logprobs, batch) if reference else None
    if penalty is not None and config.kl > 0:
        objective = objective - config.kl * penalty
    return LossTerms(
        loss=-(batch.weight * objective).sum(),
        policy_kl=k3(change.detach()),
        clipped=(bounded < plain).detach(),
        reference_kl=None if penalty is None else penalty.detach(),
    )


def k3(r: torch.Tensor) -> torch.Tensor:
    """exp(r) - r - 1 with r = log q - log p: an unbiased, never negative estimate of KL(p ‖ q)."""
    return torch.expm1(r) - r


def _reference_penalty(logprobs: torch.Tensor, batch: TokenBatch) -> torch.Tensor:
    r = batch.reference - logprobs
    return k3(torch.where(batch.evolved, r.clamp(-EVOLVED_LIMIT, EVOLVED_LIMIT), r))


def _step_sums(change: torch.Tensor, step_of: torch.Tensor) -> torch.Tensor:
    """Give every token the log-ratio of its whole response: the product over its tokens."""
    count = int(step_of[-1]) + 1 if len(step_of) else 0
    return change.new_zeros(count).index_add(0, step_of, change)[step_of]
