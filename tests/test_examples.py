"""What the example's README says is what happens."""

from pathlib import Path

import trajevolve
from trajevolve.credit.rows import verify_rows

FOLDER = Path(__file__).parents[1] / "examples" / "custom_environment"


def test_the_corridor(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    env = trajevolve.make_env("corridor:Corridor")
    report = trajevolve.check_environment(env, env.tasks("all"))
    assert report.passed, str(report)
    assert env.reset(env.task("0")).admissible == env.candidates() == ("look", "right")
    lines = (FOLDER / "trajectories.jsonl").read_text().splitlines()
    first, second = verify_rows(lines, env)
    assert first["labels"] == [1, 1, 0, 0, 1, 1, 1, 1]
    assert first["minimal"] == ["right", "look", "take key", "right", "right", "unlock door"]
    assert second["labels"] is None
