"""Sampling from a local transformers model, with caches kept across the steps of an episode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch

from trajevolve.agent.cache import RaggedCache
from trajevolve.agent.contract import Completion, Request

# Padding costs less than one more pass up to about this ratio of lengths.
MIXED = 3


class TransformersBackend:
    """Completes token ids with a causal language model on one device.

    The cache of a slot is reused as far as the new context begins with the cached tokens; equal
    contexts of new slots (a group's start) are computed once. Each request samples from its own
    seed, so a completion does not depend on who else is in the batch, up to rounding.

    Args:
        model: a transformers causal LM in eval mode.
        stop_ids: token ids that end a response.
        prefill_tokens: padded tokens of one prefill pass.
        precision: what the model computes under, see
            :meth:`trajevolve.learning.learner.Learner.precision`.
    """

    def __init__(
        self,
        model: Any,
        stop_ids: Iterable[int],
        prefill_tokens: int = 16384,
        precision: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self.model = model
        self.stop_ids = frozenset(stop_ids)
        self.prefill_tokens = prefill_tokens
        self._precision = precision
        self.cache = RaggedCache(model.config.num_hidden_layers)

    @property
    def device(self) -> torch.device:
        """Where the model lives."""
        return self.model.device

    @torch.no_grad()
    def complete(
        self, requests: Sequence[Request], temperature: float, max_new_tokens: int
    ) -> list[Completion]:
        """Sample one completion per request. Temperature 0 is greedy."""
        if not requests:
            return []
        with self._precision():
            return self._complete(requests, temperature, max_new_tokens)

    def _complete(
        self, requests: Sequence[Request], temperature: float, max_new_tokens: int
    ) -> list[Completion]:
        logits = self._prefill(requests)
        # In the order of the cache's rows, a pass over all of them has nothing to gather.
        rows = {slot: row for row, slot in enumerate(self.cache.slots)}
        order = sorted(range(len(requests)), key=lambda number: rows[requests[number].slot])
        decoded = self._decode(
            [requests[number] for number in order], logits[order], temperature, max_new_tokens
        )
        found = dict(zip(order, decoded, strict=True))
        return [found[number] for number in range(len(requests))]

    def release(self, slots: Iterable[int]) -> None:
        """Drop the caches of finished episodes."""
        self.cache.release(set(slots))

    def reset(self) -> None:
        """Forget everything cached: the weights have changed."""
        self.cache = RaggedCache(self.model.config.num_hidden_layers)

    def _prefill(self, requests: Sequence[Request]) -> torch.Tensor:
        """Bring every slot's cache up to its context; return next-token logits [B, vocab]."""
        leaders: dict[tuple[int, ...], int] = {}
        followers: dict[int, list[int]] = {}
        work: list[tuple[int, tuple[int, ...], int]] = []
        for position, request in enumerate(requests):
            if request.slot not in self.cache.tokens:
                self.cache.open(request.slot)
                if request.context in leaders:
                    followers.setdefault(leaders[request.context], []).append(position)
                    continue
                leaders[request.context] = position
            known = self._reusable(request)
            work.append((position, request.context, known))
        logits: list[torch.Tensor | None] = [None] * len(requests)
        for batch in self._batches(work):
            slots = [requests[position].slot for position, _, _ in batch]
            rows = self._forward(
                slots, [ctx[known:] for _, ctx, known in batch], [known for *_, known in batch]
            )
            for (position, context, _), row in zip(batch, rows, strict=True):
                logits[position] = row
                self.cache.tokens[requests[position].slot] = list(context)
        for leader, positions in followers.items():
            self.cache.share(requests[leader].slot, [requests[p].slot for p in positions])
            for position in positions:
                logits[position] = logits[leader]
        return torch.stack([row for row in logits if row is not None])

    def _reusable(self, request: Request) -> int:
        """Count cached tokens that begin the context; at least one token is left to compute."""
        cached = self.cache.tokens[request.slot]
        limit = min(len(cached), len(request.context) - 1)
        if tuple(cached[:limit]) == request.context[:limit]:
            return limit
        pairs = zip(cached, request.context, strict=False)
        return next(i for i, (a, b) in enumerate(pairs) if a != b)

    def _batches(
        self, work: list[tuple[int, tuple[int, ...], int]]
    ) -> Iterable[list[tuple[int, tuple[int, ...], int]]]:
        """Cut `work` so that a padded batch stays within the prefill budget.

        A new episode needs its whole prompt where the others need a few tokens, so those of like
        need go together: within a batch, at most one token more than MIXED times as many.
        """
        batch: list[tuple[int, tuple[int, ...], int]] = []
        narrowest = 0
        for item in sorted(work, key=lambda item: len(item[1]) - item[2]):
            width = len(item[1]) - item[2]
            full = width * (len(batch) + 1) > self.prefill_tokens
            if batch and (full or width > MIXED * narrowest + 1):
                yield batch
                batch = []
            narrowest = narrowest if batch else width
            batch.append(item)
        if batch:
            yield batch

    def _forward(
        self, slots: list[int], tokens: Sequence[Sequence[int]], starts: Sequence[int]
    ) -> torch.Tensor:
        """Run new `tokens` of `slots` from absolute positions `starts`; logits of each last one."""
        width = max(len(row) for row in tokens)
        ids = torch.zeros(len(tokens), width, dtype=torch.long)
        for number, row in enumerate(tokens):
            ids[number, : len(row)] = torch.tensor(row)
        first = torch.tensor(starts)
        positions = (first[:, None] + torch.arange(width)).to(self.device)
        ends = [start + len(row) for start, row in zip(starts, tokens, strict=True)]
        length = max(ends)
        self.cache.place(slots, positions, length)
        hidden = self.model.get_decoder()(
            input_ids=ids.to(self.device),
            attention_mask=self._mask(positions, length),
            position_ids=positions,
            cache=self.cache,
            use_cache=True,
        ).last_hidden_state
        last = torch.tensor([len(row) - 1 for row in tokens], device=self.device)
        final = hidden[torch.arange(len(tokens), device=self.device), last]
        return self.model.get_output_embeddings()(final).float()

    def _mask(self, positions: torch.Tensor, length: int) -> torch.Tensor:
        """Additive causal mask [B, 1, Q, length] over absolute positions."""
        keys = torch.arange(length, device=self.device)
        hidden = keys[None, None, :] > positions[:, :, None]
        mask = torch.zeros(hidden.shape, dtype=self.model.dtype, device=self.device)
        return mask.masked_fill_(hidden, torch.finfo(self.model.dtype).min)[:, None]

    def _decode(
        self,
        requests: Sequence[Request],
        logits: torch.Tensor,
        temperature: float,
        max_new_tokens: int,
    ) -> list[Completion]:
        draws = np.stack(
            [np.random.Generator(np.random.Philox(r.seed)).random(max_new_tokens) for r in requests]
        )
        slots = [request.slot for request in requests]
        starts = [len(self.cache.tokens[slot]) for slot in slots]
        chosen: list[list[int]] = [[] for _ in requests]
        scores: list[list[float]] = [[] for _ in requests]
        live = set(range(len(requests)))
        for number in range(max_new_tokens):
            ids, logprobs = sample(logits, draws[:, number], temperature)
            for row in sorted(live):
                chosen[row].append(ids[row])
                scores[row].append(logprobs[row])
            live = {row for row in live if ids[row] not in self.stop_ids}
            if not live or number + 1 == max_new_tokens:
                break
            # Finished rows run along: their garbage lies behind their end and is overwritten.
            places = [start + number for start in starts]
            logits = self._forward(slots, [[token] for token in ids], places)
        for slot, tokens in zip(slots, chosen, strict=True):
            self.cache.tokens[slot].extend(tokens[:-1])
        return [Completion(tuple(c), tuple(s)) for c, s in zip(chosen, scores, strict=True)]


def sample(
    logits: torch.Tensor, draws: np.ndarray, temperature: float
) -> tuple[list[int], list[float]]:
    """Choose one token per row by inverting the distribution function at `draws` in [0, 1).

    Args:
        logits: [B, vocab].
        draws: [B] uniform numbers.
        temperature: 0 takes the most likely token.

    Returns:
        Token ids and their log-probabilities at the temperature (at 1 when greedy).
    """
    scaled = logits if temperature == 0 else logits / temperature
    logprobs = torch.log_softmax(scaled, dim=-1)
    if temperature == 0:
        ids = logprobs.argmax(dim=-1)
    else:
        mass = logprobs.double().exp().cumsum(dim=-1)
        targets = torch.as_tensor(draws, device=mass.device)[:, None] * mass[:, -1:]
        ids = torch.searchsorted(mass, targets, right=True)[:, 0].clamp(max=mass.shape[1] - 1)
    return ids.tolist(), logprobs.gather(1, ids[:, None])[:, 0].tolist()
