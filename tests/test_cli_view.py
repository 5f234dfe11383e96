"""`view`: every sort of input, and every input that cannot be shown."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from toys.corridor import TASK, Corridor, play

from trajevolve.cli.main import main
from trajevolve.config import load_config
from trajevolve.credit.labelling import label
from trajevolve.credit.verification import verify
from trajevolve.ledger import Ledger, Produced, run_stage
from trajevolve.manifest import open_run
from trajevolve.storage import SCHEMA, VERSION_KEY, write_shard
from trajevolve.trajectory import Evolution, Trajectory

ENV = "toys.corridor:Corridor"
PLAN = ["go to room 1", "take key", "go to room 2", "go to room 3", "open chest"]
DETOUR = [*PLAN[:2], "go to room 0", "go to room 1", *PLAN[2:]]
SETTINGS = ["iterations=3", f"env.name={ENV}", "discriminator.enabled=false"]

View = Callable[..., tuple[dict[str, Any], dict[str, Any]]]


def verified(actions: list[str], id: str, **fields: Any) -> Trajectory:
    return label(play(actions, id, **fields), verify(Corridor(), TASK, actions))


def members(iteration: int) -> list[Trajectory]:
    evolution = Evolution(f"{iteration}/parent", "elimination", None, 7, 10.0, accepted=True)
    child = verified(PLAN, f"{iteration}/parent+elimination", evolution=evolution)
    return [verified(DETOUR, f"{iteration}/parent"), play(["look"], f"{iteration}/failure"), child]


def commit(ledger: Ledger, iteration: int, stage: str, made: list[Trajectory]) -> None:
    def body(folder: Path) -> Produced:
        path = ledger.run_dir / "shards" / f"iter_{iteration:04d}_{stage}.parquet"
        return Produced({"trajectories": (path, write_shard(path, made).rows)})

    run_stage(ledger, iteration, stage, {}, body)


def start(folder: Path) -> Ledger:
    config = load_config(None, SETTINGS)
    open_run(folder, config)
    return Ledger(folder, config.digest())


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """A run of two iterations: one finished, one that has only been verified."""
    monkeypatch.chdir(tmp_path)
    ledger = start(tmp_path / "runs" / "made")
    for iteration in (0, 1):
        plain = [replace(each, verified=False) for each in members(iteration)[:2]]
        commit(ledger, iteration, "rollout", plain)
    commit(ledger, 0, "verification", members(0)[:2])
    commit(ledger, 0, "advantages", members(0))
    commit(ledger, 1, "verification", members(1)[:2])
    return ledger


@pytest.fixture
def view(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> View:
    """Write the page; return what the command printed and what the page holds."""

    def run(what: Path | str, *options: str) -> tuple[dict[str, Any], dict[str, Any]]:
        out = tmp_path / "page.html"
        assert main(["view", str(what), "--out", str(out), "--json", *options]) == 0
        found = re.search(r'id="document">(.*?)</script>', out.read_text(encoding="utf-8"), re.S)
        assert found
        return json.loads(capsys.readouterr().out), json.loads(found[1])

    return run


def ids(page: dict[str, Any]) -> list[str]:
    return [each["id"] for each in page["trajectories"]]


def test_a_run_is_shown_with_what_each_iteration_knows(ledger: Ledger, view: View) -> None:
    printed, page = view("made")
    assert printed["trajectories"] == len(page["trajectories"]) == 5
    assert ids(page) == ["0/failure", "0/parent", "0/parent+elimination", "1/failure", "1/parent"]
    assert [each["iteration"] for each in page["trajectories"]] == [0, 0, 0, 1, 1]
    assert [each["verified"] for each in page["trajectories"]] == [False, True, True, False, True]
    assert page["trajectories"][4]["replays"]["2"]["success"] is True
    assert printed["replays"] == 7 + 5 + 7
    assert printed["bytes"] == Path(printed["path"]).stat().st_size
    assert page["name"] == "made"


def test_options_choose_iterations_evidence_and_how_many(ledger: Ledger, view: View) -> None:
    assert ids(view(ledger.run_dir, "--iteration", "1")[1]) == ["1/failure", "1/parent"]
    redundant = view("made", "--evidence", "redundant")[1]["trajectories"][1]["replays"]
    assert set(redundant) == {"2", "3"}
    assert view("made", "--evidence", "none")[0]["replays"] == 0
    printed, page = view("made", "--limit", "2")
    assert ids(page) == ["0/failure", "0/parent"]
    assert "2 of 5" in page["notes"][0] == printed["notes"][0]


def test_a_pruned_or_lost_shard_falls_back_to_an_earlier_stage(ledger: Ledger, view: View) -> None:
    advantages = next(ledger.commits("advantages"))
    (ledger.run_dir / "shards" / "iter_0001_verification.parquet").unlink()
    ledger.prune(advantages, "trajectories")
    printed, page = view("made")
    assert ids(page)[:2] == ["0/failure", "0/parent"]
    assert page["trajectories"][1]["verified"]
    assert [each["verified"] for each in page["trajectories"][2:]] == [False, False]
    assert len(printed["notes"]) == 1
    assert "iter_0001_verification.parquet" in printed["notes"][0]


def test_a_replaced_parent_and_a_refused_child_are_there(ledger: Ledger, view: View) -> None:
    child = members(1)[2]
    commit(ledger, 1, "advantages", [play(["look"], "1/failure"), child])
    refused = replace(child, id="1/parent+again")
    commit(ledger, 1, "evolution", [child, refused])
    shown = ids(view("made", "--iteration", "1")[1])
    assert shown == ["1/failure", "1/parent", "1/parent+again", "1/parent+elimination"]


def test_a_shard_of_a_run_knows_its_environment(ledger: Ledger, view: View) -> None:
    shard = ledger.run_dir / "shards" / "iter_0001_verification.parquet"
    page = view(shard)[1]
    assert page["env"] == "corridor"
    assert page["trajectories"][0]["iteration"] == 1


def test_a_shard_alone_needs_the_name_of_its_environment(tmp_path: Path, view: View) -> None:
    shard = write_shard(tmp_path / "some.parquet", members(0)).path
    printed, page = view(shard)
    assert "--env" in printed["notes"][0]
    assert (page["env"], printed["replays"]) == ("", 0)
    assert view(shard, "--env", ENV)[0]["replays"] == 12


def rows_of(path: Path, *actions: list[Any], mode: str = "cumulative") -> Path:
    rows = [json.dumps({"task": "corridor/0", "actions": each}) for each in actions]
    path.with_suffix(".in").write_text("\n".join(rows) + "\n")
    options = ["--input", str(path.with_suffix(".in")), "--output", str(path), "--mode", mode]
    assert main(["verify", "--env", ENV, *options]) == 0
    return path


@pytest.mark.parametrize("mode", ["cumulative", "independent"])
def test_what_verify_wrote_is_played_for_its_texts(tmp_path: Path, view: View, mode: str) -> None:
    actions = DETOUR, ["look", None], [*PLAN, "go to room 2"]
    source = rows_of(tmp_path / "v.jsonl", *actions, mode=mode)
    page = view(source, "--env", ENV)[1]
    detour, failure, longer = page["trajectories"]
    text = page["strings"]
    assert ids(page) == ["row-1", "row-2", "row-3"]
    assert text[detour["task"]] == "open the chest"
    assert [text[step[0]] for step in detour["steps"]][:3] == ["room 0", "room 1", "room 1"]
    assert text[detour["final"]] == "room 3"
    assert 2 in [int(t) for t in detour["replays"]]
    assert len(detour["minimal"]) == 5
    assert [step[4] for step in failure["steps"]] == [1, 0]
    assert longer["reached"] == 5  # the last step came after the success
    assert text[longer["final"]] == "room 3"


def test_exploration_is_shown_of_rows_as_of_a_run(tmp_path: Path, view: View) -> None:
    source = tmp_path / "v.jsonl"
    household = Path(__file__).parents[1] / "examples" / "household.jsonl"
    assert (
        main(["verify", "--env", "alfworld", "--input", str(household), "--output", str(source)])
        == 0
    )
    first = view(source, "--env", "alfworld")[1]["trajectories"][0]
    assert [step[14] for step in first["steps"]] == [1, 1, 0, 0, 0]


LAB = "toys.lab:LabEnvironment"


@pytest.mark.parametrize("strange", ["dance", "open door"])
def test_what_was_not_executed_hides_no_replay(tmp_path: Path, view: View, strange: str) -> None:
    """Where feasibility is in the answer: an unknown action, and one that only takes time."""
    actions = ["open door", strange, "go kitchen", "activate stove", "wait", "focus on water"]
    source = tmp_path / "v.jsonl"
    rows = tmp_path / "v.in"
    rows.write_text(json.dumps({"task": "1", "actions": actions}))
    options = ["--input", str(rows), "--output", str(source)]
    assert main(["verify", "--env", LAB, *options]) == 0
    printed, page = view(source, "--env", LAB)
    assert printed["notes"] == []
    (row,) = page["trajectories"]
    assert {4, 5} <= {int(t) for t in row["replays"]}


def test_rows_of_an_unknown_environment_are_shown_without_observations(
    tmp_path: Path, view: View
) -> None:
    source = rows_of(tmp_path / "v.jsonl", DETOUR)
    printed, page = view(source)
    assert "'corridor' is not a built-in one" in printed["notes"][0]
    assert page["trajectories"][0]["rho"] == round(2 / 7, 4)
    assert page["trajectories"][0]["minimal"] == [0, 1, 4, 5, 6]


def test_rows_load_no_code(tmp_path: Path, view: View) -> None:
    row = {"task": "1", "actions": [], "labels": None, "success": False, "env": f"{__name__}:harm"}
    source = tmp_path / "v.jsonl"
    source.write_text(json.dumps(row))
    assert "not a built-in one" in view(source)[0]["notes"][0]


def test_errors_of_verify_are_left_out_and_counted(tmp_path: Path, view: View) -> None:
    source = rows_of(tmp_path / "v.jsonl", DETOUR)
    source.write_text('{"error": "line 1: what"}\n\n' + source.read_text())
    printed, page = view(source, "--env", ENV)
    assert ids(page) == ["row-3"]
    assert printed["notes"] == ["1 row with an error instead of labels left out"]


def test_texts_of_all_languages_survive(tmp_path: Path, view: View) -> None:
    odd = "去冰箱 \u2028 </script> \ud800 é"
    path = tmp_path / "v.jsonl"
    row = {"task": odd, "actions": [odd], "labels": [1], "success": True, "env": None}
    path.write_text(json.dumps(row))
    page = view(path)[1]
    assert page["strings"][page["trajectories"][0]["task"]] == odd
    assert page["strings"][page["trajectories"][0]["steps"][0][1]] == odd


def test_a_page_has_a_place_of_its_own(ledger: Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "made"]) == 0
    assert "5 trajectories" in capsys.readouterr().out
    assert Path("reports/made/trajectories.html").is_file()
    ledger.run_dir.rename("runs/made-0.5")
    assert main(["view", "made-0.5"]) == 0
    assert Path("reports/made-0.5/trajectories.html").is_file()
    assert main(["view", "nothing"]) == 2
    assert not Path("reports/nothing").exists()


def of_another_version(path: Path) -> Path:
    table = pq.read_table(write_shard(path, members(0)).path)
    pq.write_table(table.cast(SCHEMA.with_metadata({VERSION_KEY: b"99"})), path)
    return path


def text(name: str, content: str | bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def row(**fields: Any) -> Callable[[Path], Path]:
    whole = {"task": "1", "actions": ["a", "b"], "labels": [0, 1], "success": True, **fields}
    return text("rows.jsonl", json.dumps({k: v for k, v in whole.items() if v != "gone"}))


UNUSABLE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no file": (lambda folder: folder / "none.parquet", "no such file"),
    "no run": (lambda folder: folder / "none", "none"),
    "a folder": (lambda folder: folder, "no manifest.json"),
    "an empty run": (lambda folder: start(folder / "empty").run_dir, "no trajectories yet"),
    "an empty file": (text("empty.jsonl", ""), "holds no trajectory"),
    "an empty shard": (lambda f: write_shard(f / "e.parquet", []).path, "holds no trajectory"),
    "no shard": (text("bad.parquet", "PAR1 not"), "not a readable Parquet"),
    "another version": (lambda f: of_another_version(f / "v.parquet"), "schema version 99"),
    "another table": (text("picture.png", b"\x89PNG\r\n\x1a\n\x00\xff"), "line 1: not JSON"),
    "no object": (text("list.json", "[1, 2]"), "no object"),
    "deep": (text("deep.json", "[" * 100_000), "line 1: not JSON"),
    "rows not verified": (row(labels="gone"), '"labels"'),
    "a label too few": (row(labels=[1]), '"labels"'),
    "labels that are none": (row(labels=[1, 2]), '"labels"'),
    "no actions": (row(actions="gone"), '"actions"'),
    "no task": (row(task=None), '"task"'),
    "dependents elsewhere": (row(dependents=[[], [7]]), '"dependents"'),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_input_that_cannot_be_shown_is_one_line_and_status_2(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, said = UNUSABLE[name]
    assert main(["view", str(make(tmp_path)), "--out", str(tmp_path / "page.html")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--iteration", "9"], "--iteration 9"),
        (["--limit", "0"], "--limit"),
        (["--evidence", "some"], "--evidence"),
        (["--env", "nothing"], "nothing"),
        (["--data", "/nowhere"], "/nowhere"),
        (["--backend", "guess"], "guess"),
        (["--out", "runs"], "is a folder"),
    ],
)
def test_options_that_cannot_be_used(
    options: list[str], said: str, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", "made", *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert said in error


def test_a_run_without_any_shard_left_says_where_they_are(
    ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (ledger.run_dir / "shards").glob("*.parquet"):
        path.unlink()
    assert main(["view", "made"]) == 2
    assert "dvc checkout" in capsys.readouterr().err


def test_a_file_has_no_iterations(
    tmp_path: Path, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    shard = ledger.run_dir / "shards" / "iter_0001_verification.parquet"
    assert main(["view", str(shard), "--iteration", "1"]) == 2
    assert "--iteration" in capsys.readouterr().err
