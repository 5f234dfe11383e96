"""What a wrong action may have meant, for evolution's format correction (paper §3.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trajevolve.envs.webshop.session import ALL_TABS, BACK, BUY, NEXT, PREV, Page, State

_VERB = re.compile(r"^\W*(?:search|find|click|query|look)\w*\b(?:\s+for\b)?", re.IGNORECASE)
_EDGES = " \t\r\n[](){}<>:;,.\"'`=*"
_BUTTONS = frozenset((BACK, NEXT, PREV, BUY, *ALL_TABS, "search"))


def corrections(action: str, state: State, candidates: Sequence[str]) -> Sequence[str]:
    """List the actions among which the nearest to `action` is looked for.

    Where things can be clicked these are the clicks. On the index page it is the search for the
    words of `action`: ``search red shoes`` and ``click[red shoes]`` become ``search[red shoes]``.
    An action that names a button means none of them there.
    """
    if state.page != Page.INDEX:
        return candidates
    text = " ".join(action.split())
    words = _VERB.sub("", text).strip(_EDGES).lower()
    if not words or words in {button.strip(_EDGES) for button in _BUTTONS}:
        return ()
    return (f"search[{words}]",)
