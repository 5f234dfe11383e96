"""GRPO: the group-relative advantage without credit (paper §2, baseline of §5.1)."""

from __future__ import annotations

from trajevolve.advantages.fill import fill
from trajevolve.advantages.normalise import normalise
from trajevolve.config import RunConfig
from trajevolve.trajectory import Group


def grpo(group: Group, config: RunConfig) -> Group:
    """A(a_t) = (R_i - mean R) / (std R + 1e-6), the same for every step of τ_i; A^S = 0."""
    rewards = [member.reward for member in group]
    episode = normalise(rewards, config.learner.ddof)
    step = [(0.0,) * len(member) for member in group]
    return fill(group, rewards, episode, step, lam=0.0)
