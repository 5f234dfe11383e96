"""Where results go: one rule for every option that names a new file or folder.

A command makes at most one folder on the way to what it writes. More than one that is missing is
taken for a slip of the pen, and said before any work is done.
"""

from __future__ import annotations

import os
from pathlib import Path


def new_file(option: str, path: Path) -> None:
    """Make sure that a file can be written at `path`; its folder is made where it is missing.

    Args:
        option: that names it, for the message.
        path: the file.

    Raises:
        UserError: the folder above that folder does not exist, or nothing can be written there.
    """
    from trajevolve.files import check_writable

    _check_above(option, path, path.parent)
    check_writable(path)


def new_folder(option: str, path: Path, *, empty: bool = False) -> None:
    """Make sure that `path` is a folder, or can become one; nothing is made yet.

    Args:
        option: that names it, for the message.
        path: the folder.
        empty: one that holds anything is refused.

    Raises:
        UserError: it is a file, the folder above it does not exist, or it is not `empty`.
    """
    from trajevolve.errors import UserError

    if os.path.lexists(path) and not path.is_dir():
        raise UserError(f"{option} {path}: is a file; give a folder")
    if empty and path.is_dir() and any(path.iterdir()):
        raise UserError(f"{option} {path}: exists already; give a new or empty folder")
    _check_above(option, path, path)


def _check_above(option: str, path: Path, folder: Path) -> None:
    from trajevolve.errors import UserError

    # Unlike Path.exists these are False, not an error, for a name that nothing can have.
    above = folder.absolute().parent
    if os.path.exists(folder) or os.path.exists(above):
        return
    raise UserError(f"{option} {path}: there is no folder {above}; make it first: mkdir -p {above}")
