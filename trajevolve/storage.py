"""Trajectories in Parquet: one row a trajectory, its steps as a list of structs.

The columns are the fields of :mod:`trajevolve.trajectory` under the same names; ``docs/data.md``
describes them. A shard holds all that a stage produced, so that iterations are few large files.
The same trajectories give the same bytes (with the same pyarrow), which is what lets the ledger
compare a redone stage by its md5.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from trajevolve.envs.contract import Kind
from trajevolve.errors import UserError
from trajevolve.files import content_md5, write_atomically
from trajevolve.trajectory import Evolution, Step, Trajectory

SCHEMA_VERSION = "2"
VERSION_KEY = b"trajevolve.schema"

TOKENS = pa.list_(pa.int32())
POSITIONS = pa.list_(pa.int32())
LOGPROBS = pa.list_(pa.float64())

STEP = pa.struct(
    [
        pa.field("observation", pa.string(), nullable=False),
        pa.field("admissible", pa.list_(pa.string())),
        pa.field("response", pa.string(), nullable=False),
        pa.field("action", pa.string()),
        pa.field("valid", pa.bool_(), nullable=False),
        pa.field("kind", pa.string()),
        pa.field("reward", pa.float64(), nullable=False),
        pa.field("costs_step", pa.bool_(), nullable=False),
        pa.field("thought", pa.string(), nullable=False),
        pa.field("prompt_ids", TOKENS, nullable=False),
        pa.field("response_ids", TOKENS, nullable=False),
        pa.field("sampler_logprobs", LOGPROBS, nullable=False),
        pa.field("old_logprobs", LOGPROBS, nullable=False),
        pa.field("state_key", pa.string(), nullable=False),
        pa.field("label", pa.int8()),
        pa.field("dependents", POSITIONS, nullable=False),
        pa.field("predicted", pa.int8()),
        pa.field("probability", pa.float64()),
        pa.field("advantage", pa.float64(), nullable=False),
        pa.field("step_advantage", pa.float64(), nullable=False),
        pa.field("exploring", pa.bool_(), nullable=False),
        pa.field("truncated_tokens", pa.int32(), nullable=False),
    ]
)

EVOLUTION = pa.struct(
    [
        pa.field("parent_id", pa.string(), nullable=False),
        pa.field("strategy", pa.string(), nullable=False),
        pa.field("t_err", pa.int32()),
        pa.field("steps_before", pa.int32(), nullable=False),
        pa.field("reward_before", pa.float64(), nullable=False),
        pa.field("accepted", pa.bool_(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ]
)


def _steps(step: pa.StructType) -> pa.Field:
    elements = pa.list_(pa.field("element", step, nullable=False))
    return pa.field("steps", elements, nullable=False)


SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("task_id", pa.string(), nullable=False),
        pa.field("task_type", pa.string(), nullable=False),
        pa.field("task", pa.string(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        _steps(STEP),
        pa.field("success", pa.bool_(), nullable=False),
        pa.field("score", pa.float64(), nullable=False),
        pa.field("reward", pa.float64(), nullable=False),
        pa.field("layout", pa.string(), nullable=False),
        pa.field("termination", pa.string(), nullable=False),
        pa.field("final_observation", pa.string(), nullable=False),
        pa.field("rho", pa.float64(), nullable=False),
        pa.field("shaped_reward", pa.float64(), nullable=False),
        pa.field("episode_advantage", pa.float64(), nullable=False),
        pa.field("verified", pa.bool_(), nullable=False),
        pa.field("minimal", POSITIONS, nullable=False),
        pa.field("transitions", pa.int64(), nullable=False),
        pa.field("evolution", EVOLUTION),
    ],
    metadata={VERSION_KEY: SCHEMA_VERSION.encode()},
)
NOT_IN_1 = ("exploring", "truncated_tokens")
STEP_1 = pa.struct([field for field in STEP if field.name not in NOT_IN_1])
SCHEMAS = {
    SCHEMA_VERSION: SCHEMA,
    "1": SCHEMA.set(SCHEMA.get_field_index("steps"), _steps(STEP_1)).with_metadata(
        {VERSION_KEY: b"1"}
    ),
}


@dataclass(frozen=True)
class Shard:
    """Reference to a written file: what tasks pass around instead of trajectories."""

    path: Path
    md5: str
    rows: int


def write_shard(path: Path, trajectories: Sequence[Trajectory]) -> Shard:
    """Write `trajectories` in order, atomically, and return the reference."""
    table = pa.Table.from_pylist([_row(trajectory) for trajectory in trajectories], schema=SCHEMA)
    write_atomically(
        path,
        lambda partial: pq.write_table(
            table, partial, compression="zstd", write_page_checksum=True
        ),
    )
    return Shard(path, content_md5(path), len(trajectories))


def read_shard(path: Path) -> list[Trajectory]:
    """Read back exactly what :func:`write_shard` was given.

    Raises:
        UserError: the file is missing, damaged, of another schema version or no shard at all.
    """
    with _readable(path):
        return [_trajectory(row) for row in _read_table(path).to_pylist()]


def _read_table(path: Path) -> pa.Table:
    metadata = pq.read_schema(path).metadata or {}
    version = metadata.get(VERSION_KEY, b"").decode()
    schema = SCHEMAS.get(version)
    if schema is None:
        raise UserError(
            f"{path}: schema version {version or 'none'}, this program reads "
            f"{' and '.join(sorted(SCHEMAS))}; use the release that wrote the file"
        )
    return pq.read_table(path, schema=schema, partitioning=None, page_checksum_verification=True)


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn whatever reading a damaged file comes to into one UserError."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{path}: no such shard; `dvc checkout` restores a versioned one") from None
    # ValueError: bytes that are no text, an unknown kind; TypeError: a record with other fields.
    except (OSError, pa.ArrowException, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise UserError(
            f"{path}: not a readable Parquet shard ({reason}); delete it and run again, "
            "or restore it with `dvc checkout`"
        ) from None


def _row(record: Step | Trajectory | Evolution) -> dict[str, Any]:
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: Any) -> Any:
    if isinstance(value, Step | Evolution):
        return _row(value)
    if isinstance(value, tuple) and value and isinstance(value[0], Step):
        return [_row(step) for step in value]
    return str(value) if isinstance(value, Kind) else value


def _trajectory(row: dict[str, Any]) -> Trajectory:
    steps = tuple(_step(step) for step in row.pop("steps"))
    evolution = row.pop("evolution")
    return Trajectory(
        **_frozen(row.items()),
        steps=steps,
        evolution=None if evolution is None else Evolution(**evolution),
    )


def _step(row: dict[str, Any]) -> Step:
    kind = row.pop("kind")
    return Step(**_frozen(row.items()), kind=None if kind is None else Kind(kind))


Value = TypeVar("Value")


def _frozen(items: Iterable[tuple[str, Value]]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in items}
