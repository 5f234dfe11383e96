"""The one exception that means "the user can fix this".

The command line prints its text as a single line and exits with status 2; everything else is a
defect of the program and keeps its traceback.
"""

from __future__ import annotations

import sys

LONGEST = 900
_CUT = " [...] "


class UserError(Exception):
    """A mistake in the input: the text says what, where, what was expected and what to do.

    Texts quote input, so whatever is in it, the text becomes what :func:`one_line` makes of it.
    """

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


def one_line(text: str) -> str:
    """Make one printable line of at most LONGEST characters of `text`.

    Blanks of any kind become one space, a long text loses its middle, and characters that a
    terminal might obey are escaped.
    """
    line = _shortened(" ".join(text.split()))
    if line.isprintable():
        return line
    return _shortened("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line))


def _shortened(line: str) -> str:
    if len(line) <= LONGEST:
        return line
    tail = LONGEST // 3
    return line[: LONGEST - tail - len(_CUT)] + _CUT + line[-tail:]


def say(line: str) -> None:
    """Write `line` on stderr in one piece, so that no other thread's comes in between."""
    sys.stderr.write(f"{line}\n")  # looked up now: bars take its place while they are drawn
    sys.stderr.flush()
