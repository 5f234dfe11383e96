"""TrajEvolve: episode advantage of the shaped reward plus step credit (paper §3.3)."""

from __future__ import annotations

from trajevolve.advantages.fill import fill
from trajevolve.advantages.normalise import normalise
from trajevolve.advantages.shaping import shaped_reward
from trajevolve.advantages.step_credit import step_advantages
from trajevolve.config import RunConfig
from trajevolve.trajectory import Group, redundancy_ratio


def trajevolve(group: Group, config: RunConfig) -> Group:
    """A(a_t) = A^E(τ_i) + λ·A^S(a_t), with A^E normalised over R̃ = R - α·ρ.

    With R = 10 on success and α = 1 success always outranks failure; in an all-success group ρ
    and the penalty for invalid actions alone set the spread. In an all-failure group A^E comes
    from the penalty at most, and A^S still teaches.
    """
    credit = config.credit
    shaped = [
        shaped_reward(member.reward, redundancy_ratio(member), credit.alpha) for member in group
    ]
    episode = normalise(shaped, config.learner.ddof)
    return fill(group, shaped, episode, step_advantages(group, credit), credit.lam)
