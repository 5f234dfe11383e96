"""TrajEvolve: step-level credit by counterfactual replay, and trajectory evolution.

The stable interface::

    import trajevolve

    env = trajevolve.make_env("alfworld")
    result = trajevolve.verify(env, task, actions, mode="cumulative")

Everything is imported on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajevolve.credit.verification import Verification, verify
    from trajevolve.envs.checker import check_environment
    from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Spec, Task
    from trajevolve.envs.registry import make_env
    from trajevolve.errors import UserError

__all__ = [
    "Environment",
    "Kind",
    "Observation",
    "Outcome",
    "Spec",
    "Task",
    "UserError",
    "Verification",
    "__version__",
    "check_environment",
    "make_env",
    "verify",
]

_HOMES = {
    "Environment": "trajevolve.envs.contract",
    "Kind": "trajevolve.envs.contract",
    "Observation": "trajevolve.envs.contract",
    "Outcome": "trajevolve.envs.contract",
    "Spec": "trajevolve.envs.contract",
    "Task": "trajevolve.envs.contract",
    "UserError": "trajevolve.errors",
    "Verification": "trajevolve.credit.verification",
    "check_environment": "trajevolve.envs.checker",
    "make_env": "trajevolve.envs.registry",
    "verify": "trajevolve.credit.verification",
}

try:
    __version__ = version("trajevolve")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+source"


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'trajevolve' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
