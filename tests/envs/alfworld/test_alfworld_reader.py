import json
import tarfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.export import write_games
from trajevolve.envs.alfworld.pack import load_pack, write_pack
from trajevolve.envs.alfworld.reader import Library
from trajevolve.errors import UserError

GRAMMAR = '{"task": [{"rhs": "Your task is to: put a mug in desk."}]}'
GAME = {"pddl_domain": "(define)", "grammar": GRAMMAR, "pddl_problem": "(:init)(:goal)"}


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    write_games(root, 6, seed=5, difficulty="easy", split="valid_seen")
    return root


def ids(root: Path, split: str = "valid_seen") -> list[str]:
    return [task.id for task in Library(root).tasks(split)]


def test_folders_directly_or_below_a_json_folder(data: Path, tmp_path: Path) -> None:
    plain = ids(data)
    assert len(plain) == 6 and plain == sorted(plain)
    assert all(id_.startswith("valid_seen/") and id_.count("/") == 2 for id_ in plain)
    deeper = tmp_path / "cache" / "json_2.1.1"
    deeper.parent.mkdir()
    data.rename(deeper)
    assert ids(tmp_path / "cache") == plain


def test_archives_and_packs_hold_the_same_tasks(data: Path, tmp_path: Path) -> None:
    tasks = Library(data).tasks("valid_seen")
    plain, packed, small = tmp_path / "tar", tmp_path / "zst", tmp_path / "pack"
    for folder in (plain, packed, small):
        folder.mkdir()
    archive = plain / "valid_seen.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(data / "valid_seen", "valid_seen")
    (packed / "valid_seen.tar.zst").write_bytes(zstandard.compress(archive.read_bytes()))
    write_pack(tasks, small / "valid_seen.parquet")
    for folder in (plain, packed, small):
        found = Library(folder).tasks("valid_seen")
        assert found == tasks
        assert [t.payload.text() for t in found] == [t.payload.text() for t in tasks]
        library = Library(folder)
        assert library.task(tasks[3].id) == tasks[3]
        assert library.task(f"json_2.1.1/{tasks[3].id}/game.tw-pddl") == tasks[3]
        sampled = library.tasks("valid_seen", 3, seed=1)
        assert len(sampled) == 3 and sampled == library.tasks("valid_seen", 3, seed=1)


def test_a_game_by_folder_by_file_and_by_id(data: Path) -> None:
    task = Library(data).tasks("valid_seen")[2]
    library = Library(data)
    assert library.task(str(data / task.id)) == task
    assert library.task(str(data / task.id / "game.tw-pddl")) == task
    assert library.task(task.id) == task


def test_where_data_is_looked_for(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # data/ of the working directory, then the variable, then the argument.
    assert Library().root == Path("data")
    monkeypatch.setenv("ALFWORLD_DATA", str(data.parent))
    assert Library().root == data.parent
    assert Library(data).root == data
    monkeypatch.setenv("ALFWORLD_DATA", "/nowhere")
    with pytest.raises(UserError, match=r"/nowhere: no such data folder \(from \$ALFWORLD_DATA\)"):
        Library().tasks("train")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ('{"pddl_domain": "(def', "not readable as JSON .* cut off"),
        ("[1, 2]", "expected a JSON object"),
        ("{}", "field 'pddl_problem' is missing"),
        (json.dumps({"pddl_problem": "x", "grammar": "y"}), "field 'pddl_domain' is missing"),
        (json.dumps({**GAME, "solvable": False}), "marked unsolvable"),
        (json.dumps({**GAME, "grammar": "{}"}), "holds no task sentence"),
        (json.dumps(GAME), "unknown pddl_domain .* --backend engine"),
        (
            json.dumps({**GAME, "grammar": GRAMMAR + 'template :: "put {o} in/on {r}";'}),
            "release before 0.4 .* --backend engine",
        ),
    ],
)
def test_bad_game_files_are_named_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "game.tw-pddl"
    file.write_text(content)
    with pytest.raises(UserError, match=message) as caught:
        AlfworldEnvironment().task(str(file))
    assert str(file) in str(caught.value) and "\n" not in str(caught.value)


def change(file: Path, old: str, new: str) -> None:
    game = json.loads(file.read_text())
    assert old in game["pddl_problem"]
    game["pddl_problem"] = game["pddl_problem"].replace(old, new, 1)
    file.write_text(json.dumps(game))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(:goal", "(:aim", "has no \\(:goal"),
        (
            "(:goal\n             (and",
            "(:goal\n             (or",
            "none of the six published kinds",
        ),
        ("(openable", "(magic", "unknown predicate 'magic'"),
        ("(:init", "(:start", "lacks \\(:init"),
        ("(atLocation agent1", "(not (isOn x)) (atLocation agent1", "other than plain facts"),
    ],
)
def test_unknown_problems_are_refused_and_never_guessed(
    data: Path, old: str, new: str, message: str
) -> None:
    file = next((data / "valid_seen").glob("pick_heat*/*/game.tw-pddl"))
    change(file, old, new)
    env = AlfworldEnvironment()
    with pytest.raises(UserError, match=message):
        env.reset(env.task(str(file)))


def test_a_game_with_the_unknown_can_still_be_listed_for_the_engine(data: Path) -> None:
    file = next((data / "valid_seen").glob("pick_heat*/*/game.tw-pddl"))
    game = json.loads(file.read_text())
    game |= {"pddl_domain": "(define (domain other))", "grammar": GRAMMAR}
    file.write_text(json.dumps(game))
    task = Library(data, known=False).task(str(file))
    assert (task.text, task.type) == ("put a mug in desk", "pick_heat_then_place_in_recep")
    assert task.payload.texts.domain == "(define (domain other))"


def test_unsolvable_games_are_left_out_of_splits(data: Path) -> None:
    before = ids(data)
    file = data / before[0] / "game.tw-pddl"
    file.write_text(file.read_text().replace('"solvable": true', '"solvable": false'))
    assert ids(data) == before[1:]


def test_missing_things_say_where_they_were_looked_for(data: Path) -> None:
    with pytest.raises(UserError, match=r"split 'test': neither a folder test/ .* in .*data"):
        Library(data).tasks("test")
    with pytest.raises(UserError, match=r"task 'valid_seen/a/b': no such game .* in .*data"):
        Library(data).task("valid_seen/a/b")
    with pytest.raises(UserError, match="no such game"):
        Library(data).task("nothing")
    with pytest.raises(UserError, match="no such game"):
        Library(data).task("x" * 5000)
    with pytest.raises(UserError, match="no such game file or folder, and no data folder gone"):
        Library("gone").task("some/game.tw-pddl")


@pytest.mark.parametrize("name", ["train.tar", "train.tar.zst"])
def test_broken_archives(data: Path, name: str) -> None:
    (data / name).write_bytes(b"this is no archive" * 100)
    with pytest.raises(UserError, match=rf"{name}: not readable"):
        Library(data).tasks("train")


def test_cut_off_archives(data: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "whole.tar", "w") as tar:
        tar.add(data / "valid_seen", "train")
    whole = zstandard.compress((tmp_path / "whole.tar").read_bytes())
    (data / "train.tar.zst").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match=r"train.tar.zst: not readable"):
        Library(data).tasks("train")


def test_broken_packs(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "train.parquet"
    path.write_bytes(b"nothing")
    with pytest.raises(UserError, match="not readable as a task pack"):
        load_pack(path)
    pq.write_table(pa.table({"id": [1]}), path)
    with pytest.raises(UserError, match="not a task pack"):
        load_pack(path)
    write_pack(Library(data).tasks("valid_seen"), path)
    table = pq.read_table(path)
    head = json.loads(table.schema.metadata[b"trajevolve.pack"])
    for change_, message in (({"schema": 9}, "schema 9"), ({"domain": "x"}, "another ALFWorld")):
        meta = {"trajevolve.pack": json.dumps({**head, **change_})}
        pq.write_table(table.replace_schema_metadata(meta), path)
        with pytest.raises(UserError, match=message):
            load_pack(path)


@pytest.mark.slow
def test_the_published_training_games_as_a_pack(real_data: Path, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    # The folder itself also holds some games unpacked, which would come first.
    (tmp_path / "all" / "train.tar.zst").symlink_to(real_data / "train.tar.zst")
    tasks = Library(tmp_path / "all").tasks("train")
    assert len(tasks) == 3553
    write_pack(tasks, tmp_path / "train.parquet")
    assert (tmp_path / "train.parquet").stat().st_size < 30e6
    start = time.process_time()
    loaded = load_pack(tmp_path / "train.parquet")
    assert time.process_time() - start < 3
    assert loaded == tasks
    assert loaded[1234].payload.text() == tasks[1234].payload.text()
