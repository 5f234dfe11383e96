import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from credit.judging import (
    as_failures,
    episode,
    errands,
    step,
    tiny_discriminator,
    tiny_model,
    tiny_tokenizer,
)
from trajevolve.config import ModelConfig
from trajevolve.credit.discriminator_loading import open_discriminator
from trajevolve.credit.pretraining import pretrain_discriminator
from trajevolve.errors import UserError
from trajevolve.files import content_md5


def weights(discriminator):
    return {n: p.detach().clone() for n, p in discriminator.model.named_parameters()}


def verdicts(trajectories):
    return [s.predicted for t in trajectories for s in t.steps]


def test_untrained_it_predicts_nothing():
    stale = replace(errands(1, 0)[0].steps[0], predicted=1, probability=0.9)
    (judged,) = tiny_discriminator().predict([episode(stale)])
    assert (judged.steps[0].predicted, judged.steps[0].probability) == (None, None)


def test_only_valid_changing_steps_are_asked():
    discriminator = tiny_discriminator()
    discriminator.fit(errands(4, 0), seed=0)
    mixed = episode(
        step("go to room 1"),
        step("look"),
        step("go to room 2", valid=False),
        step(None),
        step("look", valid=False),
        success=False,
    )
    judged, silent = discriminator.predict([mixed, episode(step("look"), success=False)])
    assert [s.predicted for s in judged.steps[1:]] == [1, 0, 0, 0]
    assert [s.probability for s in judged.steps[1:]] == [None] * 4
    assert 0.0 < judged.steps[0].probability < 1.0
    assert judged.steps[0].predicted == (judged.steps[0].probability >= 0.5)
    assert silent.steps[0].predicted == 1


def test_predictions_do_not_depend_on_the_company():
    discriminator = tiny_discriminator(batch_size=3)
    discriminator.fit(errands(6, 0), seed=0)
    failures = as_failures(errands(7, 1))
    together = discriminator.predict(failures)
    alone = [discriminator.predict([failure])[0] for failure in failures]
    assert [t.id for t in together] == [t.id for t in failures]
    for one, other in zip(together, alone, strict=True):
        assert [s.probability for s in one.steps] == pytest.approx(
            [s.probability for s in other.steps], abs=1e-5
        )


@pytest.mark.parametrize("tied", [True, False])
def test_only_adapter_and_markers_are_trained(tied):
    discriminator = tiny_discriminator(tied=tied)
    before = weights(discriminator)
    discriminator.fit(errands(8, 0), seed=0)
    changed = {n for n, w in weights(discriminator).items() if not torch.equal(w, before[n])}
    assert changed
    assert all("lora_" in name or "trainable_tokens" in name for name in changed)
    assert any("trainable_tokens" in name for name in changed)


def test_it_learns_a_rule_and_beats_both_baselines():
    discriminator = tiny_discriminator(lora_rank=8, lora_alpha=16)
    report = pretrain_discriminator(
        discriminator, errands(120, 0), errands(30, 1), seed=0, epochs=8, lr=1e-2
    )
    scores = report.heldout
    assert scores["discriminator/heldout/accuracy"] > 0.9
    assert scores["discriminator/heldout/verb/accuracy"] < 0.8
    assert scores["discriminator/heldout/majority/accuracy"] < 0.8
    assert report.training["labels"] == sum(len(t) for t in errands(120, 0))


def test_only_verified_successes_are_learned_from():
    discriminator = tiny_discriminator()
    before = weights(discriminator)
    unverified = [replace(t, verified=False) for t in errands(3, 0)]
    blind = [episode(step("look", 1))]
    metrics = discriminator.fit([*as_failures(errands(3, 1)), *unverified, *blind], seed=0)
    assert metrics["examples"] == metrics["updates"] == 0
    assert not discriminator.trained
    assert all(torch.equal(w, before[n]) for n, w in weights(discriminator).items())


def test_balanced_weights_even_out_the_classes():
    # 3 necessary to 1 redundant: 4 / (2 * 1) = 2 and 4 / (2 * 3) = 2/3.
    balanced = tiny_discriminator()
    assert balanced._class_weights([1, 1, 0, 1]).tolist() == pytest.approx([2.0, 2 / 3])
    assert balanced._class_weights([1, 1]).tolist() == [1.0, 1.0]
    plain = tiny_discriminator(class_weights="none")
    assert plain._class_weights([1, 1, 0, 1]).tolist() == [1.0, 1.0]


def test_half_of_the_examples_have_their_tail_hidden():
    discriminator = tiny_discriminator(batch_size=1)
    lessons = errands(40, 0)
    whole = {discriminator.encoder.encode(t, range(len(t))).prefix for t in lessons}
    seen = [batch[0] for batch in discriminator._lessons(lessons, 1, seed=5)]
    hidden = [example for example in seen if example.input.prefix not in whole]
    assert len(seen) == 40
    assert len(hidden) == 20
    again = [batch[0] for batch in discriminator._lessons(lessons, 1, seed=5)]
    assert again == seen
    other = [batch[0] for batch in discriminator._lessons(lessons, 1, seed=6)]
    assert other != seen


def test_training_goes_on_exactly_after_a_restart(tmp_path):
    unbroken = tiny_discriminator()
    unbroken.fit(errands(20, 0), seed=1)
    unbroken.save(tmp_path / "saved")
    unbroken.fit(errands(20, 2), seed=2)

    resumed = tiny_discriminator()
    resumed.load(tmp_path / "saved")
    assert resumed.trained
    assert resumed.updates == 3
    resumed.fit(errands(20, 2), seed=2)
    assert resumed.updates == unbroken.updates == 6
    expected = weights(unbroken)
    assert all(torch.equal(w, expected[n]) for n, w in weights(resumed).items())
    failures = as_failures(errands(3, 3))
    assert resumed.predict(failures) == unbroken.predict(failures)


def test_saving_replaces_and_holds_no_pickle(tmp_path):
    discriminator = tiny_discriminator()
    discriminator.save(tmp_path / "saved")
    discriminator.fit(errands(4, 0), seed=0)
    discriminator.save(tmp_path / "saved")
    assert {f.suffix for f in (tmp_path / "saved").iterdir()} == {".json", ".safetensors"}
    fresh = tiny_discriminator()
    fresh.load(tmp_path / "saved")
    assert fresh.trained


def test_an_adapter_of_another_rank_is_refused(tmp_path):
    tiny_discriminator().save(tmp_path / "saved")
    with pytest.raises(UserError, match="lora_rank"):
        tiny_discriminator(lora_rank=2).load(tmp_path / "saved")
    with pytest.raises(UserError, match="no such file"):
        tiny_discriminator().load(tmp_path / "missing")


def test_it_opens_from_local_folders(tmp_path):
    discriminator = tiny_discriminator()
    tiny_model(len(tiny_tokenizer())).save_pretrained(tmp_path / "base")
    tiny_tokenizer().save_pretrained(tmp_path / "base")
    pretrain_discriminator(discriminator, errands(8, 0), errands(2, 1), seed=0, epochs=1)
    discriminator.save(tmp_path / "adapter")
    config = discriminator.config.model_copy(
        update={"model": str(tmp_path / "base"), "adapter": str(tmp_path / "adapter")}
    )
    opened = open_discriminator(config, ModelConfig(device="cpu"), "alfworld", seed=0)
    failures = as_failures(errands(3, 3))
    assert opened.predict(failures) == discriminator.predict(failures)
    assert not opened.optimiser.state
    untrained = config.model_copy(update={"adapter": None})
    assert not open_discriminator(untrained, ModelConfig(device="cpu"), "alfworld", 0).trained
    missing = config.model_copy(update={"adapter": str(tmp_path / "nowhere")})
    with pytest.raises(UserError, match="nowhere"):
        open_discriminator(missing, ModelConfig(device="cpu"), "alfworld", 0)


def test_a_saved_discriminator_is_the_same_in_every_process(tmp_path):
    code = (
        "import sys; from pathlib import Path; from credit.judging import tiny_discriminator\n"
        "tiny_discriminator().save(Path(sys.argv[1]))"
    )
    path = str(Path(__file__).parents[1])
    for number in ("1", "2"):
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": number}
        command = [sys.executable, "-c", code, str(tmp_path / number)]
        subprocess.run(command, env=environment, check=True)
    assert content_md5(tmp_path / "1") == content_md5(tmp_path / "2")
