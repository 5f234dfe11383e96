import json
from pathlib import Path

import pytest

from trajevolve.envs.alfworld.domain import DOMAIN_HASH, GRAMMAR_HASH, sha256, split_grammar
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.export import write_games
from trajevolve.envs.alfworld.generator import generate_games
from trajevolve.errors import UserError


def test_games_without_the_published_texts_name_them_by_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trajevolve.envs.alfworld.export.find_spec", lambda name: None)
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "none"))
    written = write_games(tmp_path / "out", 6, seed=8, split="train")
    assert not written.playable_by_engine and "real engine does not" in written.note
    game = json.loads(written.files[0].read_text())
    assert (game["pddl_domain_sha256"], game["grammar_sha256"]) == (DOMAIN_HASH, GRAMMAR_HASH)
    tasks = AlfworldEnvironment(tmp_path / "out").tasks("train")
    assert {t.digest for t in tasks} == {t.digest for t in generate_games(6, 8)}


def test_games_with_the_published_texts(tmp_path: Path, real_data: Path) -> None:
    written = write_games(tmp_path / "out", 6, seed=8, data=real_data)
    assert written.playable_by_engine and not written.note
    for file in written.files:
        game = json.loads(file.read_text())
        assert set(game) == {"pddl_domain", "grammar", "pddl_problem", "solvable", "walkthrough"}
        bare, sentence = split_grammar(game["grammar"], str(file))
        assert (sha256(game["pddl_domain"]), sha256(bare)) == (DOMAIN_HASH, GRAMMAR_HASH)
        assert f"Your task is to: {sentence}." in game["grammar"]
        about = json.loads(file.with_name("traj_data.json").read_text())
        assert file.parts[-3].startswith(about["task_type"])
        env = AlfworldEnvironment()
        env.reset(env.task(str(file)))
        won = [env.advance(command).success for command in game["walkthrough"]]
        assert won == [False] * (len(won) - 1) + [True]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        write_games(tmp_path / "file", 1, seed=0)
