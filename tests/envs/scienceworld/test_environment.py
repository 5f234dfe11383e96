"""The real simulator behind the contract. In `boil/0` the episode starts in the hallway."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from trajevolve.cli.main import main
from trajevolve.envs import probe
from trajevolve.envs.checker import check_environment
from trajevolve.envs.scienceworld.splits import SPLITS, variations

if TYPE_CHECKING:
    from trajevolve.envs.scienceworld.environment import ScienceWorldEnvironment

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("installed")]
HUNDRED = "lifespan-longest-lived/4"
SOLUTION = ("teleport to outside", "focus on egg parrot", "wait1")


def told(env: ScienceWorldEnvironment, *actions: str) -> list[tuple[bool, bool]]:
    """Feasible and costs_step of each action."""
    answers = [env.step(action) for action in actions]
    return [(answer.feasible, answer.costs_step) for answer in answers]


def test_the_start_shows_the_task_the_place_and_how_actions_are_made(
    science: ScienceWorldEnvironment,
) -> None:
    task = science.task("boil/0")
    start = science.reset(task)
    assert task.text.startswith("Your task is to boil water.")
    assert start.text.startswith(f"{task.text}\n\nThis room is called the hallway.")
    assert start.admissible is None
    assert {"open OBJ", "pour OBJ in OBJ", "wait1"} <= set(start.templates)
    in_sight = science.objects()
    assert {"kitchen", "painting"} & set(in_sight) and len(in_sight) < 120
    assert "open kitchen door" in science.candidates() or "go kitchen" in science.candidates()
    assert "teleport kitchen" in science.corrections("teleprt to kitchn")


def test_things_in_sight_are_those_of_the_state_after_the_action(
    science: ScienceWorldEnvironment,
) -> None:
    science.reset(science.task("boil/0"))
    start = science.objects()
    science.step("xyzzy")
    assert science.objects() == start
    science.step("teleport to kitchen")
    assert "stove" in science.objects() and "stove" not in start
    science.advance("teleport to bathroom")
    science.step("inventory")
    assert "toilet" in science.objects()
    assert "stove" not in " ".join(science.candidates())


def test_what_an_action_costs_and_whether_it_counts(science: ScienceWorldEnvironment) -> None:
    science.reset(science.task("boil/0"))
    done, free, nothing, soft = (True, True), (True, False), (False, False), (False, True)
    assert told(science, "look around", "inventory", "task") == [free] * 3
    assert told(science, "xyzzy", "", "0", "open freezer", "x" * 5000) == [nothing] * 5
    assert told(science, "teleport to kitchen", "open freezer", "look at stove") == [done] * 3
    assert told(science, "open freezer", "use thermometer on freezer") == [soft] * 2


def test_an_ambiguous_request_is_settled_within_its_step(science: ScienceWorldEnvironment) -> None:
    """With doors closed the first of six is opened, and the next action is no answer to it."""
    science.reset(science.task("boil/0@openContainers"))
    settled = science.step("open door")
    assert settled.observation.text.splitlines()[1] == "The door is now open."
    assert settled.observation.text.startswith("(open door ")
    assert (settled.feasible, settled.costs_step) == (True, True)
    seen = science.step("look around").observation.text
    assert seen.startswith("This room") and "(that is open)" in seen
    again = science.step("open door")
    assert (again.feasible, again.costs_step) == (False, True)


def test_the_score_of_the_episode_before_is_forgotten(science: ScienceWorldEnvironment) -> None:
    """The simulator itself keeps a wrong focus's -100 into the next episode until it is asked."""
    task = science.task("boil/0")
    science.reset(task)
    assert told(science, "teleport to kitchen", "focus on stove")
    science.reset(task)
    first = science.step("task")
    assert (first.done, first.score, first.reward) == (False, 0.0, 0.0)


def test_success_is_a_score_of_a_hundred(science: ScienceWorldEnvironment) -> None:
    science.reset(science.task(HUNDRED))
    answers = [science.step(action) for action in SOLUTION[:2]]
    assert [answer.success for answer in answers] == [False, True]
    assert answers[1].score == 1.0 and answers[1].done and science.success()
    assert sum(answer.reward for answer in answers) == pytest.approx(1.0)


def test_a_wrong_focus_ends_the_episode_without_success(science: ScienceWorldEnvironment) -> None:
    science.reset(science.task("boil/0"))
    science.step("teleport to kitchen")
    wrong = science.step("focus on stove")
    assert (wrong.done, wrong.success, wrong.score) == (True, False, 0.0)
    assert wrong.reward <= -1.0


def test_the_benchmarks_own_solution_solves_the_task(science: ScienceWorldEnvironment) -> None:
    task = science.task("chemistry-mix/2")
    gold = science.gold(task)
    science.reset(task)
    solved = [science.advance(action).success for action in gold[:15]]
    assert solved == [False] * 14 + [True], "the last one only waits"
    assert gold[15:] == ("wait1",)


def test_the_manifest_is_the_simulators_own_split(science: ScienceWorldEnvironment) -> None:
    science.reset(science.task("melt/0"))
    with science.pool.lent(science._episode) as slot:
        server = science.pool.process(slot)._server
        listed = {
            "train": list(server.getVariationsTrain()),
            "dev": list(server.getVariationsDev()),
            "test": list(server.getVariationsTest()),
        }
    assert listed == {split: list(variations("melt", split)) for split in SPLITS}


def test_it_keeps_the_contract(
    science: ScienceWorldEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "WALKS_PER_TASK", 1)
    monkeypatch.setattr(probe, "WALK_LENGTH", 4)
    report = check_environment(science, science.tasks("train:find-plant", 1))
    assert report.passed, str(report)


def test_play_and_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "\n".join(SOLUTION[:2]).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines)))
    assert main(["play", "--env", "scienceworld", "--task", HUNDRED]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["won"] for answer in answers] == [False, False, True]
    assert answers[0]["admissible"] is None and "focus on OBJ" in answers[0]["templates"]

    rows = [
        {"task": HUNDRED, "actions": ["look around", "wait1", *SOLUTION[:2]]},
        {"task": "lifespan-longest-lived/4@none", "actions": SOLUTION[:2]},
        {"task": "boill/1", "actions": SOLUTION[:2]},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["verify", "--env", "scienceworld", "--input", str(path)]) == 1
    easy, none, unknown = map(json.loads, capsys.readouterr().out.splitlines())
    assert easy["success"] and easy["labels"] == [1, 0, 1, 1], "looking counts by default"
    assert not none["success"], "there is no teleporting without simplifications"
    assert "task type 'boill': unknown" in unknown["error"]
