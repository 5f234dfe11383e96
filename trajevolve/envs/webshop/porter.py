"""The Porter stemmer, as Lucene's ``PorterStemFilter`` applies it.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the two departures
that Lucene took over from Porter's own program: ``bli → ble`` (the paper: ``abli → able``) and
``logi → log``, and with words of one or two letters left alone.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

VOWELS = frozenset("aeiou")

# Each list is searched for the longest suffix first; the first that fits decides.
STEP_2 = (
    ("ational", "ate"),
    ("ization", "ize"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("entli", "ent"),
    ("ousli", "ous"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("alli", "al"),
    ("ator", "ate"),
    ("logi", "log"),
    ("bli", "ble"),
    ("eli", "e"),
)
STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
)
STEP_4 = tuple(
    (suffix, "")
    for suffix in (
        *("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate"),
        *("iti", "ous", "ive", "ize", "al", "er", "ic", "ou"),
    )
)


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Return the stem of a lower-case `word`."""
    if len(word) <= 2:
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, STEP_2, 0)
    word = _replace(word, STEP_3, 0)
    word = _replace(word, STEP_4, 1)
    return _tidy(word)


def _plural(word: str) -> str:
    """Step 1a."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    """Step 1b."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    base = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else word
    if base == word or not _has_vowel(base):
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _doubled(base):
        return base if base[-1] in "lsz" else base[:-1]
    return base + "e" if _measure(base) == 1 and _short(base) else base


def _replace(word: str, suffixes: tuple[tuple[str, str], ...], least: int) -> str:
    """Steps 2, 3 and 4: replace the suffix that fits where more than `least` syllables stay."""
    for suffix, replacement in suffixes:
        if word.endswith(suffix):
            base = word[: len(word) - len(suffix)]
            if suffix == "ion" and not base.endswith(("s", "t")):
                return word
            return base + replacement if _measure(base) > least else word
    return word


def _tidy(word: str) -> str:
    """Step 5."""
    measure = _measure(word)
    if word.endswith("e") and (measure > 1 or (measure == 1 and not _short(word[:-1]))):
        word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure > 1 else word


def _consonants(word: str) -> list[bool]:
    """Say of each letter whether it is a consonant; y is one at the start and after a vowel."""
    flags: list[bool] = []
    for letter in word:
        after_vowel = not flags or not flags[-1]
        flags.append(after_vowel if letter == "y" else letter not in VOWELS)
    return flags


def _measure(word: str) -> int:
    """Return m of the form [C](VC){m}[V]."""
    flags = _consonants(word)
    return sum(not one and two for one, two in pairwise(flags))


def _has_vowel(word: str) -> bool:
    return not all(_consonants(word))


def _doubled(word: str) -> bool:
    """The word ends in the same consonant twice."""
    return len(word) > 1 and word[-1] == word[-2] and _consonants(word)[-1]


def _short(word: str) -> bool:
    """The word ends consonant, vowel, consonant, and the last is not w, x or y."""
    if len(word) < 3 or word[-1] in "wxy":
        return False
    return _consonants(word)[-3:] == [True, False, True]
