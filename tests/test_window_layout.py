"""One real iteration with the paper's layout: a fresh chat prompt every step."""

import math
import shutil

import pytest
from transformers import AutoTokenizer

from trajevolve import stages
from trajevolve.config import parse_config
from trajevolve.experiment import Experiment
from trajevolve.models.loading import BUILTIN
from trajevolve.schedule import stages as stages_of

CHATML = (
    "{% for m in messages %}{{ '<obs>' + m.role + ' ' + m.content + '<eos>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<act>' }}{% endif %}"
)


@pytest.fixture
def chat_model(tmp_path):
    """The built-in weights behind another chat template."""
    folder = tmp_path / "model"
    shutil.copytree(BUILTIN / "alfworld" / "policy", folder)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = CHATML
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("answer", ["action", "tagged"])
def test_an_iteration_with_the_window_layout(tmp_path, chat_model, answer):
    config = parse_config(
        {
            "iterations": 1,
            "threads": 1,
            "model": {"name": str(chat_model)},
            "agent": {"layout": "window", "answer": answer, "max_prompt_tokens": 400},
            "env": {"step_limit": 4},
            "rollout": {"groups": 2, "group_size": 3},
            "evolution": {"every": 1},
            "learner": {"lr": 1e-3, "mini_batch_steps": 8},
            "evaluation": {"panel_size": 2},
            "tracking": {"enabled": False},
            "versioning": {"enabled": False},
        }
    )
    experiment = Experiment(tmp_path / "run", config, project=tmp_path)
    for stage in stages_of(config, 0):
        commit = stages.STAGES[stage](experiment, 0)
    played = experiment.read(0, "advantages")
    experiment.close()
    assert {trajectory.layout for trajectory in played} == {"window"}
    for trajectory in played:
        for number, step in enumerate(trajectory.steps):
            assert 0 < len(step.prompt_ids) <= 400
            assert len(step.old_logprobs) == len(step.response_ids) > 0
            assert len(step.prompt_ids) > 60 or number == 0
    assert commit.stage == "update" and commit.metrics["steps"] == sum(map(len, played))
    assert all(math.isfinite(value) for value in commit.metrics.values())
