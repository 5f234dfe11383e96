import json
import shutil

import pytest
import torch
from transformers import AutoModelForCausalLM

from trajevolve.checkpoint import read_checkpoint, write_checkpoint
from trajevolve.errors import UserError
from trajevolve.trajectory import Group


def write(directory, text="weights", **facts):
    write_checkpoint(directory, lambda d: (d / "model.bin").write_text(text), facts)


def names(root):
    return sorted(path.name for path in root.iterdir())


def iterate(learner, trajectories, iteration):
    groups = [Group("g", tuple(learner.old_logprobs(trajectories)))]
    return learner.update(groups, seed=3, iteration=iteration)


def test_resuming_is_bit_exact(make_learner, make_trajectories, tmp_path):
    trajectories = make_trajectories(6, evolved=1)
    fields = {"mini_batch_steps": 5, "epochs": 2}
    straight = make_learner(**fields)
    iterate(straight, trajectories, 1)
    straight.save(tmp_path / "a", iteration=1)
    expected = iterate(straight, trajectories, 2)

    resumed = make_learner(seed=7, **fields)
    assert resumed.load(tmp_path / "a") == 1
    assert iterate(resumed, trajectories, 2) == expected
    for name, value in straight.model.state_dict().items():
        assert torch.equal(value, resumed.model.state_dict()[name]), name


def test_transformers_reads_the_checkpoint(make_learner, tmp_path):
    learner = make_learner()
    learner.save(tmp_path / "a")
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "a")
    for name, value in learner.model.state_dict().items():
        assert torch.equal(value, loaded.state_dict()[name])
    assert not list((tmp_path / "a").rglob("*.bin")) + list((tmp_path / "a").rglob("*.pt"))


def test_non_finite_updates_are_remembered(make_learner, tmp_path):
    learner = make_learner()
    learner.bad_updates = 3
    learner.save(tmp_path / "a")
    other = make_learner()
    other.load(tmp_path / "a")
    assert other.bad_updates == 3


def test_another_models_checkpoint_is_refused(make_learner, make_model, tmp_path):
    make_learner().save(tmp_path / "a")
    other = make_learner()
    other.model.resize_token_embeddings(17)
    with pytest.raises(UserError, match="a: a checkpoint of another model"):
        other.load(tmp_path / "a")


@pytest.mark.parametrize("victim", ["model.safetensors", "optimizer.safetensors", "config.json"])
def test_a_damaged_file_is_named(make_learner, make_trajectories, tmp_path, victim):
    learner = make_learner()
    iterate(learner, make_trajectories(2), 0)
    learner.save(tmp_path / "a")
    path = tmp_path / "a" / victim
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"{victim}: damaged"):
        learner.load(tmp_path / "a")
    path.unlink()
    with pytest.raises(UserError, match=rf"{victim}: missing"):
        learner.load(tmp_path / "a")


def test_a_folder_without_a_readable_record_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"checkpoint\.json: no such file"):
        read_checkpoint(tmp_path / "nothing")
    write(tmp_path / "a")
    record = tmp_path / "a" / "checkpoint.json"
    record.write_text(json.dumps({"schema_version": 7}))
    with pytest.raises(UserError, match="schema_version 7, this version reads 1"):
        read_checkpoint(tmp_path / "a")
    record.write_text(json.dumps({"schema_version": 1}))
    with pytest.raises(UserError, match=r"checkpoint\.json: lists no files"):
        read_checkpoint(tmp_path / "a")
    record.write_text("{")
    with pytest.raises(UserError, match=r"checkpoint\.json: cannot be read"):
        read_checkpoint(tmp_path / "a")


def test_a_failed_write_leaves_the_older_checkpoint(tmp_path):
    write(tmp_path / "a", "old", iteration=1)

    def fail(directory):
        (directory / "model.bin").write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_checkpoint(tmp_path / "a", fail, {"iteration": 2})
    assert read_checkpoint(tmp_path / "a")["iteration"] == 1
    assert (tmp_path / "a" / "model.bin").read_text() == "old"
    assert names(tmp_path) == ["a"]
    (tmp_path / ".a.unfinished").mkdir()
    (tmp_path / ".a.unfinished" / "half.bin").write_text("left by a killed process")
    write(tmp_path / "a", "new", iteration=2)
    assert read_checkpoint(tmp_path / "a")["iteration"] == 2
    assert (names(tmp_path), names(tmp_path / "a")) == (["a"], ["checkpoint.json", "model.bin"])


def test_a_crash_between_the_renames_loses_nothing(tmp_path):
    write(tmp_path / "a", "old", iteration=1)
    (tmp_path / "a").rename(tmp_path / ".a.replaced")
    assert read_checkpoint(tmp_path / "a")["iteration"] == 1
    shutil.copytree(tmp_path / "a", tmp_path / ".a.replaced")
    write(tmp_path / "a", "new", iteration=2)
    assert names(tmp_path) == ["a"]
