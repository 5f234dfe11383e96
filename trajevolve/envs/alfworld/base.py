"""What both ALFWorld backends share: tasks, splits, kinds of commands, the old verb."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from trajevolve.envs.alfworld.generator import PANEL, generate_games, panel, regenerate
from trajevolve.envs.alfworld.reader import Library, sample
from trajevolve.envs.alfworld.rooms import difficulty_of
from trajevolve.envs.contract import Environment, Kind, Task
from trajevolve.errors import UserError

KINDS = {
    **dict.fromkeys(
        ("go", "open", "close", "take", "move", "heat", "clean", "cool", "use", "slice"),
        Kind.CHANGING,
    ),
    **dict.fromkeys(("look", "inventory", "examine", "help"), Kind.INFORMATION),
}
GENERATED_TRAIN = 1000
"""Games of ``generated:train`` when no count is asked for; any number can be."""

_PUT = re.compile(r"put (\S+ \S+) (?:in/on|in|on) (\S+ \S+)")


class AlfworldGames(Environment):
    """Tasks and vocabulary of ALFWorld, without anything that plays them.

    Args:
        data: the data folder; without it ``$ALFWORLD_DATA``, then ``data`` in the working
            directory. Looked at only when a real game is asked for.
        difficulty: of generated games: easy, medium (= default), hard, or ranges ``8-12,10-20``
            of receptacles and objects.
        known: refuse games whose domain, grammar or goal the simulator does not know.
    """

    def __init__(self, data: str | Path | None, difficulty: str, known: bool) -> None:
        self._library = Library(data, known)
        self._difficulty = difficulty_of(difficulty)

    def task(self, ref: str) -> Task:
        """Find a task: a generated id, a game folder or file, or a path inside the data."""
        made = regenerate(ref)
        return made[0] if made is not None else self._library.task(ref)

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        """List a split; ``generated:train`` draws `count` games from `seed`, others are sampled."""
        source, _, stream = split.partition(":")
        if source != "generated":
            return self._library.tasks(split, count, seed)
        if stream == "train":
            count = GENERATED_TRAIN if count is None else count
            return generate_games(count, seed, self._difficulty, stream="train")
        if stream not in PANEL:
            raise UserError(
                f"split {split!r}: expected generated:train, generated:select or generated:eval"
            )
        games = panel(stream, self._difficulty)
        return [games[i] for i in sample(len(games), count, seed, split)]

    def kind(self, action: str) -> Kind:
        """Look, inventory, examine and help only query; everything else may change the state."""
        return KINDS.get(action.strip().partition(" ")[0], Kind.CHANGING)

    def canonical(self, action: str) -> str:
        """Collapse blanks; rewrite ``put O in/on R``, the verb before 0.4, to ``move O to R``."""
        action = " ".join(action.split())
        found = _PUT.fullmatch(action)
        return f"move {found.group(1)} to {found.group(2)}" if found else action
