"""Which configuration a command works with, and where it comes from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajevolve.config import RunConfig

PARAMS = Path("params.yaml")


def read_settings(config: Path | None, overrides: Sequence[str]) -> tuple[RunConfig, str]:
    """Read --config, else the params file of this folder, and apply --set.

    Returns:
        The configuration, and where it comes from in words.
    """
    from trajevolve.config import load_config

    if config is not None:
        return load_config(config, overrides), str(config)
    path, origin = _params_file(overrides)
    return load_config(path, overrides), origin


def _params_file(overrides: Sequence[str], others: Sequence[str] = ()) -> tuple[Path | None, str]:
    """Choose params.yaml, or params.ENV.yaml where --set or `others` ask for another environment.

    Returns:
        The file, None for the defaults, and what was chosen in words.
    """
    from trajevolve.config import load_config
    from trajevolve.envs.registry import BUILT_IN

    there = PARAMS if PARAMS.is_file() else None
    asked = load_config(there, overrides, over=others).env.name
    about = load_config(there).env.name
    path = PARAMS if asked == about else Path(f"{PARAMS.stem}.{asked}.yaml")
    # Unlike Path.is_file this is False, not an error, for a name that no file can have.
    if os.path.isfile(path):
        return path, str(path)
    missing = path if asked in BUILT_IN else PARAMS
    if there is None:
        return None, f"defaults (no {missing} here)"
    if asked in BUILT_IN:
        return None, f"defaults (no {missing} here; {PARAMS} is about another environment)"
    return None, f"defaults ({PARAMS} is about another environment)"


def evaluation_settings(
    config: Path | None, overrides: Sequence[str], chosen: Mapping[str, Any]
) -> tuple[RunConfig, str]:
    """Lay the options of ``evaluate`` over --set, over the configuration, and say whose it is.

    That is --config, else the run's where the model is a checkpoint inside its run, else the
    params file of this folder that is about the same environment. Without --config a model is
    prompted as it was in training, where that is recorded.

    Args:
        config: the value of --config.
        overrides: the values of --set.
        chosen: dotted key -> value of the option, None where it was not given.
    """
    from trajevolve.cli.policies import recorded_agent, run_of_checkpoint
    from trajevolve.config import load_config
    from trajevolve.manifest import load_manifest
    from trajevolve.tracking import flatten

    given = _assignments({key: value for key, value in chosen.items() if value is not None})
    if config is not None:
        return load_config(config, overrides, over=given), str(config)
    model = chosen["model.name"] or ""
    run = run_of_checkpoint(model) if model else None
    if run is not None:
        recorded = _assignments(flatten(load_manifest(run).config))
        return load_config(None, overrides, under=recorded, over=given), str(run)
    path, origin = _params_file(overrides, given)
    agent = _assignments(flatten(recorded_agent(model), "agent.")) if model else []
    return load_config(path, overrides, under=agent, over=given), origin


def _assignments(values: Mapping[str, Any]) -> list[str]:
    """Write values by dotted key as --set would take them."""
    return [f"{key}={json.dumps(value)}" for key, value in values.items()]
