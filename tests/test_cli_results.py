"""`train --dry-run`, `report`, `export`, `gc`, `generate`, `evaluate`: on a small made-up run."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from faults.disks import largest_file
from toys.corridor import play

from trajevolve.checkpoint import write_checkpoint
from trajevolve.cli.main import main
from trajevolve.config import RunConfig, load_config
from trajevolve.exporting import preference_rows, sft_rows
from trajevolve.ledger import Ledger, Produced, run_stage
from trajevolve.manifest import load_manifest, open_run
from trajevolve.models.loading import BUILTIN
from trajevolve.storage import write_shard
from trajevolve.trajectory import Evolution, Trajectory

PLAN = ["go to room 1", "take key", "go to room 2", "go to room 3", "open chest"]
WANDERING = ["go to room 1", "go to room 0", *PLAN]
SETTINGS = [
    "iterations=3",
    "env.name=toys.corridor:Corridor",
    "discriminator.enabled=false",
    f"model.name={BUILTIN / 'alfworld' / 'policy'}",
]


def members() -> list[Trajectory]:
    """A success with a detour, its elimination, and a failure."""
    parent = play(WANDERING, id="parent", verified=True, minimal=(2, 3, 4, 5, 6))
    evolution = Evolution("parent", "elimination", None, 7, 10.0, accepted=True)
    child = play(PLAN, id="child", evolution=evolution)
    return [parent, child, play(["look"], id="failure")]


def stage(ledger: Ledger, iteration: int, name: str, metrics: dict[str, float], what: str) -> None:
    def body(folder: Path) -> Produced:
        if what == "checkpoint":
            facts = {"iteration": iteration, "score": None}
            write_checkpoint(folder / "checkpoint", fill, facts)
            return Produced({"checkpoint": (folder / "checkpoint", 0)}, metrics)
        path = ledger.run_dir / "shards" / f"iter_{iteration:04d}_{name}.parquet"
        return Produced({"trajectories": (path, write_shard(path, members()).rows)}, metrics)

    def fill(folder: Path) -> None:
        (folder / "config.json").write_text(json.dumps({"number": iteration}))
        (folder / "optimizer.safetensors").write_bytes(b"moments")

    run_stage(ledger, iteration, name, {}, body)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three iterations of rollout, advantages, update and evaluation; the second is the best."""
    monkeypatch.chdir(tmp_path)
    config: RunConfig = load_config(None, SETTINGS)
    run_dir = tmp_path / "runs" / "made"
    open_run(run_dir, config)
    ledger = Ledger(run_dir, config.digest())
    for iteration, success in enumerate([0.25, 0.75, 0.5]):
        stage(ledger, iteration, "rollout", {"success": success}, "trajectories")
        stage(ledger, iteration, "advantages", {"advantages/mean": 0.0}, "trajectories")
        stage(ledger, iteration, "update", {"kl": 0.1, "loss": float("nan")}, "checkpoint")
        stage(ledger, iteration, "evaluation", {"success": success}, "trajectories")
    return run_dir


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_plan_counts_what_is_committed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = [part for value in SETTINGS for part in ("--set", value)]
    assert main(["train", "--run", "made", "--dry-run", "--json", *sets]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["stages"]["rollout"] == {"due": 3, "committed": 3}
    assert plan["stages"]["verification"] == {"due": 3, "committed": 0}
    assert plan["next"] == {"iteration": 0, "stage": "evaluation_before"}
    assert "discriminator" not in plan["stages"]


def test_a_plan_of_nothing_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--dry-run"]) == 0
    captured = capsys.readouterr()
    assert "evaluation_before" in captured.out
    assert "40 iterations, configuration: defaults (no params.yaml here)" in captured.err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "params.yaml").write_text("iterations: 1\n")
    for command in (["train", "--dry-run"], ["estimate"]):
        assert main(command) == 0
        assert "configuration: params.yaml" in capsys.readouterr().err
    assert main(["train", "--dry-run", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["configuration"] == "params.yaml"
    assert "trajevolve, 1 iteration," in captured.err


def test_splits_with_fewer_tasks_than_asked_for_are_named(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = [part for value in SETTINGS for part in ("--set", value)]
    assert main(["train", "--run", "made", "--dry-run", *sets]) == 0
    assert "generated:train holds 1 task, rollout.groups = 8" in capsys.readouterr().err


def test_another_configuration_names_what_differs(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = [part for value in [*SETTINGS, "credit.alpha=2"] for part in ("--set", value)]
    assert main(["train", "--run", "made", "--dry-run", *sets]) == 2
    assert "credit.alpha" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("method=magic", "magic"),
        ("model.name=/nowhere", "/nowhere"),
        ("env.name=no.module:Env", "no.module"),
        ("env.split=generated:nothing", "generated:nothing"),
    ],
)
@pytest.mark.parametrize("plan", [[], ["--dry-run"]])
def test_training_finds_what_is_missing_before_it_starts(
    plan: list[str],
    setting: str,
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    assert main(["train", *plan, "--set", "model.name=model", "--set", setting]) == 2
    assert named in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_report_has_curves_before_the_run_is_finished(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "made"]) == 0
    page = Path(capsys.readouterr().out.strip())
    text = page.read_text(encoding="utf-8")
    assert "Not finished" in text
    for name in ("overview", "rollout", "update"):
        assert f"]({name}.png)" in text
        assert (page.parent / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_runs_measured_otherwise_are_not_shown_side_by_side_in_silence(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = run.parent / "longer"
    open_run(other, load_config(None, [*SETTINGS, "env.step_limit=50", "credit.alpha=2"]))
    ledger = Ledger(other, load_manifest(other).config_digest)
    stage(ledger, 0, "update", {"kl": 0.1}, "checkpoint")
    assert main(["report", "made", "longer"]) == 0
    captured = capsys.readouterr()
    line = "not comparable, env.step_limit differs: made 30, longer 50"
    assert captured.err == f"note: {line}\n"
    assert line in Path(captured.out.strip()).read_text(encoding="utf-8")


def test_missing_shards_and_a_damaged_manifest_are_said(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = run / "shards" / "iter_0001_advantages.parquet"
    gone.unlink()
    assert main(["report", "made"]) == 0
    said = capsys.readouterr().err
    assert "1 shard of 9 missing, shards/iter_0001_advantages.parquet" in said
    assert said.count("\n") == 1
    for content in ("", "{}", "[]"):
        (run / "manifest.json").write_text(content)
        assert main(["report", "made"]) == 2
        said = capsys.readouterr().err
        assert "manifest.json" in said and said.count("\n") == 1


def test_an_export_without_rows_says_why(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, settings, said in (
        ("plain", [], "evolve every 5 iterations"),
        ("without", ["evolution.enabled=false"], "evolution.enabled = false"),
    ):
        folder = run.parent / name
        config = load_config(None, [*SETTINGS, *settings])
        open_run(folder, config)
        ledger = Ledger(folder, config.digest())

        def body(_: Path, folder: Path = folder) -> Produced:
            path = folder / "shards" / "failures.parquet"
            rows = write_shard(path, [play(["look"], id="failure")]).rows
            return Produced({"trajectories": (path, rows)}, {})

        run_stage(ledger, 0, "advantages", {}, body)
        for kind, reason in (("preference", said), ("sft", "no successful trajectory")):
            capsys.readouterr()
            assert main(["export", name, "--as", kind, "--out", str(tmp_path / "rows")]) == 0
            captured = capsys.readouterr()
            assert captured.out.startswith("0 rows -> ")
            assert reason in captured.err
            assert ("1 finished iteration" in captured.err) == ("enabled" not in reason)


@pytest.mark.parametrize("command", [["report"], ["export", "--as", "sft", "--out", "x"], ["gc"]])
def test_a_run_that_is_not_there_is_named_with_those_that_are(
    command: list[str], run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command[0], "other", *command[1:]]) == 2
    error = capsys.readouterr().err
    assert "'other'" in error
    assert "made" in error


def test_the_best_model_is_exported_without_training_state(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    assert main(["export", "made", "--as", "model", "--out", str(out)]) == 0
    assert json.loads((out / "config.json").read_text()) == {"number": 1}
    written = ["README.md", "agent.json", "config.json"]
    assert sorted(path.name for path in out.iterdir()) == written
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "over 2 updates" in card and "None: training was not finished" in card
    assert json.loads((out / "agent.json").read_text())["layout"] == "dialogue"
    assert main(["export", "made", "--as", "model", "--out", str(out)]) == 2


KILLED_AFTER_COPYING = """
import os, shutil, signal, sys
from trajevolve.cli.main import main
copytree = shutil.copytree
def copy_and_die(*arguments, **options):
    copytree(*arguments, **options)
    os.kill(os.getpid(), signal.SIGKILL)
shutil.copytree = copy_and_die
main(sys.argv[1:])
"""


@pytest.mark.parametrize("there", [False, True], ids=["new", "empty"])
def test_a_killed_export_leaves_nothing_that_loads_and_the_next_is_whole(
    there: bool, run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    if there:
        out.mkdir()
    command = ["export", "made", "--as", "model", "--out", str(out)]
    killed = subprocess.run([sys.executable, "-c", KILLED_AFTER_COPYING, *command])
    assert killed.returncode == -signal.SIGKILL
    assert not (out / "config.json").exists()
    assert main(command) == 0
    assert sorted(path.name for path in out.iterdir()) == ["README.md", "agent.json", "config.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "runs"]


def test_an_export_on_a_full_disk_is_one_line_and_leaves_nothing(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with largest_file(10):
        status = main(["export", "made", "--as", "model", "--out", str(tmp_path / "model")])
    assert status == 2
    assert f"{tmp_path / 'model'}: cannot be written (File too large); raise" in (
        capsys.readouterr().err
    )
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_a_damaged_checkpoint_is_not_exported(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "iter_0001" / "update" / "checkpoint" / "config.json").write_text("{}")
    assert main(["export", "made", "--as", "model", "--out", str(tmp_path / "model")]) == 2
    assert "config.json" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


def test_successes_are_exported_shortened_and_once(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "sft.jsonl"
    assert main(["export", "made", "--as", "sft", "--out", str(out)]) == 0
    (row,) = lines(out)  # the shortened parent is the child: one conversation
    roles = [message["role"] for message in row["messages"]]
    assert roles == ["user", "assistant"] * len(PLAN)
    assert [m["content"] for m in row["messages"] if m["role"] == "assistant"] == PLAN
    assert row["messages"][0]["content"] == "room 0"
    assert main(["export", "made", "--as", "sft", "--whole", "--out", str(out)]) == 0
    assert sorted(row["steps"] for row in lines(out)) == [5, 7]


def test_pairs_begin_where_child_and_parent_part(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    assert main(["export", "made", "--as", "preference", "--out", str(out)]) == 0
    (row,) = lines(out)
    assert [message["content"] for message in row["prompt"]] == ["room 0", PLAN[0], "room 1"]
    assert row["chosen"][0] == {"role": "assistant", "content": "take key"}
    assert row["rejected"][0] == {"role": "assistant", "content": "go to room 0"}
    assert (row["chosen_id"], row["rejected_id"]) == ("child", "parent")


def test_rejected_children_and_failures_are_not_exported() -> None:
    parent, child, failure = members()
    assert child.evolution is not None
    refused = replace(child, evolution=replace(child.evolution, accepted=False))
    assert list(preference_rows([parent, refused])) == []
    assert list(preference_rows([child])) == []
    assert list(sft_rows([failure])) == []


def test_collection_keeps_the_last_and_the_best(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoints = [run / f"iter_{k:04d}" / "update" / "checkpoint" for k in range(3)]
    assert main(["gc", "--keep-last", "1", "--dry-run"]) == 0
    assert "would free" in capsys.readouterr().out
    assert all(path.is_dir() for path in checkpoints)
    assert main(["gc", "--keep-last", "1"]) == 0
    assert [path.is_dir() for path in checkpoints] == [False, True, True]
    config = load_config(None, SETTINGS)
    assert Ledger(run, config.digest()).committed(0, "update") is not None
    assert main(["gc", "made", "--shards"]) == 0
    left = sorted(path.name for path in (run / "shards").iterdir())
    assert left == [
        f"iter_{k:04d}_{name}.parquet" for k in range(3) for name in ("advantages", "evaluation")
    ]


def test_generated_games_can_be_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["generate", "--count", "2", "--seed", "5", "--out", str(tmp_path), "--json"]
    assert main(command) == 0
    games = json.loads(capsys.readouterr().out)["games"]
    assert len(games) == 2
    content = json.loads(Path(games[0]).read_text())
    source = tmp_path / "rows.jsonl"
    source.write_text(json.dumps({"task": games[0], "actions": content["walkthrough"]}) + "\n")
    assert main(["verify", "--env", "alfworld", "--input", str(source)]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["success"] is True
    assert set(row["labels"]) == {1}  # a shortest plan has nothing to leave out


@pytest.mark.parametrize(
    "options",
    [["--env", "chess"], ["--type", "juggle"], ["--difficulty", "odd"], ["--split", "a/b"]],
)
def test_games_that_cannot_be_made(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["generate", "--count", "1", "--out", str(out), *options]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert not out.exists()


def test_an_evaluation_is_json_and_compares_with_an_earlier_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = tmp_path / "random.json"
    common = ["--tasks", "4", "--limit", "12", "--json"]
    assert main(["evaluate", "--policy", "random", "--output", str(first), *common]) == 0
    random = json.loads(capsys.readouterr().out)
    assert random == json.loads(first.read_text())
    assert (random["policy"], random["step_limit"], random["overall"]["tasks"]) == ("random", 12, 4)
    assert main(["evaluate", "--policy", "expert", "--against", str(first), *common]) == 0
    expert = json.loads(capsys.readouterr().out)
    assert [e["task_id"] for e in expert["episodes"]] == [e["task_id"] for e in random["episodes"]]
    assert expert["overall"]["success"] > random["overall"]["success"]
    gained = expert["overall"]["successes"] - random["overall"]["successes"]
    comparison = expert["comparison"]
    assert comparison["only_b"] - comparison["only_a"] == gained
    first.write_text("{}")
    assert main(["evaluate", "--policy", "random", "--against", str(first), *common]) == 2
