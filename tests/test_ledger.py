"""A stage is done exactly when its commit is there, and its outputs are those it committed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from itertools import product
from pathlib import Path

import pytest

from trajevolve.config import load_config, parse_config
from trajevolve.errors import UserError
from trajevolve.ledger import Commit, Ledger, Point, Produced, run_stage
from trajevolve.manifest import RunLock, check_run, load_manifest, open_run, update_manifest


def write_text(text: str, metrics: dict[str, float] | None = None):
    def body(folder: Path) -> Produced:
        (folder / "out.txt").write_text(text)
        return Produced({"out": (folder / "out.txt", 3)}, metrics or {"loss": 0.5})

    return body


def refuse(folder: Path) -> Produced:
    raise AssertionError("a committed stage was run again")


def rollout(run_dir: Path, text: str = "hello", config: str = "c") -> Commit:
    return run_stage(Ledger(run_dir, config), 2, "rollout", {"model": "m1"}, write_text(text))


def test_a_committed_stage_is_not_run_again(tmp_path: Path) -> None:
    first = rollout(tmp_path)
    again = run_stage(Ledger(tmp_path, "c"), 2, "rollout", {"model": "m1"}, refuse)
    assert again == first
    assert first.outputs["out"].path == "iter_0002/rollout/out.txt"
    assert first.outputs["out"].md5 == "5d41402abc4b2a76b9719d911017c592"
    assert first.outputs["out"].rows == 3
    assert json.loads((tmp_path / "iter_0002/rollout/metrics.json").read_text()) == {"loss": 0.5}


def test_a_stage_that_fails_half_way_starts_from_an_empty_folder(tmp_path: Path) -> None:
    def fails(folder: Path) -> Produced:
        (folder / "left over").write_text("x")
        raise RuntimeError("killed")

    ledger = Ledger(tmp_path, "c")
    with pytest.raises(RuntimeError):
        run_stage(ledger, 2, "rollout", {}, fails)
    assert ledger.committed(2, "rollout") is None
    rollout(tmp_path)
    names = sorted(file.name for file in (tmp_path / "iter_0002/rollout").iterdir())
    assert names == ["commit.json", "metrics.json", "out.txt"]


def test_content_is_the_same_in_another_place_at_another_time(tmp_path: Path) -> None:
    here = rollout(tmp_path / "run-a")
    time.sleep(0.01)
    there = rollout(tmp_path / "elsewhere" / "run-b")
    assert here.time != there.time
    assert here.content == there.content
    assert rollout(tmp_path / "c", text="other").content != here.content
    assert rollout(tmp_path / "d", config="other").content != here.content


def test_metrics_that_are_not_finite_survive_and_leave_valid_json(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "c")
    metrics = {"nan": float("nan"), "inf": float("inf")}
    run_stage(ledger, 0, "update", {}, write_text("x", metrics))
    read = ledger.committed(0, "update")
    assert read is not None
    assert {name: repr(value) for name, value in read.metrics.items()} == {
        "nan": "nan",
        "inf": "inf",
    }
    written = json.loads((tmp_path / "iter_0000/update/metrics.json").read_text())
    assert written == {"nan": None, "inf": None}


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_damaged_output_is_named(tmp_path: Path, damage: str) -> None:
    rollout(tmp_path)
    path = tmp_path / "iter_0002/rollout/out.txt"
    path.unlink() if damage == "missing" else path.write_text("hullo")
    with pytest.raises(UserError, match=rf"out\.txt: .*{damage}"):
        rollout(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 1}', '{"version": 9}'])
def test_an_unreadable_commit_is_named(tmp_path: Path, content: str) -> None:
    rollout(tmp_path)
    (tmp_path / "iter_0002/rollout/commit.json").write_text(content)
    with pytest.raises(UserError, match=r"commit\.json: "):
        rollout(tmp_path)


def test_a_file_that_cannot_be_read_is_not_called_damaged(tmp_path: Path) -> None:
    (tmp_path / "a" / "manifest.json").mkdir(parents=True)
    with pytest.raises(UserError, match=r"manifest\.json: cannot be read: Is a directory$"):
        load_manifest(tmp_path / "a")


def test_a_commit_edited_by_hand_is_noticed(tmp_path: Path) -> None:
    rollout(tmp_path)
    path = tmp_path / "iter_0002/rollout/commit.json"
    path.write_text(path.read_text().replace('"rows": 3', '"rows": 4'))
    with pytest.raises(UserError, match="changed by hand"):
        rollout(tmp_path)


def read_with_a_bit_flipped(path: Path, read: Callable[[], object]) -> list[object]:
    """Return what was read where nothing was noticed.

    Of every byte the lowest bit is flipped (another digit) and the sixth (the other case).
    """
    whole = path.read_bytes()
    unnoticed = []
    for index, bit in product(range(len(whole)), (0, 5)):
        damaged = bytearray(whole)
        damaged[index] ^= 1 << bit
        path.write_bytes(damaged)
        with suppress(UserError):
            unnoticed.append(read())
    return unnoticed


def test_a_flipped_bit_of_a_commit_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "c")
    commit = run_stage(ledger, 0, "update", {"model": "m"}, write_text("x"))
    path = tmp_path / "iter_0000/update/commit.json"
    unnoticed = read_with_a_bit_flipped(path, lambda: ledger.committed(0, "update"))
    assert all(read == commit for read in unnoticed)


def test_a_flipped_bit_of_a_manifest_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    run_dir = tmp_path / "a"
    manifest = open_run(run_dir, parse_config({}))
    unnoticed = read_with_a_bit_flipped(run_dir / "manifest.json", lambda: load_manifest(run_dir))
    assert all(read == manifest for read in unnoticed)  # 1e-06 and 1E-06 are one number


def test_a_digit_of_a_metric_that_makes_no_other_number_is_noticed(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "c")
    run_stage(ledger, 0, "update", {}, write_text("x", {"loss": 0.16161017616589865}))
    assert float("0.16161017616589864") == 0.16161017616589865
    path = tmp_path / "iter_0000/update/commit.json"
    path.write_text(path.read_text().replace("89865", "89864"))
    with pytest.raises(UserError, match="changed by hand"):
        ledger.committed(0, "update")


def test_other_inputs_or_another_configuration_are_refused(tmp_path: Path) -> None:
    rollout(tmp_path)
    with pytest.raises(UserError, match="made from another model"):
        run_stage(Ledger(tmp_path, "c"), 2, "rollout", {"model": "m2"}, refuse)
    with pytest.raises(UserError, match="another configuration"):
        Ledger(tmp_path, "d").committed(2, "rollout")


def test_a_folder_is_an_output_and_can_be_pruned(tmp_path: Path) -> None:
    def body(folder: Path) -> Produced:
        (folder / "checkpoint").mkdir()
        (folder / "checkpoint" / "weights").write_bytes(b"123")
        return Produced({"checkpoint": (folder / "checkpoint", 0)})

    ledger = Ledger(tmp_path, "c")
    commit = run_stage(ledger, 0, "update", {}, body)
    weights = tmp_path / "iter_0000/update/checkpoint/weights"
    weights.write_bytes(b"124")
    with pytest.raises(UserError, match="checkpoint: changed"):
        ledger.committed(0, "update")
    pruned = ledger.prune(commit, "checkpoint")
    assert not weights.parent.exists()
    assert ledger.committed(0, "update") == pruned
    assert pruned.content == commit.content


def test_next_point_is_the_first_stage_without_a_commit(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "c")

    def stages(iteration: int) -> list[str]:
        return ["rollout", "evolution", "update"] if iteration % 2 else ["rollout", "update"]

    assert ledger.next_point(2, stages) == Point(0, "rollout")
    for iteration, stage in [(0, "rollout"), (0, "update"), (1, "rollout")]:
        run_stage(ledger, iteration, stage, {}, write_text("x"))
    assert ledger.next_point(2, stages) == Point(1, "evolution")
    assert ledger.next_point(1, stages) is None
    assert [commit.iteration for commit in ledger.commits("rollout")] == [0, 1]


def test_a_run_of_another_configuration_names_the_key(tmp_path: Path) -> None:
    run_dir = tmp_path / "runs" / "a"
    open_run(run_dir, parse_config({"rollout": {"groups": 2}}))
    again = open_run(run_dir, parse_config({"rollout": {"groups": 2}, "versioning": {"every": 9}}))
    assert again == load_manifest(run_dir)
    with pytest.raises(UserError, match=r"manifest\.json: .*rollout\.groups=2, now it is 3"):
        open_run(run_dir, parse_config({"rollout": {"groups": 3}}))


def test_a_run_of_before_there_was_a_key_goes_on(tmp_path: Path) -> None:
    run_dir = tmp_path / "runs" / "a"
    manifest = open_run(run_dir, parse_config({}))
    older = deepcopy(dict(manifest.config))
    del older["credit"]["exploration_neutral"], older["env"]["options"]
    update_manifest(run_dir, config=older)
    assert check_run(run_dir, parse_config({})) is not None
    with pytest.raises(UserError, match=r"credit\.exploration_neutral=False, now it is True"):
        check_run(run_dir, parse_config({"credit": {"exploration_neutral": True}}))


def test_a_run_can_get_longer_and_not_shorter(tmp_path: Path) -> None:
    run_dir = tmp_path / "runs" / "a"
    open_run(run_dir, parse_config({"iterations": 2}))
    update_manifest(run_dir, mlflow_run="abc")
    longer = open_run(run_dir, parse_config({"iterations": 3}))
    assert (longer.config["iterations"], longer.mlflow_run) == (3, "abc")
    assert load_config(run_dir / "params.yaml").iterations == 3
    with pytest.raises(UserError, match=r"iterations=3, more than 2; a run can only get longer"):
        open_run(run_dir, parse_config({"iterations": 2}))


def test_a_manifest_keeps_what_is_added(tmp_path: Path) -> None:
    run_dir = tmp_path / "a"
    open_run(run_dir, parse_config({}))
    update_manifest(run_dir, mlflow_run="abc", flow_runs=("f1",))
    assert load_manifest(run_dir).mlflow_run == "abc"
    assert load_manifest(run_dir).flow_runs == ("f1",)
    assert load_manifest(run_dir).packages["numpy"]


@pytest.mark.parametrize("name", ["..", "a b", "-x", "ä"])
def test_names_that_make_bad_folders_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="expected a name of letters"):
        open_run(Path(f"{tmp_path}/runs/{name}"), parse_config({}))


HOLD = """
import sys, time
from pathlib import Path
from trajevolve.manifest import RunLock
with RunLock(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""


def test_the_lock_names_its_holder_and_dies_with_it(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(UserError, match=f"process {holder.pid} is working on this run"):
            RunLock(tmp_path).__enter__()
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    with RunLock(tmp_path), pytest.raises(UserError, match=f"process {os.getpid()} "):
        RunLock(tmp_path).__enter__()
    with RunLock(tmp_path):
        pass
