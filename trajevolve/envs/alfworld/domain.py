"""The one published ALFWorld domain: how it is recognised, what its tasks are called.

All published games share one PDDL domain and one grammar (the task sentence apart). The
simulator copies exactly these two, so a game with any other text is refused here instead of being
played wrongly.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from trajevolve.errors import UserError

DOMAIN_HASH = "0af55e7f92d12b09d28515aa730e4d03fddd17228ef1fd7b18a3ee8ba49b27b9"
"""SHA-256 of the published ``pddl_domain``."""

GRAMMAR_HASH = "69566a78fe7ec5a802f7bec50aca6a6790e0a4eedf5009ce9bb300920ec69944"
"""SHA-256 of the published ``grammar`` with the task sentence replaced by TASK_MARK."""

TASK_MARK = "{task}"

TASK_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)

SENTENCES: dict[str, tuple[str, str]] = {
    "pick_and_place_simple": ("put a {o} in {r}", "put some {o} on {r}"),
    "look_at_obj_in_light": ("look at {o} under the {r}", "examine the {o} with the {r}"),
    "pick_clean_then_place_in_recep": (
        "put a clean {o} in {r}",
        "clean some {o} and put it in {r}",
    ),
    "pick_heat_then_place_in_recep": ("put a hot {o} in {r}", "heat some {o} and put it in {r}"),
    "pick_cool_then_place_in_recep": ("put a cool {o} in {r}", "cool some {o} and put it in {r}"),
    "pick_two_obj_and_place": ("put two {o} in {r}", "find two {o} and put them in {r}"),
}
"""Task type -> its two sentences; {o} is the object's type, {r} the receptacle's or the lamp's."""

_TASK = re.compile(r'("task"\s*:\s*\[\s*\{\s*"rhs"\s*:\s*"Your task is to: )([^"\\]*?)\.?("\s*\})')
_OLD_PUT = re.compile(r'template\s*::\s*"put \{o\} in/on \{r\}"')

_SENTENCE_PATTERNS = tuple(
    (name, re.compile(re.escape(s).replace(r"\{o\}", r"(\w+)").replace(r"\{r\}", r"(\w+)")))
    for name in TASK_TYPES
    for s in reversed(SENTENCES[name])
)


@dataclass(frozen=True)
class Wish:
    """What a task sentence asks for, in the words of the texts.

    Attributes:
        type: task type.
        object: object type to bring or hold, ``mug``.
        place: receptacle type, or the lamp of look_at_obj_in_light.
    """

    type: str
    object: str
    place: str


def sha256(text: str) -> str:
    """Hex SHA-256 of `text` in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def split_grammar(grammar: str, where: str) -> tuple[str, str]:
    """Take the task sentence out of `grammar`.

    Returns:
        the grammar with :data:`TASK_MARK` in its place, and the sentence without
        ``Your task is to:`` and without its full stop.
    """
    found = _TASK.search(grammar)
    if found is None:
        raise UserError(f"{where}: field 'grammar' holds no task sentence; expected a game.tw-pddl")
    return grammar[: found.start(2)] + TASK_MARK + grammar[found.end(2) :], found.group(2)


def fill_grammar(grammar: str, sentence: str) -> str:
    """Put a task sentence into a grammar made by :func:`split_grammar`."""
    return grammar.replace(TASK_MARK, sentence, 1)


def speaks_put(grammar: str) -> bool:
    """Its verb is ``put O in/on R``, as before version 0.4, not ``move O to R``."""
    return _OLD_PUT.search(grammar) is not None


def check_known(domain_hash: str, grammar_hash: str, where: str, grammar: str = "") -> None:
    """Refuse games that the simulator was not written for.

    Raises:
        UserError: unknown domain or grammar; the old ``put`` grammar is named as such.
    """
    if grammar_hash != GRAMMAR_HASH and speaks_put(grammar):
        raise UserError(
            f"{where}: game of an ALFWorld release before 0.4 (its verb is 'put O in/on R', the "
            "simulator's 'move O to R'); run alfworld-download again or use --backend engine"
        )
    for name, found, known in (
        ("pddl_domain", domain_hash, DOMAIN_HASH),
        ("grammar", grammar_hash, GRAMMAR_HASH),
    ):
        if found != known:
            raise UserError(
                f"{where}: unknown {name} (sha256 {found[:12]}, the simulator knows {known[:12]}); "
                "use --backend engine to run it in TextWorld"
            )


def read_sentence(sentence: str) -> Wish | None:
    """Understand one of the twelve task sentences; None for any other."""
    sentence = sentence.strip().rstrip(".")
    for name, pattern in _SENTENCE_PATTERNS:
        found = pattern.fullmatch(sentence)
        if found:
            return Wish(name, found.group(1), found.group(2))
    return None
