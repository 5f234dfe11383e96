"""Shaped reward (paper §3.3, appendix B.1)."""


def shaped_reward(reward: float, rho: float, alpha: float) -> float:
    """R̃(τ) = R(τ) - α·ρ(τ)."""
    return reward - alpha * rho
