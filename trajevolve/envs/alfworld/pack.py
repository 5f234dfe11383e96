"""Task packs: a whole split in one small Parquet file.

All published games share domain and grammar, so a pack keeps one row a game with only what differs:
id, type, sentence, digest and the problem, compressed against a dictionary of typical
problems. Problems stay compressed until a task is first reset.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from trajevolve.envs.alfworld.domain import DOMAIN_HASH, GRAMMAR_HASH
from trajevolve.envs.alfworld.gamefile import LARGEST_GAME
from trajevolve.envs.alfworld.games import ENV
from trajevolve.envs.contract import Task
from trajevolve.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa
    import zstandard

PACK_SCHEMA = 1
_COLUMNS = ("id", "type", "text", "digest", "problem")
_SAMPLES = 120
_DICTIONARY_BYTES = 400_000


@dataclass(frozen=True)
class _Dictionary:
    """A zstd dictionary shared by the problems of one pack, and the pack's path for errors."""

    data: bytes
    source: str

    @cached_property
    def decompressor(self) -> zstandard.ZstdDecompressor:
        import zstandard

        return zstandard.ZstdDecompressor(dict_data=zstandard.ZstdCompressionDict(self.data))

    def __reduce__(self) -> tuple[type[_Dictionary], tuple[bytes, str]]:
        return _Dictionary, (self.data, self.source)


@dataclass(frozen=True)
class PackedProblem:
    """Payload of a task from a pack."""

    data: bytes
    dictionary: _Dictionary
    texts: None = None

    def text(self) -> str:
        """The ``pddl_problem``.

        Raises:
            UserError: it is damaged, or claims to be larger than any game.
        """
        import zstandard

        try:
            # What the frame claims is allocated before anything is read.
            if not 0 <= zstandard.frame_content_size(self.data) <= LARGEST_GAME:
                raise UserError(f"{self.dictionary.source}: a problem in it has no sensible size")
            return self.dictionary.decompressor.decompress(self.data).decode()
        except (zstandard.ZstdError, UnicodeDecodeError) as error:
            raise UserError(
                f"{self.dictionary.source}: a problem in it is damaged ({error}); get it again"
            ) from None


def write_pack(tasks: Sequence[Task], path: Path) -> None:
    """Write `tasks` as one pack; equal tasks give equal problems, order is kept."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zstandard

    step = max(1, len(tasks) // _SAMPLES)
    samples = [task.payload.text().encode() for task in tasks[::step]]
    # A dictionary of whole typical problems: the newest bytes are the cheapest to refer to.
    dictionary = b"".join(samples)[-_DICTIONARY_BYTES:]
    compressor = zstandard.ZstdCompressor(
        level=12, dict_data=zstandard.ZstdCompressionDict(dictionary)
    )
    table = pa.table(
        {
            "id": [task.id for task in tasks],
            "type": [task.type for task in tasks],
            "text": [task.text for task in tasks],
            "digest": [task.digest for task in tasks],
            "problem": [compressor.compress(task.payload.text().encode()) for task in tasks],
        }
    ).replace_schema_metadata(
        {
            "trajevolve.pack": json.dumps(
                {
                    "schema": PACK_SCHEMA,
                    "env": ENV,
                    "domain": DOMAIN_HASH,
                    "grammar": GRAMMAR_HASH,
                    "dictionary": base64.b64encode(dictionary).decode(),
                }
            )
        }
    )
    pq.write_table(table, path, compression="zstd")


def load_pack(path: Path) -> list[Task]:
    """Read a pack.

    Raises:
        UserError: not a pack, of another version, or of another domain.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, partitioning=None)
        raw = (table.schema.metadata or {}).get(b"trajevolve.pack")
        if raw is None or not _fits(table):
            raise UserError(f"{path}: not a task pack of TrajEvolve; write one with write_pack")
        columns = [table.column(name).to_pylist() for name in _COLUMNS]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"{path}: not readable as a task pack ({error})") from None
    dictionary = _Dictionary(_read_head(raw, path), str(path))
    return [
        Task(id_, ENV, type_, text, digest, PackedProblem(problem, dictionary))
        for id_, type_, text, digest, problem in zip(*columns, strict=True)
    ]


def _fits(table: pa.Table) -> bool:
    """Say whether the columns of a pack are there, of their types and without gaps."""
    import pyarrow as pa

    types = {name: pa.string() for name in _COLUMNS} | {"problem": pa.binary()}
    return all(
        name in table.column_names
        and table.schema.field(name).type == type_
        and table.column(name).null_count == 0
        for name, type_ in types.items()
    )


def _read_head(raw: bytes, path: Path) -> bytes:
    """Check the metadata of a pack and return its dictionary."""
    damaged = UserError(f"{path}: the head of the task pack is damaged; pack again")
    try:
        head = dict(json.loads(raw))
    except (ValueError, TypeError, RecursionError):
        raise damaged from None
    if head.get("schema") != PACK_SCHEMA:
        raise UserError(
            f"{path}: task pack of schema {head.get('schema')}, expected {PACK_SCHEMA}; pack again"
        )
    if (head.get("domain"), head.get("grammar")) != (DOMAIN_HASH, GRAMMAR_HASH):
        raise UserError(f"{path}: task pack of another ALFWorld domain; pack the games again")
    try:
        return base64.b64decode(head["dictionary"], validate=True)
    except (ValueError, KeyError, TypeError):
        raise damaged from None
