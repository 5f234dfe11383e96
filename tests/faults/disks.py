"""Disks that are small, read-only or limited, as far as this process is allowed to make them."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a file system in memory at `folder`; skip the test where that is not permitted."""
    folder.mkdir(parents=True, exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def make_read_only(folder: Path) -> None:
    """Have the file system at `folder` take no more writes."""
    _mount("-o", "remount,ro", str(folder))


def _mount(*arguments: str) -> None:
    try:
        subprocess.run(["mount", *arguments], check=True, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("needs the command mount")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"may not mount here: {error.stderr.strip()}")


def fill(folder: Path, but: int = 0) -> Path:
    """Fill the disk of `folder`, leave `but` bytes, and return the file that takes the room."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as stream:
        try:
            while stream.write(b"\0" * 4096):
                continue
        except OSError:
            stream.truncate(max(0, stream.tell() - but))
    return filler


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond `size` bytes: a full disk that needs no rights."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
