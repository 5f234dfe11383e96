"""Games to compare on: published ones and generated ones of all six types, as files."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import zstandard

from trajevolve.envs.alfworld.domain import TASK_TYPES
from trajevolve.envs.alfworld.export import write_games
from trajevolve.envs.alfworld.gamefile import GAME_FILE
from trajevolve.errors import UserError
from trajevolve.seeds import derive_seed

Origin = Literal["published", "generated"]
DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True)
class GameOnDisk:
    """One game file.

    Attributes:
        path: the ``game.tw-pddl``.
        origin: where it comes from.
        type: one of the six task types.
    """

    path: Path
    origin: Origin
    type: str

    @property
    def name(self) -> str:
        """``<split>/<task>/<trial>``, the same on every machine."""
        return "/".join(self.path.parts[-4:-1])


def sample_games(count: int, seed: int, data: Path, out: Path) -> list[GameOnDisk]:
    """Draw `count` games: types in turn, six published ones, six generated ones and so on.

    The generated rounds are easy, medium and hard in turn.

    Args:
        count: how many.
        seed: of the draw and of the generated games.
        data: folder of the published games, unpacked or in archives ``*.tar.zst``.
        out: folder that the games are written to.

    Raises:
        UserError: `data` holds too few published games of some type.
    """
    kinds = [TASK_TYPES[i % len(TASK_TYPES)] for i in range(count)]
    rounds = [i // len(TASK_TYPES) for i in range(count)]
    published = _published(
        [kind for kind, number in zip(kinds, rounds, strict=True) if number % 2 == 0],
        seed,
        data,
        out / "published",
    )
    made: list[GameOnDisk] = []
    for number in sorted(set(rounds)):
        if number % 2:
            types = tuple(k for k, other in zip(kinds, rounds, strict=True) if other == number)
            difficulty = DIFFICULTIES[number // 2 % len(DIFFICULTIES)]
            written = write_games(
                out / f"generated-{number}",
                len(types),
                derive_seed("against engine", seed, number),
                difficulty,
                types,
                data=data,
            )
            made += [
                GameOnDisk(file, "generated", kind)
                for file, kind in zip(written.files, types, strict=True)
            ]
    ready: dict[Origin, Iterator[GameOnDisk]] = {
        "published": iter(published),
        "generated": iter(made),
    }
    return [next(ready["generated" if number % 2 else "published"]) for number in rounds]


def _published(types: Sequence[str], seed: int, data: Path, out: Path) -> list[GameOnDisk]:
    """Draw one published game for each entry of `types` and write it below `out`."""
    known: dict[str, list[str]] = {kind: [] for kind in TASK_TYPES}
    for name, _ in _files(data):
        kind = name.split("/")[1].partition("-")[0]
        if kind in known and name not in known[kind]:
            known[kind].append(name)
    left: dict[str, list[str]] = {}
    for kind, names in known.items():
        if len(names) < types.count(kind):
            raise UserError(
                f"{data}: {len(names)} published games of type {kind}, {types.count(kind)} wanted; "
                "name the folder of the published games with --data, or ask for fewer"
            )
        rng = np.random.default_rng(derive_seed("against engine", seed, kind))
        order = rng.permutation(len(names))
        left[kind] = [sorted(names)[int(i)] for i in order]
    chosen = [left[kind].pop() for kind in types]
    wanted = set(chosen)
    for name, content in _files(data):
        if name in wanted:
            wanted.discard(name)
            file = out / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content())
    return [
        GameOnDisk(out / name, "published", kind) for name, kind in zip(chosen, types, strict=True)
    ]


def _files(data: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Names ``<split>/<task>/<trial>/game.tw-pddl`` below `data`, and how to read each now."""
    for file in sorted(data.rglob(GAME_FILE)):
        yield "/".join(file.parts[-4:]), file.read_bytes
    for archive in sorted(data.glob("*.tar.zst")):
        with (
            archive.open("rb") as raw,
            zstandard.ZstdDecompressor().stream_reader(raw) as stream,
            tarfile.open(fileobj=stream, mode="r|") as tar,
        ):
            for member in tar:
                content = tar.extractfile(member) if member.name.endswith(GAME_FILE) else None
                if content is not None:
                    yield "/".join(Path(member.name).parts[-4:]), content.read
