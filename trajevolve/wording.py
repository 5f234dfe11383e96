"""Words for people that depend on a number or on what there is."""

import difflib
from collections.abc import Iterable


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun: ``1 row``, ``2 rows``.

    Args:
        number: how many.
        one: the noun for one.
        many: for none and for several; by default `one` with an s.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Ask for the known name that `given` resembles, with a blank behind; "" where none does."""
    close = difflib.get_close_matches(given, list(known), n=1)
    return f"did you mean {close[0]!r}? " if close else ""
