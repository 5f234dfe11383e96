import math

import pytest
import torch

from trajevolve.config import LearnerConfig
from trajevolve.learning.batching import TokenBatch
from trajevolve.learning.loss import k3, policy_loss


def batch(old, advantage, *, weight=None, reference=None, step_of=None, evolved=False):
    count = len(old)
    return TokenBatch(
        ids=torch.zeros(1, count + 1, dtype=torch.long),
        where=torch.arange(count),
        targets=torch.zeros(count, dtype=torch.long),
        step_of=torch.tensor(step_of or range(count)),
        weight=torch.tensor(weight or [1.0 / count] * count),
        advantage=torch.tensor(advantage),
        old=torch.tensor(old),
        reference=torch.tensor(reference or [math.nan] * count),
        evolved=torch.full((count,), evolved),
    )


def run(new, tokens, **fields):
    logprobs = torch.tensor(new, requires_grad=True)
    config = LearnerConfig(**{"kl": 0.0, **fields})
    terms = policy_loss(logprobs, tokens, config, reference=not tokens.reference.isnan().any())
    terms.loss.backward()
    return terms, logprobs.grad


@pytest.mark.parametrize(
    ("ratio", "advantage", "objective", "gradient"),
    [
        (1.0, 2.0, 2.0, 2.0),
        (1.1, 2.0, 2.2, 2.2),
        (1.5, 2.0, 2.4, 0.0),  # gain is bounded at 1 + ε
        (0.5, 2.0, 1.0, 1.0),  # a loss of a good action is not
        (0.5, -2.0, -1.6, 0.0),
        (1.5, -2.0, -3.0, -3.0),
    ],
)
def test_clipped_objective_by_hand(ratio, advantage, objective, gradient):
    terms, grad = run([math.log(ratio) - 1.0], batch([-1.0], [advantage]))
    assert terms.loss.item() == pytest.approx(-objective, rel=1e-5)
    assert grad.item() == pytest.approx(-gradient, rel=1e-5, abs=1e-7)
    assert terms.clipped.item() is (gradient == 0.0)


def test_k3_by_hand():
    r = torch.tensor([0.0, 1.0, -1.0])
    assert k3(r).tolist() == pytest.approx([0, math.e - 2, 1 / math.e], abs=1e-6)


def test_kl_weight_and_direction():
    tokens = batch([-1.0], [0.0], reference=[-2.0])
    terms, grad = run([-1.0], tokens, kl=0.1)
    # r = log π_ref - log π_θ = -1; k3 = 1/e; d k3 / d log π_θ = 1 - exp(r)
    assert terms.reference_kl.item() == pytest.approx(1 / math.e)
    assert terms.loss.item() == pytest.approx(0.1 / math.e)
    assert grad.item() == pytest.approx(0.1 * (1 - 1 / math.e))


def test_the_kl_is_reported_without_weighing_in():
    terms, grad = run([-1.0], batch([-1.0], [0.0], reference=[-2.0]), kl=0.0)
    assert terms.reference_kl.item() == pytest.approx(1 / math.e)
    assert (terms.loss.item(), grad.item()) == (0.0, 0.0)


def test_r_is_clamped_on_evolved_tokens_only():
    far = {"old": [-20.0], "advantage": [0.0], "reference": [-5.0]}
    evolved, grad = run([-20.0], batch(**far, evolved=True), kl=1.0)
    assert evolved.reference_kl.item() == pytest.approx(math.exp(10) - 11, rel=1e-5)
    assert grad.item() == 0.0
    sampled, grad = run([-20.0], batch(**far), kl=1.0)
    assert sampled.reference_kl.item() == pytest.approx(math.exp(15) - 16, rel=1e-5)
    assert grad.item() != 0.0


def test_step_ratio_is_the_product_over_the_actions_tokens():
    tokens = batch([-1.0] * 3, [1.0, 1.0, -1.0], weight=[0.25, 0.25, 0.5], step_of=[0, 0, 1])
    new = [-1.0 + math.log(1.1), -1.0 + math.log(1.05), -1.0]
    terms, grad = run(new, tokens, ratio="step")
    # step 0: 1.155 with weight 1/2; step 1: ratio 1 with advantage -1
    assert terms.loss.item() == pytest.approx(-(0.5 * 1.155 - 0.5), rel=1e-5)
    assert grad.tolist() == pytest.approx([-0.5 * 1.155, -0.5 * 1.155, 0.5], rel=1e-5)
    beyond, grad = run([-1.0 + math.log(1.15)] * 2 + [-1.0], tokens, ratio="step")
    assert beyond.clipped.tolist() == [True, True, False]
    assert grad.tolist()[:2] == [0.0, 0.0]
    token, _ = run([-1.0 + math.log(1.15)] * 2 + [-1.0], tokens, ratio="token")
    assert token.clipped.tolist() == [False] * 3


def test_change_of_the_policy_is_k3_of_old_and_new():
    terms, _ = run([-1.5], batch([-1.0], [1.0]))
    # KL(π_old ‖ π_θ) with r = log π_θ - log π_old = -0.5
    assert terms.policy_kl.item() == pytest.approx(math.exp(-0.5) + 0.5 - 1, rel=1e-5)
