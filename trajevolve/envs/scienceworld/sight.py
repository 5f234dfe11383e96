"""What the things in sight are called.

The simulator has a listing of its own that gives each thing another name, but it varies from call
to call where things are alike, which replay must not. Here names follow from what is in sight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

MOST_OBJECTS = 120
"""Things listed, to keep prompts within their budget."""
_BROKEN = "ERROR"


def names_in_sight(
    visible: Mapping[str, str], everything: Mapping[str, Mapping[str, Any]]
) -> tuple[str, ...]:
    """Name the things in sight, each as shortly as tells it from the others; sorted.

    Things that no name tells apart (soil in three pots) share the most telling one.

    Args:
        visible: ids in sight, with a name for each.
        everything: all things by id, with their ``referents``.
    """
    referents = {
        thing: [
            each for each in everything.get(thing, {}).get("referents", ()) if _BROKEN not in each
        ]
        or [name]
        for thing, name in visible.items()
    }
    uses = Counter(name for names in referents.values() for name in set(names))
    chosen = {_most_telling(names, uses) for names in referents.values()}
    return tuple(sorted(chosen)[:MOST_OBJECTS])


def _most_telling(names: Sequence[str], uses: Mapping[str, int]) -> str:
    return min(names, key=lambda name: (uses[name], len(name), name))
