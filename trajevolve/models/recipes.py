"""The recipes of the shipped weights, by environment."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from trajevolve.errors import UserError
from trajevolve.models.warmup import WarmupConfig
from trajevolve.models.warmup_discriminator import DiscriminatorRecipe

_PRACTICES = {
    "alfworld": "trajevolve.models.alfworld_practice",
    "scienceworld": "trajevolve.models.scienceworld_practice",
    "webshop": "trajevolve.models.webshop_practice",
}


def policy_recipe(environment: str) -> WarmupConfig:
    """Return how the built-in policy was made. Raises UserError where there is none."""
    recipe: WarmupConfig = _practice(environment).POLICY
    return recipe


def discriminator_recipe(environment: str) -> DiscriminatorRecipe:
    """Return how the built-in adapter was made. Raises UserError where there is none."""
    recipe: DiscriminatorRecipe | None = getattr(_practice(environment), "DISCRIMINATOR", None)
    if recipe is None:
        raise UserError(
            f"environment {environment!r}: has no recipe for a discriminator; train with "
            "--set discriminator.adapter=null, which starts one untrained"
        )
    return recipe


def _practice(environment: str) -> Any:
    if environment not in _PRACTICES:
        raise UserError(
            f"environment {environment!r}: has no warm start; expected {', '.join(_PRACTICES)}"
        )
    return import_module(_PRACTICES[environment])
