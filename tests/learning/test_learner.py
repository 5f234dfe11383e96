"""The whole update against an independent computation, and its promises."""

import math
from dataclasses import replace
from itertools import chain

import pytest
import torch

from trajevolve.errors import UserError
from trajevolve.learning.forward import check_head
from trajevolve.learning.learner import Learner
from trajevolve.trajectory import Group


def naive_logprobs(model, trajectory, temperature=1.0):
    """One list of log-probabilities a step, from a whole forward pass of each context."""
    context, result = [], []
    for step in trajectory.steps:
        before = (context if trajectory.layout == "dialogue" else []) + list(step.prompt_ids)
        context = before + list(step.response_ids)
        logits = model(input_ids=torch.tensor([context])).logits[0] / temperature
        table = torch.log_softmax(logits, -1)
        result.append([table[len(before) + k - 1, t] for k, t in enumerate(step.response_ids)])
    return result


def naive_loss(learner, trajectories, aggregation):
    """-J, one Python number at a time."""
    config = learner.config
    steps = sum(len(t.steps) for t in trajectories)
    tokens = sum(len(s.response_ids) for t in trajectories for s in t.steps)
    total = torch.zeros(())
    for trajectory in trajectories:
        new = naive_logprobs(learner.model, trajectory)
        with torch.no_grad():
            reference = naive_logprobs(learner.reference, trajectory)
        for step, news, references in zip(trajectory.steps, new, reference, strict=True):
            for k, log_new in enumerate(news):
                ratio = torch.exp(log_new - step.old_logprobs[k])
                clipped = min(max(ratio, 1 - config.clip), torch.tensor(1 + config.clip))
                a = step.advantage
                objective = min(ratio * a, clipped * a)
                r = references[k] - log_new
                objective = objective - config.kl * (torch.exp(r) - r - 1)
                total = (
                    total
                    - objective
                    * {
                        "trajectory-mean": 1 / (len(trajectories) * len(news) * len(trajectory)),
                        "step-mean": 1 / (steps * len(news)),
                        "token-mean": 1 / tokens,
                    }[aggregation]
                )
    return total


def perturbed(learner, trajectories):
    """Old log-probabilities of a policy that differs, so that some ratios are clipped."""
    generator = torch.Generator().manual_seed(3)

    def shift(step):
        noise = torch.randn(len(step.old_logprobs), generator=generator) * 0.3
        values = (torch.tensor(step.old_logprobs) + noise).tolist()
        return replace(step, old_logprobs=tuple(values))

    return [
        replace(t, steps=tuple(shift(s) for s in t.steps))
        for t in learner.old_logprobs(trajectories)
    ]


def gradient(learner, trajectories):
    """The gradient of one update, read off AdamW's first moment: (1 - β1)·g."""
    metrics = learner.update([Group("g", tuple(trajectories))], seed=1)
    names = {p: n for n, p in learner.model.named_parameters()}
    moments = learner.optimiser.state.items()
    return {names[p]: state["exp_avg"] / 0.1 for p, state in moments}, metrics


@pytest.mark.parametrize("layout", ["dialogue", "window"])
@pytest.mark.parametrize("aggregation", ["trajectory-mean", "step-mean", "token-mean"])
def test_update_follows_the_naive_gradient(make_learner, make_trajectories, layout, aggregation):
    learner = make_learner(aggregation=aggregation, kl=0.3, max_grad_norm=1e9)
    trajectories = perturbed(learner, make_trajectories(5, layout=layout))
    expected = naive_loss(learner, trajectories, aggregation)
    expected.backward()
    gradients = {n: p.grad.clone() for n, p in learner.model.named_parameters()}
    found, metrics = gradient(learner, trajectories)
    assert metrics["loss"] == pytest.approx(expected.item(), abs=1e-5)
    assert metrics["clip_fraction"] > 0
    for name, value in gradients.items():
        assert torch.allclose(found[name], value, atol=1e-5), name


@pytest.mark.parametrize("layout", ["dialogue", "window"])
def test_old_logprobs_are_those_of_a_whole_forward_pass(make_learner, make_trajectories, layout):
    learner = make_learner(temperature=0.7, tokens_per_batch=64)
    trajectories = make_trajectories(7, layout=layout)
    for trajectory in learner.old_logprobs(trajectories):
        expected = naive_logprobs(learner.model, trajectory, temperature=0.7)
        for step, values in zip(trajectory.steps, expected, strict=True):
            assert step.old_logprobs == pytest.approx([v.item() for v in values], abs=1e-5)


def test_packing_changes_nothing(make_learner, make_trajectories):
    results = []
    for tokens in (1, 40, 100_000):
        learner = make_learner(tokens_per_batch=tokens, mini_batch_steps=8, epochs=2, lr=1e-3)
        trajectories = learner.old_logprobs(make_trajectories(8, evolved=2))
        metrics = learner.update([Group("g", tuple(trajectories))], seed=4)
        results.append((trajectories, metrics, learner.model.state_dict()))
    first, *others = results
    for trajectories, metrics, weights in others:
        for ours, theirs in zip(trajectories, first[0], strict=True):
            for a, b in zip(ours.steps, theirs.steps, strict=True):
                assert a.old_logprobs == pytest.approx(b.old_logprobs, abs=1e-5)
        assert metrics == pytest.approx(first[1], rel=1e-4, abs=1e-5)
        for name, value in weights.items():
            assert torch.allclose(value, first[2][name], atol=2e-5), name


def test_logits_in_chunks_change_nothing(make_learner, make_trajectories, monkeypatch):
    whole = make_learner()
    trajectories = whole.old_logprobs(make_trajectories(5))
    expected, _ = gradient(whole, trajectories)
    monkeypatch.setattr("trajevolve.learning.forward.HEAD_TOKENS", 3)
    found, _ = gradient(make_learner(), trajectories)
    for name, value in expected.items():
        assert torch.allclose(found[name], value, atol=1e-5), name


def test_mini_batches_sum_to_the_iterations_gradient(make_learner, make_trajectories):
    trajectories = make_learner().old_logprobs(make_trajectories(9))
    whole, _ = gradient(make_learner(lr=1e-12, max_grad_norm=1e9), trajectories)
    learner = make_learner(lr=1e-12, max_grad_norm=1e9, mini_batch_steps=6)
    seen = []
    step = learner.optimiser.step

    def spy():
        seen.append({n: p.grad.clone() for n, p in learner.model.named_parameters()})
        step()

    learner.optimiser.step = spy
    learner.update([Group("g", tuple(trajectories))], seed=1)
    assert len(seen) > 2
    for name, value in whole.items():
        mean = torch.stack([gradients[name] for gradients in seen]).mean(0)
        assert torch.allclose(mean, value, atol=1e-5), name


def test_the_first_ratio_is_one_and_good_actions_become_likelier(make_learner, make_trajectories):
    learner = make_learner(kl=0.0, lr=1e-3)
    good = [
        replace(t, steps=tuple(replace(s, advantage=1.0) for s in t.steps))
        for t in make_trajectories(4)
    ]
    before = learner.old_logprobs(good)
    metrics = learner.update([Group("g", tuple(before))], seed=0)
    assert metrics["loss"] == pytest.approx(-1.0, abs=1e-5)
    assert metrics["approx_kl"] < 1e-8 and metrics["clip_fraction"] == 0.0
    after = learner.old_logprobs(good)

    def total(ts):
        return sum(sum(s.old_logprobs) for t in ts for s in t.steps)

    assert total(after) > total(before)


def test_evolved_tokens_are_counted_apart(make_learner, make_trajectories):
    learner = make_learner(kl=0.1)
    members = learner.old_logprobs(make_trajectories(6, evolved=2))
    metrics = learner.update([Group("g", tuple(members[:4]), tuple(members[4:]))], seed=0)
    assert metrics["tokens"] == sum(len(s.response_ids) for t in members[:4] for s in t.steps)
    assert metrics["evolved/steps"] == sum(len(t) for t in members[4:])
    for prefix, part in (("", members[:4]), ("evolved/", members[4:])):
        fresh = make_learner()
        values = []
        for trajectory in part:
            ours = naive_logprobs(fresh.model, trajectory)
            theirs = naive_logprobs(fresh.reference, trajectory)
            for a, b in zip(chain(*ours), chain(*theirs), strict=True):
                r = (b - a).item()
                values.append(math.exp(r) - r - 1)
        assert metrics[prefix + "kl"] == pytest.approx(sum(values) / len(values), rel=1e-3)
    only = learner.update([Group("g", tuple(learner.old_logprobs(members[:4])))], seed=0)
    assert not any(name.startswith("evolved/") for name in only)


def test_the_samplers_gap_is_measured_where_it_is_known(make_learner, make_trajectories):
    learner = make_learner()
    first, second = learner.old_logprobs(make_trajectories(2))
    gaps = [0.1, 0.3] + [0.0] * 20
    tokens = iter(gaps)
    steps = tuple(
        replace(s, sampler_logprobs=tuple(v - next(tokens) for v in s.old_logprobs))
        for s in first.steps
    )
    known = sum(len(s.response_ids) for s in steps)
    metrics = learner.update([Group("g", (replace(first, steps=steps), second))], seed=0)
    assert metrics["sampler_gap_max"] == pytest.approx(0.3, abs=1e-5)
    assert metrics["sampler_gap_mean"] == pytest.approx(0.4 / known, abs=1e-5)


def test_flat_advantages_are_skipped_without_a_trace(make_learner, make_trajectories):
    flat = {"t0", "t3", "t4"}
    trajectories = [
        replace(t, steps=tuple(replace(s, advantage=0.0) for s in t.steps)) if t.id in flat else t
        for t in make_trajectories(6)
    ]
    fields = {"kl": 0.0, "mini_batch_steps": 3, "epochs": 2, "lr": 1e-6}
    quick = make_learner(**fields)
    trajectories = quick.old_logprobs(trajectories)
    group = Group("g", tuple(trajectories))
    rows = []
    original = quick.model.model.forward

    def counted(*args, **kwargs):
        rows.append(len(kwargs["input_ids"]))
        return original(*args, **kwargs)

    quick.model.model.forward = counted
    quick.update([group], seed=2)
    assert sum(rows) == 2 * 3
    full = make_learner(**{**fields, "kl": 1e-30})
    full.update([group], seed=2)
    states = [
        [learner.optimiser.state[p] for p in learner.model.parameters()]
        for learner in (full, quick)
    ]
    for ours, theirs in zip(*states, strict=True):
        assert ours["step"] == theirs["step"] > 2
        assert torch.allclose(ours["exp_avg"], theirs["exp_avg"], atol=1e-6)


def test_a_non_finite_update_is_skipped_and_counted(make_learner, make_trajectories):
    learner = make_learner(max_bad_steps=2)
    good = Group("g", tuple(learner.old_logprobs(make_trajectories(3))))
    first = good.sampled[0]
    steps = (replace(first.steps[0], advantage=math.nan), *first.steps[1:])
    bad = Group("g", (replace(first, steps=steps), *good.sampled[1:]))
    before = {n: v.clone() for n, v in learner.model.state_dict().items()}
    metrics = learner.update([bad], seed=0)
    assert (metrics["skipped_updates"], metrics["optimiser_steps"]) == (1.0, 0.0)
    assert all(math.isfinite(value) for value in metrics.values())
    assert all(torch.equal(v, before[n]) for n, v in learner.model.state_dict().items())
    assert learner.update([good], seed=0)["optimiser_steps"] == 1.0
    learner.update([bad], seed=0)
    with pytest.raises(UserError, match="2 updates in a row had a non-finite loss"):
        learner.update([bad], seed=0)


def test_a_sequence_longer_than_the_model_is_refused(make_learner, make_trajectories):
    (trajectory,) = make_trajectories(1)
    long = replace(trajectory, steps=(replace(trajectory.steps[0], prompt_ids=(1,) * 200),))
    with pytest.raises(UserError, match=r"t0: \d+ tokens, the model takes 96"):
        make_learner().old_logprobs([long])


def test_old_logprobs_are_required(make_learner, make_trajectories):
    with pytest.raises(ValueError, match="t0: old log-probabilities are missing"):
        make_learner().update([Group("g", tuple(make_trajectories(2)))], seed=0)


def test_the_reference_is_a_frozen_copy_where_a_kl_needs_one(make_model, make_learner):
    config = make_learner().config
    learner = Learner(make_model(), None, config)
    for ours, theirs in zip(
        learner.model.parameters(), learner.reference.parameters(), strict=True
    ):
        assert torch.equal(ours, theirs) and ours.requires_grad and not theirs.requires_grad
    assert Learner(make_model(), None, config.model_copy(update={"kl": 0.0})).reference is None


def test_an_empty_iteration_moves_nothing(make_learner):
    learner = make_learner()
    before = {n: v.clone() for n, v in learner.model.state_dict().items()}
    assert learner.update([], seed=0)["optimiser_steps"] == 0.0
    assert all(torch.equal(v, before[n]) for n, v in learner.model.state_dict().items())


def test_bfloat16_models_keep_float32_weights(make_model, make_learner, make_trajectories):
    learner = Learner(make_model().bfloat16(), None, make_learner().config)
    assert {p.dtype for p in learner.model.parameters()} == {torch.float32}
    trajectories = learner.old_logprobs(make_trajectories(3))
    metrics = learner.update([Group("g", tuple(trajectories))], seed=0)
    assert metrics["optimiser_steps"] == 1.0 and metrics["kl"] == pytest.approx(0, abs=1e-3)


def test_a_model_that_changes_its_logits_is_refused():
    from transformers import Gemma2Config, Gemma2ForCausalLM

    config = Gemma2Config(
        vocab_size=13,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        final_logit_softcapping=0.5,
        initializer_range=0.5,
    )
    with pytest.raises(UserError, match="Gemma2ForCausalLM changes its logits"):
        check_head(Gemma2ForCausalLM(config))
