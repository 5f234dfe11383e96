"""Where input comes from: one rule for every option that names a file which has to be there."""

from __future__ import annotations

import os
from pathlib import Path


def present_file(option: str, path: Path, expected: str) -> None:
    """Make sure that there is something to read at `path`; a pipe of the shell will do.

    Args:
        option: that names it, for the message.
        path: the file.
        expected: what it should be, or what to give.

    Raises:
        UserError: there is nothing of that name, or it is a folder.
    """
    from trajevolve.errors import UserError

    # Unlike Path.exists this is False, not an error, for a name that nothing can have.
    if not os.path.exists(path):
        raise UserError(f"{option} {path}: no such file; {expected}")
    if os.path.isdir(path):
        raise UserError(f"{option} {path}: is a folder, not a file; {expected}")
