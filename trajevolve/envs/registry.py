"""Environments by name: built-in ones, and anybody's as ``module:attribute``."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajevolve.envs.contract import Environment
from trajevolve.errors import UserError
from trajevolve.wording import did_you_mean

if TYPE_CHECKING:
    from trajevolve.config import EnvConfig

#: name -> (where its class is, the extra that installs what it needs, "" when nothing is).
BUILT_IN: dict[str, tuple[str, str]] = {
    "alfworld": ("trajevolve.envs.alfworld.environment:AlfworldEnvironment", ""),
    "scienceworld": (
        "trajevolve.envs.scienceworld.environment:ScienceWorldEnvironment",
        "scienceworld",
    ),
    "webshop": ("trajevolve.envs.webshop.environment:WebshopEnvironment", ""),
}

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def make_env(name: str, **options: Any) -> Environment:
    """Make an environment.

    Args:
        name: a built-in name (``alfworld``), or ``module:attribute`` of a class or of a function
            that returns an environment. Modules in the current folder are found too.
        **options: passed on. ALFWorld takes ``data``, ``backend`` and ``difficulty``, WebShop
            ``data`` and ``show_attributes``, ScienceWorld ``simplifications``, ``workers`` and
            ``heap_mb``.

    Raises:
        UserError: nothing is known under that name, its package is not installed, or an option
            is not one of its own; the text says what exists and what to install.
    """
    path, extra = BUILT_IN.get(name, (name, ""))
    factory = _load(path, name, extra)
    _check_options(name, factory, options)
    try:
        env = factory(**options)
    except TypeError as error:
        if _raised_below(error):
            raise
        given = ", ".join(sorted(options)) or "none"
        raise UserError(f"environment {name}: options {given} do not fit: {error}") from None
    if not isinstance(env, Environment):
        raise UserError(
            f"environment {name}: expected an Environment, got {type(env).__name__}; "
            "derive the class from trajevolve.Environment"
        )
    return env


def _check_options(name: str, factory: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise UserError where an option has no parameter of its name."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except ValueError:  # of some classes written in C, which are no environments anyway
        return
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        return
    taken = [each.name for each in parameters if each.kind in NAMED]
    for given in options:
        if given not in taken:
            raise UserError(
                f"environment {name}: has no option {given!r}; {did_you_mean(given, taken)}"
                f"it takes {', '.join(taken) or 'none'}"
            )


def configured_env(config: EnvConfig) -> Environment:
    """Make the environment a configuration names; options at their default are not passed.

    An environment need not know options that nobody has set; ``env.options`` are passed as they
    are. Raises like :func:`make_env`, and UserError where an option is given twice.
    """
    named = config.model_dump(include={"data", "backend", "difficulty", "workers"})
    usual = {name: type(config).model_fields[name].default for name in named}
    chosen = {name: value for name, value in named.items() if value != usual[name]}
    twice = sorted(config.options.keys() & named.keys())
    if twice:
        raise UserError(f"env.options: {twice[0]} has a key of its own; set env.{twice[0]}")
    return make_env(config.name, **chosen, **config.options)


def _load(path: str, name: str, extra: str) -> Callable[..., Any]:
    module_name, colon, attribute = path.partition(":")
    if not (colon and attribute and all(map(str.isidentifier, module_name.split(".")))):
        raise UserError(
            f"environment {name!r} is unknown; known: {', '.join(sorted(BUILT_IN))}, "
            f"or module:attribute of your own{_as_attribute(module_name)}"
        )
    try:
        # Only names of one's own are looked for in the current folder: what lies in a folder of
        # data must not be imported in the place of a package.
        module = import_module(module_name) if name in BUILT_IN else _import(module_name)
    except ModuleNotFoundError as error:
        raise UserError(f"environment {name}: {_how_to_get(error, module_name, extra)}") from None
    factory = getattr(module, attribute, None)
    # What is built into the interpreter (os:abort, say) makes no environment.
    if not (inspect.isclass(factory) or inspect.isfunction(factory)):
        raise UserError(f"environment {name}: {module_name} has no class or function {attribute!r}")
    return factory


def _as_attribute(given: str) -> str:
    """Say how to write what was given as a file, or as a module alone; "" for anything else."""
    module = given.removesuffix(".py").removeprefix("./").replace("/", ".")
    if not module or not all(map(str.isidentifier, module.split("."))):
        return ""
    return f", as in {module}:ClassName"


def _import(module_name: str) -> Any:
    """Import, with the current folder on the path as ``python -m`` would have it."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    return import_module(module_name)


def _how_to_get(error: ModuleNotFoundError, module_name: str, extra: str) -> str:
    missing = error.name or module_name
    if extra:
        return f"{missing} is not installed; run `make install EXTRAS={extra}`"
    if module_name == missing or module_name.startswith(f"{missing}."):
        return f"no module {missing!r} on the path; run in its folder or set PYTHONPATH"
    return f"{module_name} needs {missing!r}, which is not installed"


def _raised_below(error: TypeError) -> bool:
    """Say whether the error comes from inside the factory and not from the call of it."""
    trace = error.__traceback__
    return trace is not None and trace.tb_next is not None
