"""Input that cannot be used: one line that names the culprit, exit status 2, no traceback.

No permissions are taken away to make something unreadable, since the superuser, who runs tests in
containers, may read everything.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trajevolve.cli.main import main
from trajevolve.models.loading import BUILTIN

POLICY = BUILTIN / "alfworld" / "policy"
GENERATED = "generated:eval"
Fail = Callable[..., str]


@pytest.fixture
def fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Fail:
    """Run a command in an empty folder, hold its failure against the rules, return its line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)

    def run(*arguments: object) -> str:
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        # Progress may come before the error.
        last = captured.err.splitlines()[-1]
        assert last.startswith("error: ")
        assert sum(line.startswith("error: ") for line in captured.err.splitlines()) == 1
        assert "Traceback" not in captured.err
        return last

    return run


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A sound game file's content."""
    out = tmp_path_factory.mktemp("made")
    assert main(["generate", "--count", "1", "--out", str(out)]) == 0
    (path,) = out.rglob("game.tw-pddl")
    return dict(json.loads(path.read_text()))


def put(folder: Path, content: bytes | str | dict[str, Any]) -> Path:
    """Write a game file where the split valid_seen of data folder `folder` has its games."""
    path = folder / "valid_seen" / "task" / "trial" / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def old_grammar(game: dict[str, Any]) -> dict[str, Any]:
    """The game in the words of a release before 0.4."""
    grammar = (
        'grammar :: """{"task": [{"rhs": "Your task is to: put a mug in shelf."}]}"""; '
        'action move { template :: "put {o} in/on {r}"; }'
    )
    bare = {key: value for key, value in game.items() if not key.endswith("sha256")}
    return bare | {"pddl_domain": "(define (domain alfred))", "grammar": grammar}


BAD_GAMES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "empty": (lambda game: b"", "the file is empty"),
    "not text": (lambda game: b"\xff\xfe\x00", "not readable as JSON"),
    "truncated": (lambda game: json.dumps(game)[:500], "it may be cut off"),
    "another object": (lambda game: {"a": 1}, "field 'pddl_problem' is missing"),
    "no object": (lambda game: "[1, 2]", "expected a JSON object"),
    "put grammar": (old_grammar, "before 0.4"),
    "unsolvable": (lambda game: game | {"solvable": False}, "marked unsolvable"),
    "cut problem": (
        lambda game: game | {"pddl_problem": game["pddl_problem"][:400]},
        "game.tw-pddl",
    ),
}


@pytest.mark.parametrize("kind", BAD_GAMES)
def test_a_game_file(kind: str, game: dict[str, Any], tmp_path: Path, fail: Fail) -> None:
    make, said = BAD_GAMES[kind]
    path = put(tmp_path / "data", make(game))
    line = fail("play", "--env", "alfworld", "--task", path)
    assert str(path) in line
    assert said in line


@pytest.mark.parametrize("task", ["nowhere/game.tw-pddl", "valid_seen/task/other", "x" * 5000, ""])
def test_a_missing_game(task: str, game: dict[str, Any], tmp_path: Path, fail: Fail) -> None:
    put(tmp_path / "data", game)
    assert "no such" in fail("play", "--env", "alfworld", "--data", "data", "--task", task)


def test_a_game_in_a_split_that_is_cut_off(
    game: dict[str, Any], tmp_path: Path, fail: Fail
) -> None:
    path = put(tmp_path / "data", json.dumps(game)[:500])
    options = "--policy", "random", "--split", "valid_seen", "--data", tmp_path / "data"
    assert str(path) in fail("evaluate", *options)


@pytest.mark.parametrize("content", ["nothing", "unsolvable"])
@pytest.mark.parametrize("command", ["evaluate", "train", "check-env"])
def test_an_empty_task_list(
    command: str, content: str, game: dict[str, Any], tmp_path: Path, fail: Fail
) -> None:
    if content == "nothing":
        (tmp_path / "data" / "valid_seen").mkdir(parents=True)
    else:
        put(tmp_path / "data", game | {"solvable": False})
    options = {
        "evaluate": ["--policy", "random", "--split", "valid_seen", "--data", "data"],
        "train": ["--set", "env.split=valid_seen", "--set", "env.data=data"],
        "check-env": ["alfworld", "--split", "valid_seen", "--data", "data"],
    }
    assert "task" in fail(command, *options[command])
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("rollout.grops=4", "did you mean 'groups'"),
        ("nothing=1", "unknown key 'nothing'"),
        ("rollout.groups=0", "rollout.groups"),
        ("rollout.group_size=-1", "rollout.group_size"),
        ("rollout.groups=many", "rollout.groups"),
        ("seed=-1", "seed"),
        ("credit.mode=neither", "credit.mode"),
        ("preset=mine", "preset"),
        ("rollout.groups", "expected a.b=value"),
        ("rollout.groups=[", "not valid YAML"),
    ],
)
@pytest.mark.parametrize("command", ["train", "estimate"])
def test_a_setting(command: str, setting: str, said: str, fail: Fail, tmp_path: Path) -> None:
    assert said in fail(command, "--set", setting)
    assert not (tmp_path / "runs").exists()


def test_a_method_that_does_not_exist(fail: Fail, tmp_path: Path) -> None:
    """An estimate does not look at it: methods cost the same."""
    assert "magic" in fail("train", "--set", "method=magic")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("content", [None, b"a: [", b"- 1\n", b"\xff\xfe", b"grops: 1\n"])
def test_a_configuration_file(content: bytes | None, fail: Fail, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "mine.yaml").write_bytes(content)
    assert "mine.yaml" in fail("train", "--config", "mine.yaml")


@pytest.mark.parametrize("option", [[], ["--dry-run"]])
def test_the_run_of_another_configuration(option: list[str], fail: Fail, tmp_path: Path) -> None:
    from trajevolve.config import load_config
    from trajevolve.manifest import open_run

    open_run(tmp_path / "runs" / "mine", load_config(overrides=["rollout.groups=3"]))
    line = fail("train", "--run", "mine", "--set", "rollout.groups=4", *option)
    assert "rollout.groups" in line
    assert "3" in line


@pytest.mark.parametrize("name", ["a/b", "../mine", "..", ".", "", "/tmp/mine", "a b", ".hidden"])
@pytest.mark.parametrize("option", [[], ["--dry-run"]])
def test_the_name_of_a_run(name: str, option: list[str], fail: Fail, tmp_path: Path) -> None:
    assert repr(name) in fail("train", "--run", name, *option)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def speechless(tmp_path: Path) -> Path:
    """The built-in model without its chat template."""
    folder = tmp_path / "model"
    shutil.copytree(POLICY, folder)
    (folder / "chat_template.jinja").unlink()
    return folder


@pytest.mark.parametrize("command", ["evaluate", "train"])
def test_a_model_without_chat_template(command: str, speechless: Path, fail: Fail) -> None:
    options = {
        "evaluate": ["--model", speechless, "--split", GENERATED, "--tasks", 1],
        "train": ["--set", f"model.name={speechless}"],
    }
    line = fail(command, *options[command])
    assert "chat template" in line
    assert str(speechless) in line


@pytest.mark.parametrize("model", ["nowhere", "Qwen/Qwen2.5-1.5B-Instruct"])
@pytest.mark.parametrize("command", ["evaluate", "train"])
def test_a_missing_model(command: str, model: str, fail: Fail) -> None:
    options = {"evaluate": ["--model", model], "train": ["--set", f"model.name={model}"]}
    assert model in fail(command, *options[command])


@pytest.mark.parametrize("layout", ["dialogue", "window"])
def test_a_prompt_that_does_not_fit(layout: str, fail: Fail) -> None:
    settings = ["--set", "agent.max_prompt_tokens=10", "--set", f"agent.layout={layout}"]
    line = fail("evaluate", "--model", "builtin", "--split", GENERATED, "--tasks", 1, *settings)
    assert "agent.max_prompt_tokens = 10" in line


@pytest.mark.parametrize("kind", ["missing", "file"])
@pytest.mark.parametrize("command", ["play", "verify", "evaluate", "check-env", "train"])
def test_the_data_folder(command: str, kind: str, tmp_path: Path, fail: Fail) -> None:
    data = tmp_path / "data.tar"
    if kind == "file":
        data.write_bytes(b"no archive")
    (tmp_path / "rows").write_text('{"task": "valid_seen/a/b", "actions": []}\n')
    options = {
        "play": ["--env", "alfworld", "--task", "valid_seen/a/b", "--data", data],
        "verify": ["--env", "alfworld", "--input", "rows", "--data", data],
        "evaluate": ["--policy", "random", "--split", "valid_seen", "--data", data],
        "check-env": ["alfworld", "--split", "valid_seen", "--data", data],
        "train": ["--set", "env.split=train", "--set", f"env.data={data}"],
    }
    assert str(data) in fail(command, *options[command])


@pytest.mark.parametrize("name", ["train.tar", "train.tar.zst", "train.parquet"])
def test_a_damaged_archive(name: str, tmp_path: Path, fail: Fail) -> None:
    (tmp_path / name).write_bytes(b"no archive at all" * 100)
    options = "--policy", "random", "--split", "train", "--data", tmp_path
    assert name in fail("evaluate", *options)


@pytest.mark.parametrize(
    "split", ["valid_sen", "../data/valid_seen", "generated:nothing", "", ".."]
)
def test_a_split(split: str, game: dict[str, Any], tmp_path: Path, fail: Fail) -> None:
    put(tmp_path / "data", game)
    options = "--policy", "random", "--split", split, "--data", "data"
    assert f"split {split!r}" in fail("evaluate", *options)


@pytest.mark.parametrize("command", ["play", "verify", "evaluate", "check-env", "train"])
@pytest.mark.parametrize("name", ["chess", "no.module:Thing", "json:nothing", ":", ""])
def test_an_environment(command: str, name: str, tmp_path: Path, fail: Fail) -> None:
    (tmp_path / "rows").write_text("")
    options = {
        "play": ["--env", name, "--task", "1"],
        "verify": ["--env", name, "--input", "rows"],
        "evaluate": ["--policy", "random", "--env", name],
        "check-env": [name],
        "train": ["--set", f"env.name={name!r}"],
    }
    assert "environment" in fail(command, *options[command])


@pytest.mark.parametrize("name", ["mine.py", "./mine.py", "mine", "envs/mine.py", "mine:"])
@pytest.mark.parametrize("command", ["check-env", "play"])
def test_an_environment_given_as_a_file(command: str, name: str, fail: Fail) -> None:
    options = {"check-env": [name], "play": ["--env", name, "--task", "1"]}
    module = "envs.mine" if name.startswith("envs") else "mine"
    assert f"as in {module}:ClassName" in fail(command, *options[command])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (bytes(range(256)) * 40, "line 1: not valid JSON"),
        (b"not json\n", "line 1: not valid JSON"),
        (b'[1, "a"]', "item 1: expected an object, got 1"),
        (b"\x89PNG\r\n\x1a\n\0\0", "line 1: not valid JSON"),
    ],
)
def test_an_input_without_a_single_object(
    content: bytes, said: str, fail: Fail, tmp_path: Path
) -> None:
    (tmp_path / "rows").write_bytes(content)
    line = fail("verify", "--env", "alfworld", "--input", "rows")
    assert "--input: holds no JSON object" in line and said in line
    assert '{"task": ..., "actions": [...]}' in line


SOMEWHERE = "nowhere/deeper/out"


@pytest.mark.parametrize(
    "command",
    [
        ["verify", "--env", "alfworld", "--input", "rows", "--output"],
        ["verify", "--env", "alfworld", "--input", "rows", "--output", "x", "--report"],
        ["evaluate", "--policy", "random", "--tasks", "1", "--output"],
        ["view", "rows", "--out"],
        ["generate", "--count", "1", "--out"],
        ["warmup", "--out"],
        ["webshop", "generate", "--out"],
        ["webshop", "prepare", "--products", "rows", "--attributes", "rows", "--out"],
        ["report", "mine", "--out"],
        ["export", "mine", "--as", "model", "--out"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_an_output_in_a_place_that_does_not_exist(
    command: list[str], tmp_path: Path, fail: Fail
) -> None:
    from trajevolve.config import load_config
    from trajevolve.manifest import open_run

    (tmp_path / "rows").write_text("")
    open_run(tmp_path / "runs" / "mine", load_config())
    line = fail(*command, SOMEWHERE)
    assert SOMEWHERE in line and f"there is no folder {tmp_path / 'nowhere'}" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows", "runs"]


@pytest.mark.parametrize("place", ["file/below", "folder", "/proc/none/below"])
@pytest.mark.parametrize("command", ["verify", "evaluate"])
def test_an_output_that_cannot_be_written(
    command: str, place: str, tmp_path: Path, fail: Fail
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "rows").write_text("")
    options = {
        "verify": ["--env", "alfworld", "--input", "rows"],
        "evaluate": ["--policy", "random", "--split", GENERATED, "--tasks", 1],
    }
    assert place.partition("/below")[0] in fail(command, *options[command], "--output", place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "rows"]


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/none/below"])
@pytest.mark.parametrize("command", ["generate", "warmup"])
def test_a_folder_that_cannot_be_made(command: str, place: str, tmp_path: Path, fail: Fail) -> None:
    (tmp_path / "file").write_text("")
    options = {"generate": ["--count", 1], "warmup": []}
    assert place.partition("/below")[0] in fail(command, *options[command], "--out", place)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_in_the_place_of_a_file(fail: Fail, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    common = "webshop", "prepare", "--attributes", "here", "--out", "made"
    assert "--products here: is a folder" in fail(*common, "--products", "here")
    assert "--input here: is a folder" in fail("verify", "--env", "alfworld", "--input", "here")
    assert "directory" in fail("train", "--config", "here")
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["generate", "--env", "webshop", "--count", "3", "--split", "x"], "--split: is for"),
        (["generate", "--env", "webshop", "--count", "3", "--type", "x"], "--type: is for"),
        (["warmup", "--policy", "builtin"], "--policy: is for --part discriminator"),
        (["warmup", "--part", "discriminator", "--batches", "3"], "--batches: is for --part pol"),
        (["export", "a", "--as", "model", "--whole"], "--whole: is for --as sft"),
    ],
)
def test_an_option_that_would_do_nothing(
    command: list[str], said: str, fail: Fail, tmp_path: Path
) -> None:
    assert said in fail(*command, "--out", "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("more", [[], ["--config", "params.yaml"]])
def test_two_policies_at_once(more: list[str], fail: Fail, tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text("seed: 1\n")
    said = fail("evaluate", "--model", "builtin", "--policy", "random", *more)
    assert "--model and --policy: give one of the two" in said


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--data", "nowhere"], "--data nowhere: no such folder"),
        (["--backend", "foo"], "--backend 'foo': unknown"),
        (["--limit", "-1"], "--limit"),
    ],
)
def test_options_of_evaluate(option: list[str], said: str, fail: Fail, tmp_path: Path) -> None:
    """The split that is played by default is generated and reads no data."""
    (tmp_path / "params.yaml").write_text("seed: 1\n")
    assert said in fail("evaluate", "--policy", "expert", "--tasks", "1", *option)


def test_the_run_of_a_model_that_was_meant(fail: Fail, tmp_path: Path) -> None:
    (tmp_path / "runs" / "a").mkdir(parents=True)
    (tmp_path / "runs" / "a" / "manifest.json").write_text("{}")
    said = fail("evaluate", "--model", "runs/a", "--tasks", "1")
    assert "runs/a is a run, whose model `trajevolve export runs/a --as model` writes" in said


def test_no_runs_there(fail: Fail) -> None:
    assert "--runs nowhere: no such folder" in fail("gc", "--runs", "nowhere")
