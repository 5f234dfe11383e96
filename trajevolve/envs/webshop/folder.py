"""A prepared catalogue as a folder: its manifest, its checks, and how it is opened."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.index import Index
from trajevolve.envs.webshop.splits import NAMES
from trajevolve.envs.webshop.store import MappedRows
from trajevolve.errors import UserError

MANIFEST = "catalogue.json"
SCHEMA_VERSION = 1

HOW = "make one with `trajevolve webshop prepare --products FILE --attributes FILE --out DIR`"


def open_catalogue(folder: Path) -> Catalogue:
    """Open a prepared catalogue; a process opens the same one once.

    Raises:
        UserError: there is none, it is of another version, or a file of it is missing or not as
            long as it was.
    """
    return _open(folder.resolve())


@lru_cache(maxsize=8)
def _open(folder: Path) -> Catalogue:
    manifest = read_manifest(folder)
    for name, facts in manifest["files"].items():
        file = folder / name
        if not file.is_file() or file.stat().st_size != facts["bytes"]:
            raise UserError(f"{file}: missing, or not {facts['bytes']} bytes; prepare it again")
    try:
        return Catalogue(
            name=str(folder),
            products=MappedRows.open(folder / "products.arrow"),
            asin_order=_array(folder, "asin_order"),
            index=Index.open(folder),
            records=MappedRows.open(folder / "goals.arrow"),
            goal_first=_array(folder, "goal_first"),
            goal_order=_array(folder, "goal_order"),
            splits={name: _array(folder, f"split_{name}") for name in NAMES},
        )
    except (OSError, ValueError, pa.ArrowException) as error:
        raise UserError(f"{folder}: damaged ({error}); prepare it again") from None


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read what a catalogue says of itself. Raises UserError where there is none."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["schema_version"]
    except FileNotFoundError:
        raise UserError(f"{folder}: holds no prepared WebShop catalogue; {HOW}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: cannot be read ({error}); prepare it again") from None
    if version != SCHEMA_VERSION:
        raise UserError(
            f"{path}: schema version {version}, this program reads {SCHEMA_VERSION}; "
            "prepare it again"
        )
    return dict(manifest)


def check_files(folder: Path) -> dict[str, Any]:
    """Compare every file of a catalogue with the hash it was made with.

    Returns:
        The manifest.

    Raises:
        UserError: a file is missing or differs; the text names it.
    """
    manifest = read_manifest(folder)
    for name, facts in manifest["files"].items():
        file = folder / name
        if not file.is_file() or file_sha256(file) != facts["sha256"]:
            raise UserError(f"{file}: missing, or not what was written; prepare it again")
    return manifest


def file_sha256(path: Path) -> str:
    """Hash the content of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _array(folder: Path, name: str) -> Any:
    return np.load(folder / f"{name}.npy", mmap_mode="r")
