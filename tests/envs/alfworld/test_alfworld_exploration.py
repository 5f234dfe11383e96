"""Which steps count as search: first visits and openings before what is needed was seen."""

from dataclasses import replace

import pytest
from toys.script import Script

from trajevolve.advantages.step_credit import step_advantages
from trajevolve.config import CreditConfig, EnvConfig
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.games import task_of
from trajevolve.envs.alfworld.problem import Goal, Problem, render_problem
from trajevolve.envs.contract import Task
from trajevolve.rollout import Episode, Kept, play
from trajevolve.trajectory import Group, Trajectory

# The egg and mug 2 are on the table, both mugs and a lamp in the closed cabinet beside the shelf.
COOL_EGG = Goal("pick_cool_then_place_in_recep", "EggType", "ShelfType")
TWO_MUGS = Goal("pick_two_obj_and_place", "MugType", "DiningTableType")
MUGS_ON_SHELF = Goal("pick_two_obj_and_place", "MugType", "ShelfType")
MUG_IN_LIGHT = Goal("look_at_obj_in_light", "MugType", "DeskLampType")


def game(kitchen: Problem, goal: Goal) -> Task:
    return task_of("kitchen/0", goal.type, "x", render_problem(replace(kitchen, goal=goal)))


def played(task: Task, actions: list[str]) -> Trajectory:
    config = EnvConfig(step_limit=len(actions))
    (episode,) = play([Episode("e", task, 0)], Script(actions), AlfworldEnvironment, config)
    return episode


def searches(trajectory: Trajectory) -> list[str]:
    return [str(step.action) for step in trajectory.steps if step.exploring]


@pytest.mark.parametrize(
    ("goal", "actions", "expected"),
    [
        # The second visit is no search, nor is what could not be done, nor what came after the egg.
        (
            COOL_EGG,
            ["go to fridge 1", "open microwave 1", "open fridge 1", "go to shelf 1",
             "go to fridge 1", "look", "go to diningtable 1", "go to microwave 1",
             "open microwave 1"],
            [0, 2, 3, 6],
        ),
        # One mug is not two; both are seen when the cabinet opens.
        (
            TWO_MUGS,
            ["go to diningtable 1", "go to cabinet 1", "open cabinet 1", "go to fridge 1"],
            [0, 1, 2],
        ),
        # With one of two mugs in hand the shelf is where it goes, not where another is looked for.
        (
            MUGS_ON_SHELF,
            ["go to diningtable 1", "take mug 2 from diningtable 1", "go to shelf 1",
             "move mug 2 to shelf 1", "open cabinet 1", "go to fridge 1"],
            [0, 4],
        ),
        # The mug lies in sight, the lamp has to be looked for as well.
        (
            MUG_IN_LIGHT,
            ["go to diningtable 1", "take mug 2 from diningtable 1", "go to cabinet 1",
             "open cabinet 1", "go to fridge 1"],
            [0, 2, 3],
        ),
    ],
)  # fmt: skip
def test_search_ends_when_all_that_is_needed_was_seen(
    kitchen: Problem, goal: Goal, actions: list[str], expected: list[int]
) -> None:
    episode = played(game(kitchen, goal), actions)
    assert [n for n, step in enumerate(episode.steps) if not step.valid] in ([], [1])
    assert [n for n, step in enumerate(episode.steps) if step.exploring] == expected


def test_recorded_steps_and_what_was_no_action_keep_their_places(kitchen: Problem) -> None:
    said = ["go to fridge 1", None, "open fridge 1", "go to diningtable 1", "go to shelf 1"]
    kept = tuple(Kept(action or "hm", (), action) for action in said)
    episode = Episode("e", game(kitchen, COOL_EGG), 0, kept=kept, resample=False)
    (child,) = play([episode], Script([]), AlfworldEnvironment, EnvConfig())
    assert [step.exploring for step in child.steps] == [True, False, True, True, False]


def test_neutral_credit_leaves_search_alone_and_judges_the_rest(kitchen: Problem) -> None:
    task = game(kitchen, COOL_EGG)
    plan = ["go to fridge 1", "go to diningtable 1", "take egg 1 from diningtable 1",
            "go to microwave 1", "go to fridge 1", "cool egg 1 with fridge 1", "go to shelf 1",
            "move egg 1 to shelf 1"]  # fmt: skip
    episode = played(task, plan)
    assert episode.success and searches(episode) == ["go to fridge 1", "go to diningtable 1"]
    config = CreditConfig(exploration_neutral=True)
    (labelled,), _ = verify_trajectories(AlfworldEnvironment(), {task.id: task}, [episode], config)
    assert [step.label for step in labelled.steps] == [0, 1, 1, 0, 1, 1, 1, 1]
    group = Group(task.id, (labelled,))
    assert step_advantages(group, config) == ((0.0, 0.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0),)
    assert step_advantages(group, CreditConfig()) == ((-1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0),)
