"""Shards give back exactly what was written, or say by name what is wrong with the file."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajevolve.envs.contract import Kind
from trajevolve.errors import UserError
from trajevolve.files import content_md5
from trajevolve.storage import (
    EVOLUTION,
    SCHEMA,
    STEP,
    VERSION_KEY,
    read_shard,
    write_shard,
)
from trajevolve.trajectory import Evolution, Step, Trajectory

VERSION_1 = Path(__file__).parent / "shards" / "version_1.parquet"
STEP_WITH_EVERY_FIELD = Step(
    observation="You are in the middle of a room.\nLooking …",
    admissible=("go to shelf 1", "look"),
    response="<think>é</think><action>look</action>",
    action="look",
    valid=True,
    kind=Kind.INFORMATION,
    reward=0.25,
    costs_step=False,
    thought="é",
    prompt_ids=(1, 2, 50000),
    response_ids=(3, 4),
    sampler_logprobs=(-0.1, -1e-17),
    old_logprobs=(-0.1000000001, -2.5),
    state_key="ab12",
    label=1,
    dependents=(2, 5),
    predicted=0,
    probability=0.30000000000000004,
    advantage=-1.25,
    step_advantage=-0.5,
    exploring=True,
    truncated_tokens=312,
)
BARE_STEP = Step("o", None, "", None, False)
TRAJECTORY_WITH_EVERY_FIELD = Trajectory(
    id="0001/t3/2",
    task_id="valid_seen/a/b",
    task_type="pick_and_place_simple",
    task="put a mug in desk",
    seed=(1 << 63) - 1,
    steps=(STEP_WITH_EVERY_FIELD, BARE_STEP),
    success=True,
    score=0.75,
    reward=9.9,
    layout="window",
    termination="success",
    final_observation="done",
    rho=0.5,
    shaped_reward=9.4,
    episode_advantage=0.3,
    verified=True,
    minimal=(0, 3),
    transitions=12,
    evolution=Evolution("0001/t3/1", "rollback", 4, 30, -0.2, True, "equal to its parent"),
)
BARE_TRAJECTORY = Trajectory("i", "t", "", "x", 0, (), False, 0.0, 0.0)


def test_the_samples_above_set_every_field_to_something_else_than_its_default() -> None:
    pairs = ((STEP_WITH_EVERY_FIELD, BARE_STEP), (TRAJECTORY_WITH_EVERY_FIELD, BARE_TRAJECTORY))
    for full, bare in pairs:
        same = [f.name for f in fields(full) if getattr(full, f.name) == getattr(bare, f.name)]
        assert same == []


@pytest.mark.parametrize(
    ("record", "schema"), [(Step, STEP), (Evolution, EVOLUTION), (Trajectory, SCHEMA)]
)
def test_columns_are_the_fields_of_the_records(record: type, schema: pa.Schema) -> None:
    assert [field.name for field in schema] == [field.name for field in fields(record)]


def test_round_trip_of_every_field(tmp_path: Path) -> None:
    written = [TRAJECTORY_WITH_EVERY_FIELD, BARE_TRAJECTORY]
    shard = write_shard(tmp_path / "a" / "s.parquet", written)
    read = read_shard(shard.path)
    assert shard.rows == 2
    for before, after in zip(written, read, strict=True):
        for field in fields(Trajectory):
            value = getattr(after, field.name)
            assert value == getattr(before, field.name), field.name
            assert type(value) is type(getattr(before, field.name)), field.name
    assert isinstance(read[0].steps[0].kind, Kind)


finite = st.floats(allow_nan=False)
tokens = st.lists(st.integers(0, 2**31 - 1), max_size=4).map(tuple)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
steps = st.builds(
    Step,
    observation=text,
    admissible=st.none() | st.lists(text, max_size=3).map(tuple),
    response=text,
    action=st.none() | text,
    valid=st.booleans(),
    kind=st.none() | st.sampled_from(Kind),
    prompt_ids=tokens,
    response_ids=tokens,
    sampler_logprobs=st.lists(finite, max_size=3).map(tuple),
    label=st.sampled_from([None, 0, 1]),
    probability=st.none() | finite,
    advantage=finite,
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(steps, max_size=4).map(tuple), max_size=4))
def test_any_steps_come_back_and_the_bytes_repeat(
    tmp_path_factory: pytest.TempPathFactory, written: list[tuple[Step, ...]]
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    trajectories = [replace(BARE_TRAJECTORY, steps=sequence) for sequence in written]
    first = write_shard(folder / "a.parquet", trajectories)
    second = write_shard(folder / "b.parquet", trajectories)
    assert read_shard(first.path) == trajectories
    assert first.md5 == second.md5 == content_md5(second.path)


def test_infinite_and_missing_numbers_survive(tmp_path: Path) -> None:
    odd = replace(BARE_TRAJECTORY, reward=-math.inf, rho=math.nan)
    (read,) = read_shard(write_shard(tmp_path / "s", [odd]).path)
    assert read.reward == -math.inf
    assert math.isnan(read.rho)


def test_admissible_lists_that_repeat_cost_little(tmp_path: Path) -> None:
    actions = tuple(f"take object {i} from shelf {i % 7}" for i in range(40))
    step = replace(BARE_STEP, admissible=actions)
    many = [replace(BARE_TRAJECTORY, steps=(step,) * 30)] * 20
    shard = write_shard(tmp_path / "s", many)
    spelled_out = 20 * 30 * sum(len(action) for action in actions)
    assert shard.path.stat().st_size < spelled_out / 40


def test_a_failed_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "s", [BARE_TRAJECTORY])
    with pytest.raises((pa.ArrowException, TypeError)):
        write_shard(tmp_path / "s", [replace(BARE_TRAJECTORY, seed="seven")])  # type: ignore[arg-type]
    assert content_md5(tmp_path / "s") == shard.md5
    assert [file.name for file in tmp_path.iterdir()] == ["s"]


@pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "text", "folder", "flipped"])
def test_an_unreadable_shard_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "shard.parquet"
    write_shard(path, [TRAJECTORY_WITH_EVERY_FIELD] * 5)
    content = path.read_bytes()
    middle = len(content) // 4
    flipped = content[:middle] + bytes(255 - b for b in content[middle : middle + 200])
    if damage == "missing":
        path.unlink()
    elif damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(
            {
                "empty": b"",
                "truncated": content[:-40],
                "text": b"hello",
                "flipped": flipped + content[middle + 200 :],
            }[damage]
        )
    with pytest.raises(UserError, match=r"shard\.parquet: ") as caught:
        read_shard(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("column", "value"), [("termination", b"\xe3("), ("kind", b"sideways")])
def test_a_shard_of_others_that_holds_no_trajectories_is_named(
    tmp_path: Path, column: str, value: bytes
) -> None:
    path = tmp_path / "shard.parquet"
    write_shard(path, [TRAJECTORY_WITH_EVERY_FIELD])
    rows = pq.read_table(path).to_pylist()
    if column == "kind":
        rows[0]["steps"][0]["kind"] = value.decode()
        table = pa.Table.from_pylist(rows, schema=SCHEMA)
    else:
        # Arrow takes bytes for text unseen, as it does when it reads a file.
        text = pa.array([value]).view(pa.string())
        table = pa.Table.from_pylist(rows, schema=SCHEMA)
        table = table.set_column(SCHEMA.get_field_index(column), SCHEMA.field(column), text)
    pq.write_table(table, path)
    with pytest.raises(UserError, match=r"shard\.parquet: not a readable"):
        read_shard(path)


def test_a_shard_of_version_1_is_read_with_what_it_does_not_say_as_default() -> None:
    """The file was written, from the same two trajectories, when that was the version."""
    full = TRAJECTORY_WITH_EVERY_FIELD
    steps = tuple(replace(step, exploring=False, truncated_tokens=0) for step in full.steps)
    assert read_shard(VERSION_1) == [replace(full, steps=steps), BARE_TRAJECTORY]


@pytest.mark.parametrize("version", [b"3", None])
def test_another_version_is_refused_by_name(tmp_path: Path, version: bytes | None) -> None:
    metadata = {} if version is None else {VERSION_KEY: version}
    pq.write_table(SCHEMA.empty_table().replace_schema_metadata(metadata), tmp_path / "s")
    with pytest.raises(UserError, match=f"schema version {(version or b'none').decode()}"):
        read_shard(tmp_path / "s")
