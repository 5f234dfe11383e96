"""Checkpoint folders: written at once or not at all, verified on reading.

A checkpoint is a folder with any files and ``checkpoint.json``, which lists their MD5 sums and
the facts that the writer recorded. It is filled under a temporary name and renamed when every
byte is on the disk.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from trajevolve.errors import UserError
from trajevolve.files import content_md5, flush, sync_tree, unfinished, writing

RECORD = "checkpoint.json"
SCHEMA_VERSION = 1


def write_checkpoint(
    directory: Path, fill: Callable[[Path], None], facts: Mapping[str, Any]
) -> None:
    """Let `fill` write files into a temporary folder, then put it in place of `directory`.

    Args:
        directory: where it ends up; a checkpoint already there is replaced.
        fill: writes the files, sub-folders included, into the folder it is given.
        facts: JSON values to record, ``iteration`` for instance.

    Raises:
        UserError: the disk is full or takes no files; nothing of the checkpoint is left.
    """
    directory = Path(directory)
    with writing(directory):
        directory.parent.mkdir(parents=True, exist_ok=True)
        _recover(directory)
        with unfinished(directory) as folder:
            fill(folder)
            _seal(folder, facts)
            _put_in_place(folder, directory)


def _seal(folder: Path, facts: Mapping[str, Any]) -> None:
    """Record the sums of all files, and push everything to the disk."""
    sums = {str(f.relative_to(folder)): content_md5(f) for f in _files(folder)}
    record = {**facts, "schema_version": SCHEMA_VERSION, "files": sums}
    (folder / RECORD).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    sync_tree(folder)


def read_checkpoint(directory: Path) -> dict[str, Any]:
    """Verify every file of the checkpoint `directory` and return what its writer recorded.

    Raises:
        UserError: it is not there, was written by another version, or a file is missing or
            differs from what was written; the text names the file.
    """
    directory = Path(directory)
    _recover(directory)
    record = _read_record(directory)
    for name, expected in record["files"].items():
        path = directory / name
        if not path.is_file():
            raise UserError(f"{path}: missing from the checkpoint; use another checkpoint")
        if content_md5(path) != expected:
            raise UserError(
                f"{path}: damaged, its MD5 differs from {RECORD}; use another checkpoint"
            )
    return record


def _put_in_place(folder: Path, directory: Path) -> None:
    """Rename; a folder cannot replace a full one, so an older checkpoint steps aside first."""
    aside = _aside(directory)
    if directory.exists():
        directory.rename(aside)
    folder.rename(directory)
    flush(directory.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _recover(directory: Path) -> None:
    """Bring back the older checkpoint when a crash came between the two renames."""
    aside = _aside(directory)
    if aside.exists() and not directory.exists():
        aside.rename(directory)
    shutil.rmtree(aside, ignore_errors=True)


def _aside(directory: Path) -> Path:
    return directory.with_name(f".{directory.name}.replaced")


def _read_record(directory: Path) -> dict[str, Any]:
    path = directory / RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; expected the folder of a checkpoint") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read: {error}; use another checkpoint") from None
    version = record.get("schema_version") if isinstance(record, dict) else None
    if version != SCHEMA_VERSION:
        raise UserError(
            f"{path}: schema_version {version!r}, this version reads {SCHEMA_VERSION}; "
            "use a checkpoint written by this version"
        )
    if not isinstance(record.get("files"), dict):
        raise UserError(f"{path}: lists no files; use another checkpoint")
    return dict(record)


def _files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())
