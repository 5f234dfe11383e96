"""Durable files: written whole or not at all, and hashed by content."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trajevolve.errors import UserError

CHUNK = 1 << 20
LEAST_ROOM = 1 << 20
"""Bytes; a disk with less is called full."""
RESUME = "the same command goes on from there"
# What the user can do about a disk that takes no more.
REMEDIES = {
    errno.ENOSPC: f"make room; {RESUME}",
    errno.EDQUOT: f"make room within your quota; {RESUME}",
    errno.EFBIG: f"raise the limit on the size of files (`ulimit -f`); {RESUME}",
    errno.EROFS: "choose another place, or mount it for writing",
    errno.EACCES: "choose another place, or allow writing there",
    errno.EPERM: "choose another place, or allow writing there",
    errno.EIO: f"look after the disk; {RESUME}",
}
# Libraries that write for us do not all pass the number on; safetensors says it in its text.
NUMBER = re.compile(r"os error (\d+)")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say in one line what keeps the code below from writing `path`.

    Raises:
        UserError: the disk is full, read-only or failing, or a limit of the user's is reached.
    """
    try:
        yield
    except Exception as error:
        number = _number(error)
        if number not in REMEDIES:
            raise
        raise _unwritable(path, number) from error


def _unwritable(path: Path, number: int) -> UserError:
    remedy = REMEDIES.get(number, "choose another place")
    return UserError(f"{path}: cannot be written ({os.strerror(number)}); {remedy}")


def _number(error: Exception) -> int:
    """Return the system's number of what went wrong, 0 where it is nothing of the system's."""
    if isinstance(error, OSError):
        return error.errno or 0
    said = NUMBER.search(str(error))
    return int(said[1]) if said else 0


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then move it there.

    The content is on disk before the name appears, so a reader (or a run killed at any moment)
    finds the old file, the new one or none, never a part.

    Raises:
        UserError: `path` cannot be written; said before `write` has done its work where that
            can be known, as of a disk that is full it cannot.
    """
    check_writable(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with writing(path):
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
        raise _unwritable(path, _number(error)) from None


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
        raise _unwritable(path.parent, _number(error)) from None


def check_room(folder: Path) -> None:
    """Raise UserError when the disk of `folder` is full, which libraries say in their own ways."""
    if shutil.disk_usage(folder).free < LEAST_ROOM:
        raise _unwritable(folder, errno.ENOSPC)


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


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
