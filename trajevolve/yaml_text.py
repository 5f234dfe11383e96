"""Plain data out of YAML text that anybody may have written."""

from __future__ import annotations

import reprlib
from pathlib import Path
from typing import Any

import yaml

from trajevolve.errors import UserError

INTEGER_BITS = 64
LARGEST_FILE = 64 * 1024


class _Loader(yaml.SafeLoader):
    """Builds nothing but plain data of numbers that everybody can write down again."""


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int:
    value = int(loader.construct_yaml_int(node))
    if value.bit_length() > INTEGER_BITS:
        raise yaml.constructor.ConstructorError(
            None, None, f"a whole number of more than {INTEGER_BITS} bits", node.start_mark
        )
    return value


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


def read_yaml(text: str, source: str) -> Any:
    """Read one YAML document of numbers, texts, lists and mappings.

    Args:
        text: the document.
        source: file or option, for errors.

    Raises:
        UserError: not YAML, nested too deeply, or out of all proportion.
    """
    try:
        return yaml.load(text, _Loader)
    except RecursionError:
        raise UserError(f"{source}: YAML nested too deeply; expected sections of keys") from None
    # Besides its own errors PyYAML lets through what converting a scalar raises: ValueError of a
    # 13th month, AttributeError, IndexError or KeyError of a tag on a text that does not fit it.
    except Exception as error:
        raise UserError(f"{source}: not valid YAML: {error}") from None


def read_params(path: Path) -> dict[str, Any]:
    """Read a params.yaml; an empty one sets nothing.

    Raises:
        UserError: it cannot be read, is too large, or does not hold keys with values.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise UserError(f"{path}: larger than {LARGEST_FILE} bytes; expected a params.yaml")
        text = data.decode()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; give a params.yaml with --config") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    content = read_yaml(text, str(path))
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected keys with values, got {type(content).__name__}")
    return content


def shown(value: object) -> str:
    """``repr`` of bounded length: with aliases a few lines stand for more text than there is."""
    short = reprlib.Repr()
    short.maxlevel = 2
    short.maxstring = short.maxother = short.maxlong = 100
    return short.repr(value)
