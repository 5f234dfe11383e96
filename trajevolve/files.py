"""Durable files: written whole or not at all, and hashed by content."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trajevolve.errors import UserError

CHUNK = 1 << 20


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then move it there.

    The content is on disk before the name appears, so a reader (or a run killed at any moment)
    finds the old file, the new one or none, never a part.

    Raises:
        UserError: `path` cannot be written; said before `write` has done its work.
    """
    check_writable(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        write(partial)
        _flush(partial)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    _flush(path.parent)


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Raises UserError when that is not possible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(_unwritable(path, error)) from None


def check_writable(path: Path) -> None:
    """Make sure that a file can be written at `path`, before the work for its content is done.

    Raises:
        UserError: it is a folder, or nothing can be created beside it.
    """
    if path.is_dir():
        raise UserError(f"{path}: is a folder; give the name of a file")
    make_folder(path.parent)
    trial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise UserError(_unwritable(path.parent, error)) from None


def write_json(path: Path, content: Any) -> None:
    """Write `content` as indented JSON with sorted keys, atomically."""
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))


def content_md5(path: Path) -> str:
    """Hash a file, or a folder as the names below it and their contents.

    Times, permissions and the location do not count.
    """
    if path.is_file():
        return _file_md5(path)
    digest = hashlib.md5(usedforsecurity=False)
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()}\0{_file_md5(file)}\n".encode())
    return digest.hexdigest()


def json_md5(content: Any) -> str:
    """Hash plain data by its canonical JSON text."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def sync_tree(path: Path) -> None:
    """Push a file, or everything in a folder, to disk."""
    for member in [path, *path.rglob("*")] if path.is_dir() else [path]:
        _flush(member)


def _file_md5(path: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _unwritable(folder: Path, error: OSError) -> str:
    return f"{folder}: cannot be written ({error.strerror}); choose another place"


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
