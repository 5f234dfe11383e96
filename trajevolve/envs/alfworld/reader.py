"""Published games: where they lie and how a split is listed.

Layouts understood below the data folder, in this order: folders
``<split>/<task>/<trial>/game.tw-pddl``, directly or below a ``json_*`` folder (``json_2.1.1``); a
packed ``<split>.parquet`` (:mod:`trajevolve.envs.alfworld.pack`); archives ``<split>.tar`` and
``<split>.tar.zst`` of the same layout.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np

from trajevolve.envs.alfworld.gamefile import GAME_FILE, LARGEST_GAME, Texts, read_game
from trajevolve.envs.alfworld.games import task_of
from trajevolve.envs.alfworld.pack import load_pack
from trajevolve.envs.alfworld.problem import parse_goal
from trajevolve.envs.contract import Task
from trajevolve.errors import UserError
from trajevolve.seeds import derive_seed

MOST_UNPACKED = 64 << 20
"""Bytes of an archive from one member to the next; a few kilobytes can unpack to any size."""
LONGEST_NAME = 200

SPLITS = ("train", "valid_seen", "valid_unseen")


def read_task(data: bytes, where: str, id_: str, known: bool = True) -> Task:
    """Make a task of the bytes of one game file.

    Args:
        data: the file.
        where: its path, for errors.
        id_: id of the task.
        known: refuse what the simulator does not know. Otherwise the task carries domain and
            grammar, and its type is taken from its folder's name.

    Raises:
        UserError: as :func:`~trajevolve.envs.alfworld.gamefile.read_game`, or an unknown goal.
    """
    game = read_game(data, where, known)
    if known:
        type_ = parse_goal(game.problem, where).type
        return task_of(id_, type_, game.sentence, game.problem)
    folder = id_.split("/")[-2] if "/" in id_ else id_
    return task_of(id_, folder.partition("-")[0], game.sentence, game.problem, game.texts)


def sample(total: int, count: int | None, seed: int, split: str) -> list[int]:
    """Positions of a seeded sample of `count` out of `total`, ascending; all without a count."""
    if count is None or count >= total:
        return list(range(total))
    rng = np.random.default_rng(derive_seed("alfworld", "sample", split, seed))
    return sorted(int(i) for i in rng.choice(total, size=count, replace=False))


class Library:
    """The published games in one data folder. Nothing is touched before it is asked for.

    Args:
        data: the data folder; without it ``$ALFWORLD_DATA``, then ``data`` in the working
            directory.
        known: refuse games whose domain, grammar or goal the simulator does not know.
    """

    def __init__(self, data: str | Path | None = None, known: bool = True) -> None:
        self._given = data
        self._known = known
        self._archives: dict[Path, dict[str, Task]] = {}

    @property
    def root(self) -> Path:
        """The data folder.

        Raises:
            UserError: it does not exist.
        """
        root = self._place()
        if not root.is_dir():
            named = os.environ.get("ALFWORLD_DATA")
            fallback = "$ALFWORLD_DATA" if named else "the default"
            source = "--data or env.data" if self._given else fallback
            raise UserError(
                f"{root}: no such data folder (from {source}); download the games with "
                "'pip install alfworld && alfworld-download' and name the folder with --data or "
                "--set env.data=DIR, or use the built-in splits generated:train, "
                "generated:select, generated:eval"
            )
        return root

    def _place(self) -> Path:
        return Path(self._given or os.environ.get("ALFWORLD_DATA") or "data")

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> list[Task]:
        """List `split` in the order of its ids; with `count`, a seeded sample of that many.

        Games marked unsolvable are left out, as the benchmark's own loader does.

        Raises:
            UserError: no such split here, or a game that cannot be used.
        """
        try:
            folder = self._folder(split)
        except UserError as error:
            raise UserError(f"split {split!r}: {error}") from None
        if folder is not None:
            files = sorted(folder.glob(f"*/*/{GAME_FILE}"))
            chosen = [files[i] for i in sample(len(files), count, seed, split)]
            found = (self._task_in(path) for path in chosen)
            return [task for task in found if task is not None]
        packed = self._packed(split)
        if packed is not None:
            listed: Sequence[Task] = packed
        else:
            listed = list(self._archive(split).values())
        return [listed[i] for i in sample(len(listed), count, seed, split)]

    def task(self, ref: str) -> Task:
        """Find one game by the path of its folder or file, or by its id inside the data.

        Raises:
            UserError: not found, naming where it was looked for; or it cannot be used.
        """
        path = Path(ref)
        file = _game_file(path)
        if file is not None:
            id_ = "/".join(file.resolve().parts[-4:-1])
            return read_task(_bytes(file), str(file), id_, self._known)
        if not self._place().is_dir():
            raise UserError(
                f"task {ref!r}: no such game file or folder, and no data folder {self._place()} to "
                "look it up in; name one with --data, or give an id generated/…"
            )
        parts = [part for part in path.parts if part != GAME_FILE and not part.startswith("json_")]
        id_ = "/".join(parts[-3:])
        split = parts[-3] if len(parts) >= 3 else ""
        folder = self._folder(split) if split else None
        if folder is not None:
            file = _game_file(folder.parent / id_)
            if file is not None:
                return read_task(_bytes(file), str(file), id_, self._known)
        elif split and self._source(split) is not None:
            found = self._by_id(split).get(id_)
            if found is not None:
                return found
        raise UserError(
            f"task {ref!r}: no such game file or folder, and no such <split>/<task>/<trial> in "
            f"{self.root}"
        )

    def texts(self) -> Texts | None:
        """Domain and grammar of any published game in the data folder, None without one."""
        try:
            root = self.root
        except UserError:
            return None
        for split in SPLITS:
            folder = self._folder(split)
            file = next(folder.glob(f"*/*/{GAME_FILE}"), None) if folder is not None else None
            if file is not None:
                return read_game(_bytes(file), str(file)).texts
            for suffix in (".tar", ".tar.zst"):
                archive = root / f"{split}{suffix}"
                if archive.is_file():
                    for name, data in _members(archive):
                        return read_game(data, f"{archive}:{name}").texts
        return None

    def _folder(self, split: str) -> Path | None:
        """The folder that holds `split` unpacked; a split is a name, not a path."""
        root = self.root
        if not _is_name(split):
            return None
        bases = [root, *sorted((p for p in root.glob("json_*") if p.is_dir()), reverse=True)]
        for base in bases:
            if (base / split).is_dir():
                return base / split
        return None

    def _source(self, split: str) -> Path | None:
        """The pack or archive that holds `split`."""
        if not _is_name(split):
            return None
        for suffix in (".parquet", ".tar", ".tar.zst"):
            path = self.root / f"{split}{suffix}"
            if path.is_file():
                return path
        return None

    def _packed(self, split: str) -> list[Task] | None:
        path = self._source(split)
        return load_pack(path) if path is not None and path.suffix == ".parquet" else None

    def _by_id(self, split: str) -> dict[str, Task]:
        path = self._source(split)
        if path is not None and path.suffix == ".parquet":
            if path not in self._archives:
                self._archives[path] = {task.id: task for task in load_pack(path)}
            return self._archives[path]
        return self._archive(split)

    def _archive(self, split: str) -> dict[str, Task]:
        """Read a whole archive, once."""
        path = self._source(split)
        if path is None:
            raise UserError(
                f"split {split!r}: neither a folder {split}/ nor {split}.parquet, {split}.tar or "
                f"{split}.tar.zst in {self.root}; splits without data are generated:train, "
                "generated:select and generated:eval"
            )
        if path not in self._archives:
            found = {}
            for name, data in _members(path):
                id_ = "/".join(Path(name).parts[-4:-1])
                task = _usable(data, f"{path}:{name}", id_, self._known)
                if task is not None:
                    found[id_] = task
            self._archives[path] = dict(sorted(found.items()))
        return self._archives[path]

    def _task_in(self, file: Path) -> Task | None:
        return _usable(_bytes(file), str(file), "/".join(file.parts[-4:-1]), self._known)


def _is_name(split: str) -> bool:
    """Say whether `split` can be the name of a folder, and is no path."""
    if len(split.encode(errors="surrogatepass")) > LONGEST_NAME:
        return False
    return split not in ("", "..") and Path(split).name == split


def _game_file(path: Path) -> Path | None:
    """The game file that `path` is, or that lies in folder `path`."""
    try:
        if path.is_file():
            return path
        return path / GAME_FILE if (path / GAME_FILE).is_file() else None
    except OSError:
        # Whatever came in as a task may be too long for a path.
        return None


def _usable(data: bytes, where: str, id_: str, known: bool) -> Task | None:
    """Make a task, or None of a game marked unsolvable."""
    # The mark stands behind the long texts; looking for it first spares reading them twice.
    if b'"solvable": false' in data:
        return None
    return read_task(data, where, id_, known)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(LARGEST_GAME + 1)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the path") from None


class _Metered:
    """A stream that refuses to deliver more than MOST_UNPACKED bytes between two resets."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._delivered = 0

    def reset(self) -> None:
        """Start to count again."""
        self._delivered = 0

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes."""
        data = self._stream.read(size)
        self._delivered += len(data)
        if self._delivered > MOST_UNPACKED:
            raise tarfile.ReadError(f"a member unpacks to more than {MOST_UNPACKED} bytes")
        return data


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the game files in an archive, in its order.

    Nothing is written anywhere: members are read in memory, links and devices are passed over.
    """
    try:
        with _opened(archive) as stream:
            metered = _Metered(stream)
            with tarfile.open(fileobj=cast("IO[bytes]", metered), mode="r|") as tar:
                for member in tar:
                    metered.reset()
                    if member.isfile() and member.name.endswith(f"/{GAME_FILE}"):
                        yield member.name, _content(tar, member)
    except UserError:
        raise
    # tarfile lets through whatever reading a damaged header comes to, a ValueError of int() say.
    except Exception as error:
        raise UserError(
            f"{archive}: not readable as an archive of games ({error}); get the file again"
        ) from None


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    # A sparse member has any size in no bytes at all, so the size is looked at first.
    stream = tar.extractfile(member) if member.size <= LARGEST_GAME else None
    if stream is None:
        raise tarfile.ReadError(f"{member.name} has {member.size} bytes")
    return stream.read()


@contextmanager
def _opened(archive: Path) -> Iterator[IO[bytes]]:
    with archive.open("rb") as raw:
        if archive.suffix != ".zst":
            yield raw
            return
        try:
            import zstandard
        except ImportError:
            raise UserError(
                f"{archive}: reading .zst needs the package zstandard: pip install zstandard"
            ) from None
        try:
            yield cast("IO[bytes]", zstandard.ZstdDecompressor().stream_reader(raw))
        except zstandard.ZstdError as error:
            raise UserError(
                f"{archive}: not readable as zstd ({error}); get the file again"
            ) from None
