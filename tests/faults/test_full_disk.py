"""A disk that is full: one line, nothing that looks whole, and the same command goes on later.

The limit on the size of files stands for a full disk everywhere; where mounting is permitted a
small one is really filled up.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from faults.disks import fill, largest_file, small_disk
from faults.toyrun import contents, go_on, partial_files
from trajevolve.config import RunConfig
from trajevolve.errors import UserError
from trajevolve.experiment import Experiment
from trajevolve.ledger import Ledger, Produced, run_stage
from trajevolve.schedule import Stage, all_stages
from trajevolve.stages import STAGES

Contents = dict[tuple[int, str], str]
TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("stage", "limit", "file"),
    [
        ("labelling", 1000, "shards/iter_0001_labelling.parquet"),
        ("discriminator", 1000, "iter_0001/discriminator/checkpoint"),
        ("update", 50_000, "iter_0001/update/checkpoint"),
    ],
)
def test_a_shard_or_checkpoint_that_does_not_fit(
    stage: Stage, limit: int, file: str, run_dir: Path, config: RunConfig, whole: Contents
) -> None:
    go_on(run_dir, config, before=(1, stage))
    before = contents(run_dir)
    experiment = Experiment(run_dir, config, run_dir.parents[1])
    try:
        with pytest.raises(UserError) as caught, largest_file(limit):
            STAGES[stage](experiment, 1)
    finally:
        experiment.close()
    assert f"{run_dir / file}: cannot be written (File too large); raise" in str(caught.value)
    assert contents(run_dir) == before
    assert not (run_dir / file).exists()
    assert partial_files(run_dir) == []
    go_on(run_dir, config)
    assert contents(run_dir) == whole


@pytest.mark.parametrize(("limit", "file"), [(10, "metrics.json"), (100, "commit.json")])
def test_metrics_or_a_commit_that_does_not_fit(limit: int, file: str, tmp_path: Path) -> None:
    def body(folder: Path) -> Produced:
        return Produced(metrics={"loss": 0.5})

    ledger = Ledger(tmp_path, "c")
    refused = pytest.raises(UserError, match=rf"/{file}: cannot be written \(File too")
    with refused, largest_file(limit):
        run_stage(ledger, 0, "update", {}, body)
    assert not (tmp_path / "iter_0000" / "update" / file).exists()
    assert partial_files(tmp_path) == []
    assert ledger.committed(0, "update") is None
    assert run_stage(ledger, 0, "update", {}, body) == ledger.committed(0, "update")


@pytest.mark.parametrize("room", [0, 16_384, 262_144])
def test_a_disk_filled_up(
    room: int, half: Path, config: RunConfig, whole: Contents, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk:
        run_dir = Path(shutil.copytree(half, disk / "runs" / "toy"))
        filler = fill(disk, but=room)
        with pytest.raises(UserError, match=r"cannot be written \(No space left on device\); make"):
            go_on(run_dir, config)
        done = contents(run_dir)
        assert done.items() <= whole.items()
        assert done != whole
        assert partial_files(run_dir) == []
        filler.unlink()
        go_on(run_dir, config)
        assert contents(run_dir) == whole


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_command_on_a_disk_that_runs_full(
    config: RunConfig, whole: Contents, tmp_path: Path
) -> None:
    """Prefect's server keeps its files on the same disk and fails as well."""
    config = config.model_copy(update={"iterations": 4})  # long enough to be overtaken
    with small_disk(tmp_path / "disk", "60m") as disk:
        content = yaml.safe_dump(config.model_dump(mode="json"))
        (disk / "params.yaml").write_text(content)
        process = train(disk)
        deadline = time.monotonic() + 900
        while not (disk / "runs/toy/iter_0000/rollout/commit.json").exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        filler = fill(disk)
        _, said = process.communicate(timeout=900)
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        assert process.returncode == 2, said
        assert len(errors) == 1, said
        assert "Error logging to API" not in said
        assert "No space left on device" in errors[0]
        assert "make room" in errors[0]
        assert partial_files(disk / "runs") == []
        filler.unlink()
        process = train(disk)
        output, said = process.communicate(timeout=900)
        assert process.returncode == 0, said
        assert json.loads(output)["run"] == "toy"
        done = contents(disk / "runs" / "toy")
        assert done.keys() == set(all_stages(config))
        assert done.items() >= {at: md5 for at, md5 in whole.items() if at[0] < 2}.items()


def train(project: Path) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return subprocess.Popen(
        [sys.executable, "-m", "trajevolve", "train", "--run", "toy", "--json"],
        cwd=project,
        env={**kept, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
