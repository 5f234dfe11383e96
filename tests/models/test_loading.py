import shutil

import pytest

from trajevolve.config import ModelConfig
from trajevolve.errors import UserError
from trajevolve.models.loading import BUILTIN, load_policy


def test_truncated_weights_are_one_clear_error(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(BUILTIN / "alfworld" / "policy", folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(UserError, match="cannot be loaded"):
        load_policy(ModelConfig(name=str(folder)))


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(UserError, match=r"has no config\.json"):
        load_policy(ModelConfig(name=str(tmp_path)))
