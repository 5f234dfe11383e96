"""One ``game.tw-pddl``: JSON with the domain, the grammar, the problem and a walkthrough.

Games written where the published domain and grammar texts are not at hand carry their hashes
instead (fields ``pddl_domain_sha256``, ``grammar_sha256`` and ``task``). This package reads them;
the real engine needs the texts.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

from trajevolve.envs.alfworld.domain import (
    DOMAIN_HASH,
    GRAMMAR_HASH,
    check_known,
    fill_grammar,
    sha256,
    split_grammar,
)
from trajevolve.errors import UserError

GAME_FILE = "game.tw-pddl"
LARGEST_GAME = 16 << 20
"""Bytes; the largest published game has 0.13 MB."""


@dataclass(frozen=True)
class Texts:
    """The domain, and the grammar with a mark where the task sentence goes."""

    domain: str
    grammar: str


@dataclass(frozen=True)
class Game:
    """What one game file says.

    Attributes:
        sentence: the task, without ``Your task is to:`` and full stop.
        problem: the PDDL problem.
        solvable: as the file claims.
        walkthrough: commands that win.
        texts: domain and grammar; None when the file names them by hash.
    """

    sentence: str
    problem: str
    solvable: bool
    walkthrough: tuple[str, ...]
    texts: Texts | None


def read_game(data: bytes, where: str, known: bool = True) -> Game:
    """Parse the bytes of a game file.

    Args:
        data: the file.
        where: its path, for errors.
        known: refuse domains and grammars that the simulator does not know.

    Raises:
        UserError: empty, truncated, not a game, of an unknown domain, or marked unsolvable.
    """
    game = _json(data, where)
    problem = _text(game, "pddl_problem", where)
    if game.get("solvable") is False:
        raise UserError(f"{where}: marked unsolvable ('solvable': false); choose another game")
    texts = None
    if "grammar_sha256" in game and "grammar" not in game:
        sentence = _text(game, "task", where)
        hashes = (str(game.get("pddl_domain_sha256")), str(game["grammar_sha256"]))
        check_known(*hashes, where)
    else:
        domain, grammar = _text(game, "pddl_domain", where), _text(game, "grammar", where)
        bare, sentence = split_grammar(grammar, where)
        # Thousands of games share these texts: keep one copy.
        texts = Texts(sys.intern(domain), sys.intern(bare))
        if known:
            check_known(sha256(domain), sha256(bare), where, grammar)
    steps = game.get("walkthrough")
    return Game(
        sentence=sentence,
        problem=problem,
        solvable=True,
        walkthrough=tuple(str(step) for step in steps) if isinstance(steps, list) else (),
        texts=texts,
    )


def write_game(game: Game) -> str:
    """The JSON text of a game file; the inverse of :func:`read_game`."""
    fields: dict[str, Any] = {}
    if game.texts is not None:
        fields["pddl_domain"] = game.texts.domain
        fields["grammar"] = fill_grammar(game.texts.grammar, game.sentence)
    else:
        fields["pddl_domain_sha256"] = DOMAIN_HASH
        fields["grammar_sha256"] = GRAMMAR_HASH
        fields["task"] = game.sentence
    fields["pddl_problem"] = game.problem
    fields["solvable"] = game.solvable
    fields["walkthrough"] = list(game.walkthrough)
    return json.dumps(fields)


def _json(data: bytes, where: str) -> dict[str, Any]:
    if len(data) > LARGEST_GAME:
        raise UserError(f"{where}: larger than {LARGEST_GAME} bytes; expected one {GAME_FILE}")
    if not data.strip():
        raise UserError(f"{where}: the file is empty; expected a {GAME_FILE} (JSON)")
    try:
        game = json.loads(data)
    except RecursionError:
        raise UserError(f"{where}: JSON nested too deeply; expected a {GAME_FILE}") from None
    except ValueError as error:
        raise UserError(
            f"{where}: not readable as JSON ({error}); it may be cut off, get the file again"
        ) from None
    if not isinstance(game, dict):
        raise UserError(f"{where}: expected a JSON object with the fields of a {GAME_FILE}")
    return game


def _text(game: dict[str, Any], field: str, where: str) -> str:
    value = game.get(field)
    if not isinstance(value, str) or not value:
        raise UserError(f"{where}: field {field!r} is missing; expected a {GAME_FILE} of ALFWorld")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UserError(
            f"{where}: field {field!r} holds half a character (a lone surrogate); get it again"
        ) from None
    return value
