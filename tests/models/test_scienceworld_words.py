"""ScienceWorld's tokens, and lessons that are recordings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trajevolve.agent.agents import LanguageAgent
from trajevolve.config import AgentConfig, EnvConfig
from trajevolve.envs.scienceworld.clumsy import COLOURS
from trajevolve.models import scienceworld_practice
from trajevolve.models.practice import CHUNK
from trajevolve.models.scienceworld_practice import ScienceWorldPractice
from trajevolve.models.scienceworld_words import READING, name_groups, scienceworld_tokenizer
from trajevolve.models.warmup import Demonstrator
from trajevolve.rollout import Episode, play
from trajevolve.trajectory import Step, Trajectory

LOOK = """This room is called the greenhouse. In it, you see:
\tthe agent
\ta substance called air
\ta bee hive. The bee hive door is closed.
\ta flower pot 3 (containing a cherry tree in the adult stage, soil)
\ta flower pot 5 (containing nothing)
\ta sink, which is turned off. In the sink is: nothing.
You also see:
\tA door to the hallway (that is open)"""
START = (
    "Your task is to find a(n) plant. First, focus on the thing. Then, move it to the yellow box "
    f"in the living room.\n\n{LOOK}"
)
ACTIONS = (
    "focus on cherry tree", "pick up flower pot 3", "go to living room",
    "move flower pot 3 containing cherry tree and soil in inventory to yellow box",
)  # fmt: skip


def recording(name: str) -> Trajectory:
    seen = (START, "You focus on the cherry tree.", "You move the flower pot 3 to the inventory.",
            "You move to the living room.")  # fmt: skip
    steps = tuple(Step(o, None, a, a, True) for o, a in zip(seen, ACTIONS, strict=True))
    last = "You move the flower pot 3 to the yellow box."
    return Trajectory(name, name, "find-plant", "find", 0, steps, True, 1.0, 10.0,
                      termination="success", final_observation=last)  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return scienceworld_tokenizer([recording("a")])


def test_a_look_keeps_what_short_tasks_need() -> None:
    kept = "plant|yellow box|in|living room|greenhouse|bee|hive|flower pot 3|containing|cherry"
    assert "|".join(READING.split(START)) == f"{kept}|tree|soil|flower pot 5|sink"


def test_actions_come_back_word_for_word(tokenizer: Any) -> None:
    for action in (*ACTIONS, "look around", "wait1", "go to art studio", "open door to outside"):
        ids = tokenizer(action, add_special_tokens=False)["input_ids"]
        assert tokenizer.unk_token_id not in ids
        assert tokenizer.decode(ids) == action


def test_the_tokenizer_splits_as_its_pattern_says(tokenizer: Any) -> None:
    ids = tokenizer(START, add_special_tokens=False)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids) == READING.split(START)


def test_only_boxes_can_stand_for_each_other(tokenizer: Any) -> None:
    """What is alive cannot be copied from anywhere: its name has to mean something."""
    (boxes,) = name_groups(tokenizer)
    names = set(tokenizer.convert_ids_to_tokens(boxes))
    assert names == {f"{colour} box" for colour in COLOURS}


def test_lessons_play_recordings_all_before_any_again(monkeypatch: Any, tokenizer: Any) -> None:
    made = tuple(replace(recording(f"r{n}"), seed=n) for n in range(CHUNK // 2))
    monkeypatch.setattr(scienceworld_practice, "recorded", lambda practice: made)
    practice = ScienceWorldPractice()
    lesson = practice.lesson(1, "practice", 0)
    ids = [task.id for task in lesson.tasks]
    for half in (ids[: CHUNK // 2], ids[CHUNK // 2 :]):
        assert sorted(half) == sorted(t.id for t in made)
    assert ids[: CHUNK // 2] != ids[CHUNK // 2 :]
    agent = Demonstrator(practice.expert(None), tokenizer, AgentConfig())
    given = [Episode(task.id, task, 0) for task in lesson.tasks[:3]]
    for played in play(given, agent, lesson.make_environment, EnvConfig(step_limit=30)):
        assert played.actions == ACTIONS
        assert played.success and played.final_observation.startswith("You move the flower pot 3")
        assert all(step.response_ids for step in played.steps)
    assert isinstance(agent.writer, LanguageAgent)
