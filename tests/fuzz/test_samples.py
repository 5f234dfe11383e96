"""Each kind of failure that fuzzing or reading found, as one sample of its own."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from fuzz.judging import judge, little_memory
from fuzz.targets import (
    apply_setting,
    check_exit,
    find_task,
    game_files,
    games,
    list_split,
    packs,
    parse_answer,
    play_task,
    read_configuration,
    read_game_file,
    read_pack,
    verify_lines,
)
from trajevolve.errors import LONGEST, UserError, one_line

DEEP = 100_000
READ = Callable[[bytes, Path], object]


def game(**changes: Any) -> bytes:
    """A game with other fields, padded to be played."""
    content = json.loads(game_files(Path())[0]) | changes
    text = json.dumps(content)
    return (text if len(text) % 2 else text + " ").encode()


def facts(*lines: str) -> bytes:
    """A game with more facts."""
    problem = json.loads(game_files(Path())[0])["pddl_problem"]
    return game(pddl_problem=problem.replace("(:init", "(:init " + " ".join(lines), 1))


def lonely(task: str) -> bytes:
    return json.dumps({"task": task, "actions": []}).encode()


def nested_row(depth: int) -> bytes:
    """A row with a value that deep."""
    task = games()[0][0].id
    return b'{"task": "%s", "actions": [], "x": %s}' % (
        task.encode(),
        b"[" * depth + b"]" * depth,
    )


def lines(levels: int) -> bytes:
    """Nine lists of nine of the list before, and so on: the billion laughs."""
    text = "a0: &a0 [x]\n"
    for level in range(1, levels):
        text += f"a{level}: &a{level} [" + ", ".join([f"*a{level - 1}"] * 9) + "]\n"
    return (text + f"env: {{data: *a{levels - 1}}}\n").encode()


def merges(levels: int) -> bytes:
    """The same with merged keys, which PyYAML copies one by one."""
    text = "a0: &a0 {x: 1}\n"
    for level in range(1, levels):
        text += f"a{level}: &a{level} {{<<: [" + ", ".join([f"*a{level - 1}"] * 9) + "]}\n"
    return text.encode()


REFUSED: dict[str, tuple[READ, Callable[[], bytes], str]] = {
    "game: JSON without end": (read_game_file, lambda: b"[" * (DEEP + 1), "nested too deeply"),
    "game: half a character": (read_game_file, lambda: game(task="\ud800"), "half a character"),
    "game: no arguments enough": (
        read_game_file,
        lambda: facts("(inReceptacle mug_bar_1)"),
        "expected 2",
    ),
    "game: too many arguments": (
        read_game_file,
        lambda: facts("(openable a_bar_1 b_bar_1)"),
        "expected 1",
    ),
    "game: larger than a palace": (
        read_game_file,
        lambda: facts(*(f"(pickupable mug_bar_{i})" for i in range(10_001))),
        "at most",
    ),
    "game: larger than any file": (
        read_game_file,
        lambda: game(walkthrough=["x" * (17 << 20)]),
        "larger than",
    ),
    "task: a split no folder can have": (
        find_task,
        lambda: b"x" * 5000 + b"/task/trial",
        "no such",
    ),
    "task: a seed of 5,000 digits": (
        find_task,
        lambda: b"generated/free/easy/" + b"9" * 5000 + b"/0-pick_and_place_simple",
        "no such",
    ),
    "task: a difficulty of 5,000 digits": (
        find_task,
        lambda: b"generated/free/1-" + b"9" * 5000 + b",2-3/0/0-pick_and_place_simple",
        "difficulty",
    ),
    "configuration: nested without end": (
        read_configuration,
        lambda: b"[" * 1000,
        "nested too deeply",
    ),
    "configuration: more than anybody writes": (
        read_configuration,
        lambda: b"#" * 100_000,
        "larger than",
    ),
    "configuration: billion laughs": (read_configuration, lambda: lines(20), "env.data"),
    "configuration: merged laughs": (read_configuration, lambda: merges(20), "unknown key"),
    "setting: laughs as a value": (
        apply_setting,
        lambda: b"env.data=[&a [x], &b [*a, *a], [*b, *b]]",
        "env.data",
    ),
    "setting: a 13th month": (apply_setting, lambda: b"seed=2001-13-01", "not valid YAML"),
    "setting: a tag that does not fit": (apply_setting, lambda: b"seed=!!int ''", "not valid YAML"),
    "setting: !!timestamp x": (apply_setting, lambda: b"seed=!!timestamp x", "not valid YAML"),
    "setting: an object": (
        apply_setting,
        lambda: b"seed=!!python/object/apply:os.getcwd []",
        "not valid YAML",
    ),
    "setting: a number of 5,000 digits": (
        apply_setting,
        lambda: b"seed=0x" + b"f" * 5000,
        "more than 64 bits",
    ),
    "setting: a list for a preset": (apply_setting, lambda: b"preset=[1]", "preset"),
    "setting: not finite": (apply_setting, lambda: b"learner.lr=.inf", "learner.lr"),
}


@pytest.mark.parametrize("setting", ["env.name", "model.name"])
def test_a_model_that_no_file_can_be_called(setting: str) -> None:
    arguments = ["estimate", "--set", "model.device=cpu", "--set", f"{setting}={'x' * 400}"]
    check_exit(arguments, b"", allowed=(2,))


@pytest.mark.parametrize("kind", REFUSED)
def test_is_refused(kind: str, tmp_path: Path) -> None:
    read, make, said = REFUSED[kind]
    data = make()
    (tmp_path / "mine.yaml").write_bytes(data)
    with little_memory():
        assert judge(lambda: read(data, tmp_path)) == "refused"
    with pytest.raises(UserError, match=said):
        read(data, tmp_path)


TAKEN: dict[str, tuple[READ, Callable[[], bytes]]] = {
    "answer: one tag without end": (parse_answer, lambda: b"<action>" * 200_000),
    "answer: both tags without end": (parse_answer, lambda: b"<think></thin><action>" * 100_000),
    "rows: deep, but readable": (verify_lines, lambda: nested_row(500)),
    "rows: NaN": (verify_lines, lambda: lonely(games()[0][0].id)[:-1] + b', "x": NaN}'),
    "rows: too large a number": (
        verify_lines,
        lambda: lonely(games()[0][0].id)[:-1] + b', "x": 1e999}',
    ),
    "rows: a name no file can have": (verify_lines, lambda: lonely("x" * 5000 + "/a/b")),
    "rows: half a character": (verify_lines, lambda: lonely("\ud800/a/b")),
    "game: holds something from nowhere": (
        read_game_file,
        lambda: facts("(holds agent1 Mug_bar_9)"),
    ),
    "game: one name in two cases": (
        read_game_file,
        lambda: facts("(pickupable Zzz_bar_1)", "(pickupable zzz_bar_1)"),
    ),
}


@pytest.mark.parametrize("kind", TAKEN)
def test_is_taken(kind: str, tmp_path: Path) -> None:
    read, make = TAKEN[kind]
    data = make()
    with little_memory():
        assert judge(lambda: read(data, tmp_path)) == "done"


def changed_pack(folder: Path, **columns: Any) -> bytes:
    """A pack with other columns, or with another ``head``."""
    head = columns.pop("head", None)
    table = pq.read_table(pa.BufferReader(packs(folder)[0]))
    metadata = dict(table.schema.metadata)
    for name, values in columns.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(values))
    if head is not None:
        metadata[b"trajevolve.pack"] = head
    path = folder / "changed"
    pq.write_table(table.replace_schema_metadata(metadata), path)
    return path.read_bytes()


def head_of(folder: Path, **changes: Any) -> bytes:
    """The head of a pack with other values."""
    found = pq.read_schema(pa.BufferReader(packs(folder)[0])).metadata[b"trajevolve.pack"]
    return json.dumps({**json.loads(found), **changes}).encode()


def claiming(size: int) -> bytes:
    """A zstd frame whose header claims that much content."""
    return b"\x28\xb5\x2f\xfd\xc0\x00" + size.to_bytes(8, "little") + b"\x01\x00\x00"


BAD_PACKS: dict[str, Callable[[Path], bytes]] = {
    "head cut": lambda f: changed_pack(f, head=head_of(f)[:-9]),
    "head without end": lambda f: changed_pack(f, head=b"[" * DEEP),
    "head of another kind": lambda f: changed_pack(f, head=b"[1, 2]"),
    "no dictionary": lambda f: changed_pack(f, head=head_of(f, dictionary=None)),
    "no base64": lambda f: changed_pack(f, head=head_of(f, dictionary="!")),
    "another version": lambda f: changed_pack(f, head=head_of(f, schema=2, dictionary=None)),
    "a gap": lambda f: changed_pack(f, text=["a", None]),
    "numbers for texts": lambda f: changed_pack(f, id=[1, 2]),
}


@pytest.mark.parametrize("kind", BAD_PACKS)
def test_a_damaged_pack(kind: str, tmp_path: Path) -> None:
    data = BAD_PACKS[kind](tmp_path)
    (tmp_path / "pack.parquet").write_bytes(data)
    assert judge(lambda: read_pack(data, tmp_path), "pack.parquet") == "refused"


@pytest.mark.parametrize(
    "problem",
    [b"no frame", claiming(1 << 40), claiming((1 << 64) - 1)],
    ids=["no frame", "a terabyte", "all there is"],
)
def test_a_damaged_problem_in_a_pack(problem: bytes, tmp_path: Path) -> None:
    from trajevolve.envs.alfworld.pack import load_pack

    path = tmp_path / "pack.parquet"
    path.write_bytes(changed_pack(tmp_path, problem=[problem] * 2, digest=["x", "y"]))
    with little_memory():
        assert judge(lambda: play_task(load_pack(path)[0]), "pack.parquet") == "refused"


def tar_of(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def sparse() -> bytes:
    """A member of a terabyte of holes, in half a kilobyte."""
    member = tarfile.TarInfo("train/task/trial/game.tw-pddl")
    member.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.map": "0,0",
        "GNU.sparse.size": str(1 << 40),
    }
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(member)
    return stream.getvalue()


def bad_sparse() -> bytes:
    """A map of holes that is no numbers; tarfile answers with a ValueError."""
    return sparse().replace(b"GNU.sparse.map=0,0", b"GNU.sparse.map=a,b")


def zeros(header: tarfile.TarInfo, size: int) -> bytes:
    """A compressed archive of one member that is nothing but zeros."""
    header.size = size
    compressor = zstandard.ZstdCompressor().compressobj()
    block = bytes(1 << 20)
    parts = [compressor.compress(header.tobuf(tarfile.GNU_FORMAT))]
    parts += [compressor.compress(block) for _ in range(size >> 20)]
    return b"".join([*parts, compressor.flush()])


def game_of_zeros() -> bytes:
    return zeros(tarfile.TarInfo("train/task/trial/game.tw-pddl"), 70 << 20)


def name_of_zeros() -> bytes:
    header = tarfile.TarInfo("././@LongLink")
    header.type = tarfile.GNUTYPE_LONGNAME
    return zeros(header, 70 << 20)


def other_of_zeros() -> bytes:
    return zeros(tarfile.TarInfo("train/task/trial/picture.png"), 70 << 20)


BOMBS = {
    "holes.tar": sparse,
    "numbers.tar": bad_sparse,
    "game.tar.zst": game_of_zeros,
    "name.tar.zst": name_of_zeros,
    "other.tar.zst": other_of_zeros,
}


@pytest.mark.parametrize("kind", BOMBS)
def test_an_archive_that_unpacks_to_anything_is_refused(kind: str, tmp_path: Path) -> None:
    data = BOMBS[kind]()
    assert len(data) < 1 << 20
    name = f"train.{kind.partition('.')[2]}"
    (tmp_path / name).write_bytes(data)
    with little_memory(allowed=400 << 20):
        assert judge(lambda: list_split(data, tmp_path), name) == "refused"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n  b\tc ", "a b c"),
        ("\x1b[2J\x00", "\\x1b[2J\\x00"),
        ("\u202eabc", "\\u202eabc"),
        ("\ud800", "\\ud800"),
        ("Zoë 猫", "Zoë 猫"),
    ],
)
def test_a_refusal_is_one_printable_line(text: str, line: str) -> None:
    assert one_line(text) == str(UserError(text)) == line


def test_a_long_refusal_keeps_both_ends() -> None:
    line = one_line("head " + "\x1b" * 5000 + " tail")
    assert len(line) == LONGEST
    assert line.startswith("head ")
    assert line.endswith(" tail")
    assert "[...]" in line
