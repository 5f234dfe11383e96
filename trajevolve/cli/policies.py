"""The policy and the environment that a configuration names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trajevolve.agent.contract import Agent
    from trajevolve.config import EnvConfig, RunConfig
    from trajevolve.envs.contract import Environment


def make_environment(config: EnvConfig) -> Environment:
    """Make the configured environment; ALFWorld alone takes options."""
    from trajevolve.envs.registry import make_env

    if config.name != "alfworld":
        return make_env(config.name)
    return make_env(
        config.name, data=config.data, backend=config.backend, difficulty=config.difficulty
    )


def make_agent(config: RunConfig, policy: str | None, temperature: float) -> Agent:
    """Make the random or the expert policy, or without `policy` the configured model.

    Raises:
        UserError: `policy` is unknown, or the model cannot be loaded.
    """
    from trajevolve.errors import UserError

    if policy is None:
        return _language_agent(config, temperature)
    from trajevolve.agent.agents import ExpertAgent, RandomAgent

    known = {"random": RandomAgent, "expert": ExpertAgent}
    if policy not in known:
        raise UserError(f"--policy {policy!r}: unknown; expected {' or '.join(known)}")
    return known[policy]()


def _language_agent(config: RunConfig, temperature: float) -> Agent:
    from trajevolve.agent.agents import LanguageAgent
    from trajevolve.agent.transformers_backend import TransformersBackend
    from trajevolve.models.loading import load_policy

    model, tokenizer = load_policy(config.model, config.env.name)
    backend = TransformersBackend(model, (tokenizer.eos_token_id,))
    return LanguageAgent(backend, tokenizer, config.agent, temperature)
