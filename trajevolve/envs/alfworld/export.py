"""Write generated games in the published layout, for this package and for the real engine.

The domain and the grammar are not part of this package. They are taken from any published game in
the data folder, or from an installed ``alfworld``, whose copies are turned into the published
texts and accepted only if their hashes are right.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from trajevolve.envs.alfworld.domain import DOMAIN_HASH, GRAMMAR_HASH, TASK_MARK, sha256
from trajevolve.envs.alfworld.gamefile import GAME_FILE, Game, Texts, write_game
from trajevolve.envs.alfworld.generator import draw_games
from trajevolve.envs.alfworld.problem import Goal, parse_goal
from trajevolve.envs.alfworld.reader import Library
from trajevolve.envs.alfworld.texts import HELP
from trajevolve.errors import UserError


@dataclass(frozen=True)
class Written:
    """What :func:`write_games` did.

    Attributes:
        files: the game files.
        playable_by_engine: they hold the texts that the real engine needs.
        note: one line for the user, "" when there is nothing to add.
    """

    files: tuple[Path, ...]
    playable_by_engine: bool
    note: str


def write_games(
    out: Path,
    count: int,
    seed: int,
    difficulty: str = "default",
    types: tuple[str, ...] = (),
    split: str = "train",
    data: str | Path | None = None,
) -> Written:
    """Generate games and write them as ``<out>/<split>/<task>/<trial>/game.tw-pddl``.

    Beside each lies a ``traj_data.json`` with what ALFWorld's own loader reads of it.

    Args:
        out: folder to write to; made where missing.
        count: how many games.
        seed: seed of the games.
        difficulty: as for :func:`~trajevolve.envs.alfworld.generator.generate_games`.
        types: task types, taken in turn; all six without.
        split: name of the split folder.
        data: data folder to take domain and grammar from, see
            :class:`~trajevolve.envs.alfworld.reader.Library`.

    Raises:
        UserError: a bad difficulty or type, or `out` cannot be written.
    """
    texts = published_texts(data)
    files = []
    for index, (task, drawn) in enumerate(draw_games(count, seed, difficulty, types or None)):
        game = Game(task.text, drawn.problem, True, drawn.walkthrough, texts)
        goal = parse_goal(game.problem, task.id)
        folder = out / split / _task_folder(goal, index) / f"trial_generated_{task.digest[:12]}"
        files.append(folder / GAME_FILE)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            files[-1].write_text(write_game(game))
            (folder / "traj_data.json").write_text(json.dumps(_traj_data(goal, folder, index)))
        except OSError as error:
            raise UserError(f"{folder}: cannot be written ({error.strerror})") from None
    note = (
        ""
        if texts
        else (
            "no published domain and grammar found (no game in the data folder, alfworld not "
            "installed): the games name them by hash, so TrajEvolve plays them but the real engine "
            "does not"
        )
    )
    return Written(tuple(files), texts is not None, note)


def published_texts(data: str | Path | None = None) -> Texts | None:
    """Find the published domain and grammar: in the data folder, else in an installed alfworld."""
    for texts in (Library(data).texts(), _installed()):
        if texts is not None and _hashes(texts) == (DOMAIN_HASH, GRAMMAR_HASH):
            return texts
    return None


def _hashes(texts: Texts) -> tuple[str, str]:
    return sha256(texts.domain), sha256(texts.grammar)


def _installed() -> Texts | None:
    """Texts of the installed package, edited to what its published games hold."""
    spec = find_spec("alfworld")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations))) / "data"
    try:
        domain = (folder / "alfred.pddl").read_text()
        grammar = (folder / "alfred.twl2").read_text()
    except OSError:
        return None
    # The published games let a Sink clean too; their help text stands in the action itself.
    domain = domain.replace(";(receptacleType ?r SinkType)", "(receptacleType ?r SinkType)")
    domain = domain.replace("\n\n)\n", "\n)\n")
    head, _, _ = grammar.partition("action help {")
    grammar = f'{head}action help {{\n    template :: "help";\n    feedback :: "\n{HELP}";\n}}\n'
    grammar = grammar.replace("UNKNOWN GOAL", TASK_MARK)
    return Texts(domain, grammar)


def _task_folder(goal: Goal, index: int) -> str:
    """Published naming: type, object, movable receptacle, destination, room number."""
    target, place = goal.object.removesuffix("Type"), goal.place.removesuffix("Type")
    return f"{goal.type}-{target}-None-{place}-{9000 + index}"


def _traj_data(goal: Goal, folder: Path, index: int) -> dict[str, object]:
    lit = goal.type == "look_at_obj_in_light"
    place = goal.place.removesuffix("Type")
    return {
        "task_id": folder.name,
        "task_type": goal.type,
        "pddl_params": {
            "object_target": goal.object.removesuffix("Type"),
            "parent_target": "" if lit else place,
            "toggle_target": place if lit else "",
            "mrecep_target": "",
            "object_sliced": False,
        },
        "scene": {"floor_plan": f"Generated{index}", "scene_num": 9000 + index},
        "turk_annotations": {"anns": []},
        "plan": {"high_pddl": []},
    }
