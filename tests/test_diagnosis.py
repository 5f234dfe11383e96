"""`doctor`: what it looks for, and how it reads in a pipe."""

import json

import pytest

from trajevolve.cli.main import main


def test_every_extra_of_an_environment_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert {"alfworld engine", "scienceworld", "webshop"} <= found.keys()
    webshop = found["webshop"]
    assert not webshop["required"]
    assert webshop["ok"] != ("EXTRAS=webshop" in webshop["advice"])


def test_a_table_in_a_pipe_ends_its_lines_where_the_text_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert [line for line in lines if line != line.rstrip()] == []
