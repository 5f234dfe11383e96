"""Damaged files of a run: named in one line with what to do, and never trained on.

Every kind of file that a resumed run reads, times every kind of damage. A commit that is deleted is
no damage: its stage is done again. The remedy that the line gives is tried.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.toyrun import contents, go_on, partial_files
from trajevolve.config import RunConfig
from trajevolve.errors import UserError

UPDATE = "iter_0000/update"
ADAPTER = "iter_0000/discriminator"
EVALUATION = "iter_0000/evaluation_before"
#: What -> (the file, the stage to delete according to the message, the run that reads it next).
FILES = {
    "manifest": ("manifest.json", None, "half"),
    "shard of rollouts": ("shards/iter_0001_rollout.parquet", "iter_0001/rollout", "half"),
    "shard of labels": (
        "shards/iter_0001_verification.parquet",
        "iter_0001/verification",
        "half",
    ),
    "commit": ("iter_0001/rollout/commit.json", "iter_0001/rollout", "half"),
    "commit of an earlier iteration": (f"{UPDATE}/commit.json", UPDATE, "half"),
    "weights": (f"{UPDATE}/checkpoint/model.safetensors", UPDATE, "late"),
    "optimiser": (f"{UPDATE}/checkpoint/optimizer.safetensors", UPDATE, "late"),
    "record of a checkpoint": (f"{UPDATE}/checkpoint/checkpoint.json", UPDATE, "late"),
    "adapter": (f"{ADAPTER}/checkpoint/adapter_model.safetensors", ADAPTER, "half"),
    "evaluation": (f"{EVALUATION}/evaluation.json", EVALUATION, "finished"),
}


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "truncated": truncate,
    "flipped": flip,
    "emptied": empty,
    "deleted": Path.unlink,
}
CASES = [
    (file, damage)
    for file in FILES
    for damage in DAMAGES
    if not (file.startswith("commit") and damage == "deleted")
]


@pytest.mark.parametrize(("file", "damage"), CASES)
def test_it_is_named_and_not_trained_on(
    file: str,
    damage: str,
    config: RunConfig,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    name, stage, start = FILES[file]
    run_dir = tmp_path / "runs" / "toy"
    shutil.copytree(request.getfixturevalue(start), run_dir)
    DAMAGES[damage](run_dir / name)
    with pytest.raises(UserError) as caught:
        go_on(run_dir, config)
    line = str(caught.value)
    assert "\n" not in line
    assert name in line or f"{name.rpartition('/')[0]}: " in line
    assert (f"delete {run_dir / stage}" if stage else "--run NAME") in line.replace(
        "another --run name", "--run NAME"
    )
    learned = (run_dir / "iter_0001" / "update" / "commit.json").exists()
    assert learned == (start == "finished")


def test_a_manifest_that_is_still_json(run_dir: Path, config: RunConfig) -> None:
    path = run_dir / "manifest.json"
    content = path.read_text()
    name = '"config_digest": "'
    digit = content[content.index(name) + len(name)]
    path.write_text(content.replace(name + digit, name + ("0" if digit != "0" else "1")))
    with pytest.raises(UserError, match=r"manifest\.json: damaged, or changed by hand; restore it"):
        go_on(run_dir, config)


@pytest.mark.parametrize("file", ["shard of labels", "weights", "adapter"])
def test_the_remedy_helps(
    file: str, run_dir: Path, config: RunConfig, whole: dict[tuple[int, str], str]
) -> None:
    name, stage, _ = FILES[file]
    flip(run_dir / name)
    assert stage is not None
    shutil.rmtree(run_dir / stage)
    go_on(run_dir, config)
    assert contents(run_dir) == whole


@pytest.mark.parametrize("file", ["commit", "commit of an earlier iteration"])
def test_a_deleted_commit_is_a_stage_to_do_again(
    file: str, run_dir: Path, config: RunConfig, whole: dict[tuple[int, str], str]
) -> None:
    (run_dir / FILES[file][0]).unlink()
    go_on(run_dir, config)
    assert contents(run_dir) == whole
    assert partial_files(run_dir) == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_only_remembers_is_written_again(
    damage: str,
    finished: Path,
    config: RunConfig,
    whole: dict[tuple[int, str], str],
    tmp_path: Path,
) -> None:
    """That an iteration was shown in MLflow, and the configuration as the user may read it."""
    run_dir = Path(shutil.copytree(finished, tmp_path / "runs" / "toy"))
    for name in ("iter_0000/recorded.json", "params.yaml"):
        DAMAGES[damage](run_dir / name)
    go_on(run_dir, config)
    assert contents(run_dir) == whole


def test_an_old_shard_that_changed_is_named_and_not_versioned(
    finished: Path, config: RunConfig, tmp_path: Path
) -> None:
    """Nothing reads the first iteration's shards any more when a finished run gets longer."""
    run_dir = Path(shutil.copytree(finished, tmp_path / "runs" / "toy"))
    truncate(run_dir / "shards" / "iter_0000_advantages.parquet")
    longer = config.model_copy(update={"iterations": config.iterations + 1})
    with pytest.raises(UserError, match=r"iter_0000_advantages\.parquet: changed since stage"):
        go_on(run_dir, longer)
