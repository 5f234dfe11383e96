"""Behaviour cloning of the built-in small policy on a clumsy expert's episodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from trajevolve.models.muon import Muon
from trajevolve.trajectory import Trajectory

IGNORED = -100
POOL = 8


@dataclass(frozen=True)
class CloningConfig:
    """Settings of the warm start.

    Attributes:
        batches: optimiser steps.
        batch_size: episodes a step.
        matrix_lr: peak learning rate of the hidden matrices (Muon).
        lr: peak learning rate of embeddings, norms and biases (AdamW).
        observation_weight: weight of predicting observations too. Observations repeat names, so
            they teach copying, which actions need.
        warmup: steps of linear warm-up; cosine decay to a tenth follows.
    """

    batches: int = 1200
    batch_size: int = 16
    matrix_lr: float = 0.02
    lr: float = 3e-3
    observation_weight: float = 0.2
    warmup: int = 50


def clone(
    model: Any,
    episodes: Iterator[Trajectory],
    config: CloningConfig,
    report: Callable[[int, float, float], None] | None = None,
) -> None:
    """Train `model` in place to imitate `episodes` (dialogue layout, tokens included).

    Args:
        model: causal LM.
        episodes: endless supply of trajectories.
        config: optimiser settings.
        report: called with (step, action loss, observation loss), nats per token.
    """
    optimisers = _optimisers(model, config)
    schedule = [_schedule(step, config) for step in range(config.batches)]
    batches = _batches(episodes, config.batch_size)
    model.train()
    for step, factor in enumerate(schedule):
        batch = next(batches)
        ids, targets, weights = _pack(batch, config.observation_weight)
        loss, action_loss, observation_loss = _loss(model, ids, targets, weights)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimiser in optimisers:
            for group in optimiser.param_groups:
                group["lr"] = group["peak"] * factor
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        if report:
            report(step, action_loss, observation_loss)
    model.eval()


def _batches(episodes: Iterator[Trajectory], size: int) -> Iterator[list[Trajectory]]:
    """Draw POOL batches at once and sort them by length, which saves padding."""
    while True:
        pool = sorted((next(episodes) for _ in range(POOL * size)), key=_tokens)
        # A fixed, length-mixing order: consecutive batches differ most in length.
        for start in range(POOL):
            place = (start * (POOL // 2 + 1)) % POOL
            yield pool[place * size : (place + 1) * size]


def _tokens(trajectory: Trajectory) -> int:
    return sum(len(step.prompt_ids) + len(step.response_ids) for step in trajectory.steps)


def _optimisers(model: Any, config: CloningConfig) -> list[torch.optim.Optimizer]:
    """Muon for hidden matrices, AdamW for everything else."""
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    rest = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
    muon = Muon(matrices, lr=config.matrix_lr, weight_decay=0.01)
    adamw = torch.optim.AdamW(rest, lr=config.lr, betas=(0.9, 0.95), weight_decay=0.0)
    for optimiser, peak in ((muon, config.matrix_lr), (adamw, config.lr)):
        for group in optimiser.param_groups:
            group["peak"] = peak
    return [muon, adamw]


def _schedule(step: int, config: CloningConfig) -> float:
    if step < config.warmup:
        return (step + 1) / config.warmup
    done = (step - config.warmup) / max(1, config.batches - config.warmup)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * done))


def _pack(
    batch: Sequence[Trajectory], observation_weight: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return ids, next-token targets and weights, each [B, L]."""
    rows: list[list[int]] = []
    actions: list[list[bool]] = []
    for trajectory in batch:
        row: list[int] = []
        mask: list[bool] = []
        for step in trajectory.steps:
            row += [*step.prompt_ids, *step.response_ids]
            mask += [False] * len(step.prompt_ids) + [True] * len(step.response_ids)
        rows.append(row)
        actions.append(mask)
    width = max(map(len, rows)) - 1
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    targets = torch.full((len(rows), width), IGNORED)
    weights = torch.zeros(len(rows), width)
    for number, (row, mask) in enumerate(zip(rows, actions, strict=True)):
        length = len(row) - 1
        ids[number, :length] = torch.tensor(row[:-1])
        targets[number, :length] = torch.tensor(row[1:])
        weights[number, :length] = torch.tensor(
            [1.0 if is_action else observation_weight for is_action in mask[1:]]
        )
    return ids, targets, weights


def _loss(
    model: Any, ids: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
) -> tuple[torch.Tensor, float, float]:
    logits = model(input_ids=ids, use_cache=False).logits
    losses = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none"
    ).view_as(weights)
    is_action = weights == 1.0
    is_observation = (weights > 0) & ~is_action
    with torch.no_grad():
        action = losses[is_action].mean().item()
        observation = losses[is_observation].mean().item()
    return (losses * weights).sum() / weights.sum(), action, observation
