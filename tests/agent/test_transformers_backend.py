"""The cached, ragged backend against plain forward passes without a cache."""

import numpy as np
import pytest
import torch
from toys.qwen import tiny_qwen

from trajevolve.agent.contract import Request
from trajevolve.agent.transformers_backend import TransformersBackend, sample

VOCABULARY = 40
STOP = 3


@pytest.fixture(scope="module")
def model():
    return tiny_qwen(VOCABULARY)


def naive(model, context, seed, temperature, limit):
    """Sample one token at a time with the whole context recomputed."""
    draws = np.random.Generator(np.random.Philox(seed)).random(limit)
    ids, logprobs = [], []
    for draw in draws:
        with torch.no_grad():
            logits = model(torch.tensor([[*context, *ids]])).logits[:, -1]
        (token,), (logprob,) = sample(logits, np.array([draw]), temperature)
        ids.append(token)
        logprobs.append(logprob)
        if token == STOP:
            break
    return tuple(ids), logprobs


def assert_equal(model, backend, requests, temperature=1.0, limit=6):
    completions = backend.complete(requests, temperature, limit)
    for request, completion in zip(requests, completions, strict=True):
        ids, logprobs = naive(model, request.context, request.seed, temperature, limit)
        assert completion.token_ids == ids
        assert completion.logprobs == pytest.approx(logprobs, abs=1e-4)
    return completions


def contexts(rng, lengths):
    return [tuple(int(t) for t in rng.integers(4, VOCABULARY, size=n)) for n in lengths]


@pytest.mark.parametrize("temperature", [1.0, 0.4, 0.0])
def test_episodes_of_uneven_length_match_uncached_sampling(model, temperature):
    rng = np.random.default_rng(1)
    backend = TransformersBackend(model, {STOP}, prefill_tokens=30)
    live = {slot: ctx for slot, ctx in enumerate(contexts(rng, [3, 9, 5, 14]))}
    for turn in range(4):
        requests = [Request(slot, ctx, 100 * turn + slot) for slot, ctx in live.items()]
        completions = assert_equal(model, backend, requests, temperature)
        for (slot, ctx), completion in zip(list(live.items()), completions, strict=True):
            extra = contexts(rng, [int(rng.integers(1, 7))])[0]
            live[slot] = ctx + completion.token_ids + extra
        if turn == 1:
            backend.release([1])
            del live[1]


def test_a_context_that_changed_is_recomputed_from_the_difference(model):
    rng = np.random.default_rng(2)
    backend = TransformersBackend(model, {STOP})
    (first,) = contexts(rng, [12])
    assert_equal(model, backend, [Request(0, first, 7)])
    changed = (*first[:5], 9 if first[5] != 9 else 10, *first[6:8])
    assert_equal(model, backend, [Request(0, changed, 8)])


def test_a_group_shares_its_start(model):
    rng = np.random.default_rng(3)
    (start,) = contexts(rng, [20])
    backend = TransformersBackend(model, {STOP})
    seen = []
    inner = backend._forward

    def counting(slots, tokens, starts):
        seen.append(sum(map(len, tokens)))
        return inner(slots, tokens, starts)

    backend._forward = counting
    requests = [Request(slot, start, slot) for slot in range(8)]
    completions = assert_equal(model, backend, requests)
    assert seen[0] == len(start)
    assert len({c.token_ids for c in completions}) > 1


def test_some_slots_may_wait_while_others_sample(model):
    rng = np.random.default_rng(4)
    backend = TransformersBackend(model, {STOP})
    a, b = contexts(rng, [6, 8])
    assert_equal(model, backend, [Request(0, a, 1), Request(1, b, 2)])
    assert_equal(model, backend, [Request(1, (*b, 5, 6), 3)])
    assert_equal(model, backend, [Request(0, (*a, 7), 4), Request(1, (*b, 5, 6, 8, 9), 5)])


def test_sampling_follows_the_distribution():
    logits = torch.log(torch.tensor([[0.2, 0.5, 0.3]]))
    ids = [sample(logits, np.array([draw]), 1.0)[0][0] for draw in (0.0, 0.19, 0.21, 0.69, 0.71)]
    assert ids == [0, 0, 1, 1, 2]
    _, logprobs = sample(logits, np.array([0.3]), 1.0)
    assert logprobs[0] == pytest.approx(np.log(0.5), abs=1e-6)


def test_one_seed_gives_one_answer_whoever_else_is_in_the_batch(model):
    rng = np.random.default_rng(5)
    a, b = contexts(rng, [6, 17])
    alone = TransformersBackend(model, {STOP}).complete([Request(0, a, 1)], 1.0, 6)
    together = TransformersBackend(model, {STOP}).complete(
        [Request(5, b, 2), Request(0, a, 1)], 1.0, 6
    )
    assert alone[0].token_ids == together[1].token_ids
