"""The discriminator D_φ judges whether a step of a trajectory is necessary (paper §3.2).

A causal LM with a LoRA adapter that answers with one token; its loss is the negative
log-likelihood of that token alone, L_SFT = -E log P_φ(ŷ_t = y_t | x_t). It learns on verified
successes, where hindsight verification knows the answer, and is asked about failures, where no
counterfactual exists.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trajevolve.config import DiscriminatorConfig
from trajevolve.credit.discriminator_state import load_discriminator, save_discriminator
from trajevolve.credit.judge_batch import pack
from trajevolve.credit.judge_input import JudgeEncoder, JudgeInput
from trajevolve.envs.contract import Kind
from trajevolve.errors import UserError
from trajevolve.progress import tracked
from trajevolve.seeds import derive_seed
from trajevolve.trajectory import Step, Trajectory

Progress = Callable[[int, int, float], None]
MAX_GRAD_NORM = 1.0
MAX_BAD_STEPS = 5
"""Non-finite optimiser steps in a row, over iterations and restarts, before the run stops."""


@dataclass(frozen=True)
class Example:
    """One trajectory to learn from: its questions and their labels y_t."""

    input: JudgeInput
    labels: tuple[int, ...]


class Discriminator:
    """A causal LM with a LoRA adapter, its optimiser and its tokenizer.

    Args:
        model: causal LM of its own: the adapter is put into it, its other weights stay as they are.
        tokenizer: of the model.
        config: rank, learning rate, batch size and training choices.
        device: where it runs.
        seed: of the adapter's start values.

    Attributes:
        trained: it has seen labels; before that it predicts nothing.
        updates: optimiser steps so far.
        bad_steps: optimiser steps left out in a row so far, since they were not finite.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        config: DiscriminatorConfig,
        device: str = "cpu",
        seed: int = 0,
    ) -> None:
        self.config = config
        self.device = device
        self.encoder = JudgeEncoder(tokenizer, model.config.max_position_embeddings)
        self.pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self.model = _with_adapter(model, config, self.encoder.markers, seed).to(device).eval()
        self.forget_moments()
        self.trained = False
        self.updates = 0
        self.bad_steps = 0

    def parameters(self) -> list[torch.nn.Parameter]:
        """Return what is trained: the adapter, and embeddings of tokens the base never met."""
        return [p for p in self.model.parameters() if p.requires_grad]

    def forget_moments(self) -> None:
        """Begin with a fresh optimiser: another phase, another learning rate."""
        self.optimiser = torch.optim.AdamW(self.parameters(), lr=self.config.lr, weight_decay=0.0)

    def predict(self, trajectories: Sequence[Trajectory]) -> list[Trajectory]:
        """Fill ŷ_t and p̂_t = P(necessary) / (P(necessary) + P(redundant)).

        Only valid environment-changing steps are asked about; invalid steps get ŷ = 0 and
        information steps ŷ = 1 without a probability. An untrained discriminator leaves all
        predictions at None.

        Raises:
            UserError: its answers are no numbers.
        """
        if not self.trained:
            return [_without_predictions(trajectory) for trajectory in trajectories]
        asked = [_changing(trajectory) for trajectory in trajectories]
        inputs = {
            number: self.encoder.encode(trajectory, positions)
            for number, (trajectory, positions) in enumerate(zip(trajectories, asked, strict=True))
            if positions
        }
        probabilities: dict[int, list[float]] = {}
        lengths = {n: i.tokens for n, i in inputs.items()}
        for numbers in tracked(_batches(lengths, self.config.batch_size), "batches"):
            with torch.no_grad():
                verdicts = self._log_odds([inputs[number] for number in numbers]).sigmoid()
            if not verdicts.isfinite().all():
                raise UserError(
                    "discriminator: its answers are not numbers; set model.dtype to float32, "
                    "or another discriminator.model or .adapter"
                )
            values = iter(verdicts.tolist())
            for number in numbers:
                probabilities[number] = [next(values) for _ in inputs[number].asked]
        return [
            _with_predictions(
                trajectory, dict(zip(positions, probabilities.get(n, ()), strict=True))
            )
            for n, (trajectory, positions) in enumerate(zip(trajectories, asked, strict=True))
        ]

    def fit(
        self,
        trajectories: Sequence[Trajectory],
        *,
        seed: int,
        epochs: int | None = None,
        lr: float | None = None,
        decay: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, float]:
        """Learn from the labels of verified successes; other trajectories are passed over.

        Args:
            trajectories: labelled by hindsight verification.
            seed: of the order and of the hidden tails.
            epochs: passes over the data, from the configuration by default.
            lr: learning rate, from the configuration by default.
            decay: let the learning rate fall linearly to zero over this call.
            progress: called with (batch, batches, loss) after each batch.

        Returns:
            ``loss`` (mean per question), ``examples``, ``labels``, ``redundant_share``,
            ``updates``, ``skipped_updates`` (not finite) and ``seconds_per_batch``.

        Raises:
            UserError: ``MAX_BAD_STEPS`` steps in a row were not finite.
        """
        lessons = [t for t in trajectories if t.success and t.verified and _labelled(t)]
        passes = epochs if epochs is not None else self.config.epochs
        peak = lr if lr is not None else self.config.lr
        labels = [int(t.steps[p].label or 0) for t in lessons for p in _labelled(t)]
        weights = self._class_weights(labels)
        total = passes * math.ceil(len(lessons) / self.config.batch_size)
        losses: list[float] = []
        skipped = done = 0
        began = time.perf_counter()
        for batch in self._lessons(lessons, passes, seed):
            rate = peak * (1 - done / total) if decay else peak
            loss = self._learn(batch, weights, rate)
            done += 1
            if math.isfinite(loss):
                losses.append(loss)
            else:
                skipped += 1
            self._guard(math.isfinite(loss))
            if progress:
                progress(done, total, loss)
        seconds = time.perf_counter() - began
        self.trained = self.trained or bool(losses)
        return {
            "loss": float(np.mean(losses)) if losses else 0.0,
            "examples": float(len(lessons)),
            "labels": float(len(labels)),
            "redundant_share": 1 - sum(labels) / len(labels) if labels else 0.0,
            "updates": float(len(losses)),
            "skipped_updates": float(skipped),
            "seconds_per_batch": seconds / done if done else 0.0,
        }

    def save(self, directory: Path) -> None:
        """Write adapter, optimiser and counters into `directory`, whole or not at all."""
        save_discriminator(self, directory)

    def load(self, directory: Path) -> None:
        """Restore what :meth:`save` wrote; training goes on exactly where it was.

        Raises:
            UserError: nothing there, damaged, or made for another model.
        """
        load_discriminator(self, directory)

    def _lessons(
        self, lessons: Sequence[Trajectory], epochs: int, seed: int
    ) -> Iterator[list[Example]]:
        """Yield batches of similar length in random order, tails hidden anew in each epoch."""
        for epoch in range(epochs):
            rng = np.random.default_rng(derive_seed(seed, "discriminator", epoch))
            hidden = set(
                rng.permutation(len(lessons))[
                    : round(self.config.hidden_tail_share * len(lessons))
                ].tolist()
            )
            examples = []
            for number, trajectory in enumerate(lessons):
                length = len(trajectory)
                hide = number in hidden and length > 1
                visible = int(rng.integers(1, length)) if hide else length
                example = self._example(trajectory, visible)
                if example is not None:
                    examples.append(example)
            lengths = {number: example.input.tokens for number, example in enumerate(examples)}
            batches = _batches(lengths, self.config.batch_size)
            for position in rng.permutation(len(batches)):
                yield [examples[number] for number in batches[position]]

    def _example(self, trajectory: Trajectory, visible: int) -> Example | None:
        asked = [position for position in _labelled(trajectory) if position < visible]
        if not asked:
            return None
        labels = tuple(int(trajectory.steps[position].label or 0) for position in asked)
        return Example(self.encoder.encode(trajectory, asked, visible), labels)

    def _learn(self, batch: Sequence[Example], weights: torch.Tensor, lr: float) -> float:
        """Take one optimiser step and return the batch's loss; a non-finite one is left out."""
        labels = torch.tensor([y for example in batch for y in example.labels], device=self.device)
        verdicts = torch.tensor([self.encoder.redundant, self.encoder.necessary]).to(self.device)
        logits = self._logits([example.input for example in batch])
        losses = torch.nn.functional.cross_entropy(logits, verdicts[labels], reduction="none")
        weight = weights[labels]
        loss = (losses * weight).sum() / weight.sum()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.parameters(), MAX_GRAD_NORM)
        if not (torch.isfinite(loss) and torch.isfinite(norm)):
            return math.nan
        for group in self.optimiser.param_groups:
            group["lr"] = lr
        self.optimiser.step()
        self.updates += 1
        return float(loss.detach())

    def _guard(self, finite: bool) -> None:
        self.bad_steps = 0 if finite else self.bad_steps + 1
        if self.bad_steps >= MAX_BAD_STEPS:
            raise UserError(
                f"discriminator: {self.bad_steps} steps in a row had a non-finite loss or "
                "gradient; lower discriminator.lr in a run of another name"
            )

    def _class_weights(self, labels: Sequence[int]) -> torch.Tensor:
        """Weigh [redundant, necessary] inversely to their frequency, or equally."""
        counts = [labels.count(0), labels.count(1)]
        if self.config.class_weights == "none" or 0 in counts:
            return torch.ones(2, device=self.device)
        return torch.tensor([len(labels) / (2 * n) for n in counts], device=self.device)

    def _logits(self, inputs: Sequence[JudgeInput]) -> torch.Tensor:
        """Return next-token logits after each question, [Q, vocabulary], float32."""
        causal = self.model.get_base_model()
        batch = pack(inputs, self.pad_id, causal.dtype, self.device)
        hidden = causal.get_decoder()(
            input_ids=batch.ids,
            attention_mask=batch.mask,
            position_ids=batch.positions,
            use_cache=False,
        ).last_hidden_state
        return causal.get_output_embeddings()(hidden[batch.rows, batch.ends]).float()

    def _log_odds(self, inputs: Sequence[JudgeInput]) -> torch.Tensor:
        """Return log P(necessary) - log P(redundant) of each question, [Q]."""
        logits = self._logits(inputs)
        return logits[:, self.encoder.necessary] - logits[:, self.encoder.redundant]


def _with_adapter(
    model: Any, config: DiscriminatorConfig, markers: Sequence[int], seed: int
) -> Any:
    """Put LoRA into every linear layer, and make the embeddings of `markers` trainable."""
    from peft import LoraConfig, get_peft_model

    if model.config._attn_implementation not in {"sdpa", "eager"}:
        model.set_attn_implementation("sdpa")
    lora = LoraConfig(
        task_type="CAUSAL_LM",
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        lora_dropout=0.0,
        target_modules="all-linear",
        trainable_token_indices=list(markers) or None,
    )
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        # PEFT still reads an attribute that transformers has renamed.
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing")
        torch.manual_seed(derive_seed(seed, "adapter"))
        try:
            return get_peft_model(model, lora)
        except ValueError as error:
            reason = " ".join(str(error).split())
            raise UserError(f"discriminator.model: takes no LoRA adapter: {reason}") from None


def _changing(trajectory: Trajectory) -> list[int]:
    return [
        t for t, step in enumerate(trajectory.steps) if step.executed and step.kind == Kind.CHANGING
    ]


def _labelled(trajectory: Trajectory) -> list[int]:
    return [t for t in _changing(trajectory) if trajectory.steps[t].label is not None]


def _batches(lengths: dict[int, int], size: int) -> list[list[int]]:
    """Cut the keys into batches of `size`, neighbours in length together."""
    ordered = sorted(lengths, key=lambda number: (lengths[number], number))
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def _without_predictions(trajectory: Trajectory) -> Trajectory:
    steps = tuple(replace(step, predicted=None, probability=None) for step in trajectory.steps)
    return replace(trajectory, steps=steps)


def _with_predictions(trajectory: Trajectory, probabilities: dict[int, float]) -> Trajectory:
    steps = tuple(
        _predicted(step, probabilities.get(position))
        for position, step in enumerate(trajectory.steps)
    )
    return replace(trajectory, steps=steps)


def _predicted(step: Step, probability: float | None) -> Step:
    if probability is not None:
        return replace(step, predicted=int(probability >= 0.5), probability=probability)
    necessary = step.valid and step.is_information
    return replace(step, predicted=int(necessary), probability=None)
