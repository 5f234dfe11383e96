"""The policy that a configuration or an option names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajevolve.agent.contract import Agent
    from trajevolve.config import RunConfig


def make_agent(config: RunConfig, policy: str | None, temperature: float) -> Agent:
    """Make the random or the expert policy, or without `policy` the configured model.

    Raises:
        UserError: `policy` is unknown, or the model cannot be loaded.
    """
    from trajevolve.errors import UserError

    if policy is None:
        return _language_agent(config, temperature)
    if policy == "random":
        from trajevolve.agent.agents import RandomAgent

        return RandomAgent()
    if policy == "expert":
        return _expert(config.env.name)
    raise UserError(f"--policy {policy!r}: unknown; expected random or expert")


def _expert(environment: str) -> Agent:
    """Make the scripted expert: in ALFWorld it explores, in WebShop it goes by titles."""
    from trajevolve.errors import UserError

    if environment == "alfworld":
        from trajevolve.envs.alfworld import clumsy as searching

        return searching.ClumsyExpert(searching.CAREFUL)
    if environment == "webshop":
        from trajevolve.envs.webshop import clumsy as shopping

        return shopping.ClumsyShopper(shopping.CAREFUL)
    raise UserError(f"--policy expert: environment {environment} has none; use random")


def _language_agent(config: RunConfig, temperature: float) -> Agent:
    from trajevolve.agent.agents import LanguageAgent
    from trajevolve.agent.prompt import PromptRenderer
    from trajevolve.agent.transformers_backend import TransformersBackend
    from trajevolve.models.loading import load_policy

    model, tokenizer = load_policy(config.model, config.env.name)
    backend = TransformersBackend(model, PromptRenderer(tokenizer, config.agent).stop_ids)
    return LanguageAgent(backend, tokenizer, config.agent, temperature)


def recorded_agent(model: str) -> dict[str, Any]:
    """Find how a model was prompted when it was trained; empty when nothing says so.

    An exported model has ``agent.json`` beside its weights.
    """
    from trajevolve.files import read_object

    path = Path(model) / "agent.json"
    return read_object(path) if path.is_file() else {}


def run_of_checkpoint(model: str) -> Path | None:
    """Return the folder of the run that a checkpoint lies in, None for any other model."""
    folder = Path(model)
    if not (folder / "checkpoint.json").is_file():
        return None
    # runs/NAME/iter_0007/update/checkpoint
    parents = folder.resolve().parents[:4]
    return next((parent for parent in parents if (parent / "manifest.json").is_file()), None)
