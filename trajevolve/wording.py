"""Words for people that depend on a number."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun: ``1 row``, ``2 rows``.

    Args:
        number: how many.
        one: the noun for one.
        many: for none and for several; by default `one` with an s.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
