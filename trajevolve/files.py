"""Durable files: written whole or not at all, and hashed by content."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from trajevolve.errors import UserError

Built = TypeVar("Built")
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
# Libraries that write for us do not all pass the number on; safetensors, and what shutil collects
# while it copies a folder, have it in their text.
NUMBER = re.compile(r"(?:os error |\[Errno )(\d+)")


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
    if isinstance(error, OSError) and error.errno:
        return error.errno
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
            flush(partial)
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
        flush(path.parent)


def write_folder(path: Path, fill: Callable[[Path], object]) -> None:
    """Let `fill` write files into a folder beside `path`, then move it there.

    Everything is on disk before the name appears, so a reader finds all of the files or none,
    whenever the process is killed.

    Args:
        path: a new folder, or one that is empty.
        fill: writes the files, sub-folders included, into the folder it is given.

    Raises:
        UserError: the disk is full or takes no files, or see :func:`check_folder`; nothing of the
            folder is left.
    """
    check_folder(path)
    path = path.resolve()  # a link stays, and leads to the new folder
    with writing(path):
        with unfinished(path) as folder:
            fill(folder)
            sync_tree(folder)
            os.replace(folder, path)
        flush(path.parent)


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Make an empty folder beside `path`, to be filled and moved there by the block.

    It is removed where the block fails; what a killed process left of one is removed first.
    """
    folder = path.with_name(f".{path.name}.unfinished")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


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
    _check_beside(path)


def check_folder(path: Path) -> None:
    """Make sure that a new folder can be put at `path`, before the work for its content is done.

    Raises:
        UserError: nothing can be created beside it, or it is a place that must stay as it is.
    """
    path = path.resolve()
    if path == Path.cwd() or os.path.ismount(path):
        raise UserError(
            f"{path}: is the current folder or a mount point, which cannot be replaced as a whole; "
            "give a new folder in it"
        )
    _check_beside(path)


def _check_beside(path: Path) -> None:
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


def read_object(path: Path) -> dict[str, Any]:
    """Read a file that holds one JSON object. Raises UserError naming it when it does not."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected an object, got {type(content).__name__}")
    return content


def write_record(path: Path, version: int, content: Mapping[str, Any]) -> None:
    """Write plain data as JSON that :func:`read_record` can tell from a damaged file."""
    write_json(path, {"version": version, "md5": json_md5(content), **content})


def read_record(
    path: Path,
    versions: Collection[int],
    build: Callable[[dict[str, Any]], Built],
    *,
    remedy: str,
) -> Built:
    """Read what :func:`write_record` wrote.

    Args:
        path: of the file.
        versions: those that are read.
        build: makes the object from the plain data; what it raises is taken for damage.
        remedy: what the user can do about a damaged file.

    Raises:
        FileNotFoundError: there is no file.
        UserError: it cannot be read, is damaged, changed by hand or of another version.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = content.pop("version")
        if found not in versions:
            read = " and ".join(map(str, versions))
            raise UserError(
                f"{path}: version {found}, this program reads {read}; use the release that "
                "started the run"
            )
        declared = content.pop("md5", None)  # older releases wrote none
        if declared not in (None, json_md5(content)):
            raise UserError(f"{path}: damaged, or changed by hand; {remedy}")
        return build(content)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise UserError(f"{path}: damaged, not readable ({reason}); {remedy}") from None


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
        flush(member)


def _file_md5(path: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def flush(path: Path) -> None:
    """Push a file, or the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
