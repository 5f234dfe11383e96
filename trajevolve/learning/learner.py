"""The policy's learner: old log-probabilities, the update, and its checkpoint (paper §3.3).

One iteration is ``old_logprobs`` once, then ``update``. Weights of tokens sum to 1 over the
iteration and are fixed before mini-batches are cut; the loss of each of the n mini-batches of an
epoch is multiplied by n, so that it is an unbiased estimate of the iteration's loss whatever n is.

Weights are kept in float32 whatever the model came in, since a step of 1e-6 vanishes in bfloat16;
a bfloat16 model computes under autocast. Dropout is always off: the ratio of an unchanged
policy is 1.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trajevolve.config import LearnerConfig
from trajevolve.errors import UserError
from trajevolve.learning.batching import micro_batches, mini_batches, to_batch
from trajevolve.learning.forward import check_head, response_logprobs
from trajevolve.learning.loss import policy_loss
from trajevolve.learning.sequences import Floats, TokenSequence, to_sequences
from trajevolve.learning.state import load_learner, save_learner
from trajevolve.learning.statistics import TokenStatistics, content_statistics
from trajevolve.progress import advance, tracked
from trajevolve.seeds import derive_seed
from trajevolve.trajectory import Group, Trajectory

BETAS = (0.9, 0.95)
"""AdamW's: a run has too few optimiser steps for the usual memory of 1,000."""


class Learner:
    """Owns the policy's weights and the optimiser.

    Attributes:
        model: the policy, a causal LM; the agent that rolls out may share it.
        reference: the frozen π_ref; None when the configuration has no KL.
        optimiser: AdamW over the parameters that require a gradient.
        bad_updates: non-finite updates in a row so far.
    """

    def __init__(
        self,
        model: Any,
        reference: Any | None,
        config: LearnerConfig,
        *,
        temperature: float = 1.0,
    ) -> None:
        """Take over `model`.

        Args:
            model: a `transformers` causal LM on its device.
            reference: π_ref on the same device; None: a frozen copy of `model` as it is now where
                ``config.kl`` needs one. Checkpoints do not hold it: to resume, start from the
                run's first model, then ``load``.
            config: the update's settings.
            temperature: the rollout's; log-probabilities are those of the sampled distribution.

        Raises:
            UserError: the model changes its logits after the head.
        """
        check_head(model)
        self.config = config
        self.temperature = temperature
        self._compute = model.dtype
        self.model = model.float().eval()
        if reference is None and config.kl > 0:
            reference = copy.deepcopy(self.model)
        self.reference = None if reference is None else reference.requires_grad_(False).eval()
        trained = [p for p in model.parameters() if p.requires_grad]
        self.optimiser = torch.optim.AdamW(
            trained, lr=config.lr, betas=BETAS, weight_decay=config.weight_decay
        )
        self.bad_updates = 0

    def old_logprobs(self, trajectories: Sequence[Trajectory]) -> list[Trajectory]:
        """Fill ``Step.old_logprobs`` under the current weights, sampled and evolved alike.

        Call it once an iteration, before ``update``.

        Raises:
            UserError: a sequence is longer than the model takes, or its answers are NaN.
        """
        sequences = to_sequences(trajectories, self.config.aggregation)
        logprobs = self._logprobs(self.model, sequences, trajectories)
        found: dict[tuple[int, int], tuple[float, ...]] = {}
        for row, values in zip(sequences, logprobs, strict=True):
            pairs = zip(row.step_of.tolist(), values.tolist(), strict=True)
            for step, tokens in groupby(pairs, key=lambda pair: pair[0]):
                found[row.trajectory, step] = tuple(value for _, value in tokens)
        return [
            replace(
                trajectory,
                steps=tuple(
                    replace(step, old_logprobs=found.get((position, t), ()))
                    for t, step in enumerate(trajectory.steps)
                ),
            )
            for position, trajectory in enumerate(trajectories)
        ]

    def update(self, groups: Sequence[Group], *, seed: int, iteration: int = 0) -> dict[str, float]:
        """Run the iteration's epochs over `groups`, whose advantages and old log-probs are set.

        Returns:
            Metrics. ``loss``, ``grad_norm`` (before clipping), ``optimiser_steps`` and
            ``skipped_updates`` are of the whole update. ``approx_kl`` (of the old and the new
            policy), ``clip_fraction``, ``entropy`` and ``kl`` (to the reference) are means over
            tokens at the time of their optimiser step; with ``tokens``, ``steps`` and
            ``sampler_gap_mean``/``_max`` they are given for sampled tokens and, under
            ``evolved/``, for evolved ones. No value is ever NaN: what cannot be computed is
            left out.

        Raises:
            ValueError: a response token has no old log-probability.
            UserError: a sequence is too long for the model, or ``max_bad_steps`` updates in a row
                were not finite.
        """
        trajectories = [trajectory for group in groups for trajectory in group]
        sequences = to_sequences(trajectories, self.config.aggregation)
        for row in sequences:
            if np.isnan(row.old).any():
                name = trajectories[row.trajectory].id
                raise ValueError(f"trajectory {name}: old log-probabilities are missing")
        content = content_statistics(sequences)
        sequences = self._with_reference(sequences, trajectories)
        outcome = _Outcome()
        for epoch in range(self.config.epochs):
            generator = np.random.default_rng(derive_seed(seed, "mini-batches", iteration, epoch))
            batches = mini_batches(sequences, self.config.mini_batch_steps, generator)
            for batch in batches:
                outcome.add(*self._optimiser_step(batch, scale=len(batches)))
                self._guard(outcome.finite[-1])
                steps = self.config.epochs * len(batches)
                advance(len(outcome.finite), steps, "optimiser steps")
        return outcome.metrics() | content

    def save(
        self,
        directory: Path,
        *,
        iteration: int = 0,
        tokenizer: Any | None = None,
    ) -> None:
        """Write the checkpoint `directory`, at once or not at all; ``from_pretrained`` reads it.

        Args:
            directory: its folder; an older checkpoint there is replaced.
            iteration: recorded in it; :meth:`load` returns it.
            tokenizer: saved beside the weights where given.
        """
        save_learner(self, directory, iteration=iteration, tokenizer=tokenizer)

    def load(self, directory: Path) -> int:
        """Take weights, optimiser and random state from `directory`; return its iteration.

        The next update is bit for bit the one that would have followed ``save``.

        Raises:
            UserError: a file is missing, damaged or of another model.
        """
        return load_learner(self, directory)

    def _with_reference(
        self, sequences: list[TokenSequence], trajectories: Sequence[Trajectory]
    ) -> list[TokenSequence]:
        if self.reference is None:
            return sequences
        values = self._logprobs(self.reference, sequences, trajectories)
        return [replace(row, reference=v) for row, v in zip(sequences, values, strict=True)]

    def _logprobs(
        self, model: Any, sequences: Sequence[TokenSequence], trajectories: Sequence[Trajectory]
    ) -> list[Floats]:
        """Log-probabilities of the response tokens of each sequence, in its order, no gradient.

        Raises:
            UserError: a sequence is too long for the model, or the model's answers are NaN.
        """
        limit = getattr(model.config, "max_position_embeddings", None)
        for row in sequences:
            if limit is not None and len(row) > limit:
                raise UserError(
                    f"trajectory {trajectories[row.trajectory].id}: {len(row)} tokens, the model "
                    f"takes {limit}; lower env.step_limit or agent.max_prompt_tokens"
                )
        found: dict[int, Floats] = {}
        batches = micro_batches(sequences, self.config.tokens_per_batch)
        for rows in tracked(batches, "batches of log-probabilities"):
            with torch.no_grad(), self.precision():
                batch = to_batch(rows, self.model.device)
                logprobs, _ = response_logprobs(model, batch, self.temperature)
            if logprobs.isnan().any():
                names = ", ".join(sorted({trajectories[row.trajectory].id for row in rows}))
                raise UserError(
                    f"learner: the model gives no numbers for the tokens of {names}; its weights "
                    "are damaged or overflow: set model.dtype to float32, or start from another "
                    "model"
                )
            parts = torch.split(logprobs.cpu(), [len(row.targets) for row in rows])
            found.update({id(row): p.numpy() for row, p in zip(rows, parts, strict=True)})
        return [found[id(row)] for row in sequences]

    def _optimiser_step(
        self, sequences: Sequence[TokenSequence], scale: int
    ) -> tuple[float, float, TokenStatistics]:
        """Accumulate the gradient of one mini-batch and step; return loss, norm, statistics.

        Gradients start at zero, not at None: a mini-batch whose advantages are all 0 then moves
        the optimiser exactly as if it had been computed.
        """
        for parameter in self._parameters():
            parameter.grad = torch.zeros_like(parameter)
        loss = torch.zeros((), device=self.model.device)
        statistics = TokenStatistics()
        needed = [row for row in sequences if self.config.kl > 0 or row.advantage.any()]
        for rows in micro_batches(needed, self.config.tokens_per_batch):
            batch = to_batch(rows, self.model.device)
            with self.precision():
                logprobs, entropy = response_logprobs(self.model, batch, self.temperature)
            has_reference = self.reference is not None
            terms = policy_loss(logprobs, batch, self.config, reference=has_reference)
            torch.autograd.backward(terms.loss * scale)
            loss += terms.loss.detach() * scale
            statistics.add(terms, entropy, batch)
        norm = torch.nn.utils.clip_grad_norm_(self._parameters(), self.config.max_grad_norm)
        if torch.isfinite(loss) and torch.isfinite(norm):
            self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return float(loss), float(norm), statistics

    def _guard(self, finite: bool) -> None:
        self.bad_updates = 0 if finite else self.bad_updates + 1
        if self.bad_updates >= self.config.max_bad_steps:
            raise UserError(
                f"learner: {self.bad_updates} updates in a row had a non-finite loss or gradient; "
                "start another run (--run NAME) with a lower learner.lr"
            )

    def precision(self) -> torch.autocast:
        """Compute in the precision that the model was given in; its weights are float32."""
        kind = self.model.device.type
        return torch.autocast(kind, self._compute, enabled=self._compute != torch.float32)

    def _parameters(self) -> Iterator[torch.nn.Parameter]:
        for group in self.optimiser.param_groups:
            yield from group["params"]


class _Outcome:
    """Collects what the optimiser steps of one update reported."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.norms: list[float] = []
        self.finite: list[bool] = []
        self.statistics = TokenStatistics()

    def add(self, loss: float, norm: float, statistics: TokenStatistics) -> None:
        """Count one optimiser step; only its number when it was not finite."""
        self.finite.append(bool(np.isfinite(loss) and np.isfinite(norm)))
        if self.finite[-1]:
            self.losses.append(loss)
            self.norms.append(norm)
            self.statistics.merge(statistics)

    def metrics(self) -> dict[str, float]:
        """Means over the finite optimiser steps."""
        result = {
            "optimiser_steps": float(sum(self.finite)),
            "skipped_updates": float(len(self.finite) - sum(self.finite)),
        }
        if self.losses:
            result["loss"] = float(np.mean(self.losses))
            result["grad_norm"] = float(np.mean(self.norms))
        return result | self.statistics.means()
