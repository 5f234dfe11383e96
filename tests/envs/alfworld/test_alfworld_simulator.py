"""The simulator against the published domain, worked out by hand on one small room."""

from dataclasses import replace

import pytest

from trajevolve.envs.alfworld.problem import Goal, Problem
from trajevolve.envs.alfworld.simulator import Simulator, State
from trajevolve.envs.alfworld.texts import NOTHING_HAPPENS, Narrator


class Player:
    def __init__(self, problem: Problem) -> None:
        self.simulator = Simulator(problem)
        self.narrator = Narrator(self.simulator, "put a cool egg in shelf")
        self.state: State = self.simulator.start

    def __call__(self, *commands: str) -> str:
        text = ""
        for command in commands:
            operation = self.simulator.operation(command)
            after = None if operation is None else self.simulator.apply(self.state, operation)
            if operation is None or after is None:
                text = NOTHING_HAPPENS
            else:
                self.state = after
                text = self.narrator.feedback(after, operation)
        return text

    @property
    def admissible(self) -> list[str]:
        return list(self.narrator.admissible(self.state))

    @property
    def solved(self) -> bool:
        return self.simulator.solved(self.state)


@pytest.fixture
def play(kitchen: Problem) -> Player:
    return Player(kitchen)


def test_names_count_down_in_the_order_of_identifiers(play: Player) -> None:
    assert play.simulator.objects == (
        "desklamp 1",
        "egg 1",
        "knife 1",
        "mug 2",
        "mug 1",
        "window 1",
    )
    assert play.simulator.receptacles == (
        "cabinet 1",
        "diningtable 1",
        "fridge 1",
        "microwave 1",
        "shelf 1",
        "sinkbasin 1",
    )


def test_intro_lists_the_room_and_states_the_task(play: Player) -> None:
    assert play.narrator.intro() == (
        "-= Welcome to TextWorld, ALFRED! =-\n\n"
        "You are in the middle of a room. Looking quickly around you, you see a cabinet 1, "
        "a diningtable 1, a fridge 1, a microwave 1, a shelf 1, and a sinkbasin 1.\n\n"
        "Your task is to: put a cool egg in shelf."
    )


def test_at_the_start_one_can_only_walk_and_ask(play: Player) -> None:
    assert play.admissible == [
        "go to cabinet 1",
        "go to diningtable 1",
        "go to fridge 1",
        "go to microwave 1",
        "go to shelf 1",
        "go to sinkbasin 1",
        "help",
        "inventory",
        "look",
    ]


def test_look_before_the_first_move_sees_nothing(play: Player) -> None:
    assert play("look") == (
        "You are in the middle of a room. Looking quickly around you, you see nothing."
    )


def test_a_receptacle_at_the_same_location_cannot_be_gone_to(play: Player) -> None:
    assert play("go to cabinet 1") == "You arrive at cabinet 1. The cabinet 1 is closed."
    assert play("go to shelf 1") == NOTHING_HAPPENS
    assert play("go to cabinet 1") == NOTHING_HAPPENS
    assert play("examine shelf 1") == "On the shelf 1, you see a window 1."
    assert play("look") == "You are facing the cabinet 1, and shelf 1. Next to it, you see nothing."


def test_doors_hide_and_show_what_is_inside(play: Player) -> None:
    play("go to cabinet 1")
    assert "take mug 1 from cabinet 1" not in play.admissible
    assert play("open cabinet 1") == (
        "You open the cabinet 1. The cabinet 1 is open. "
        "In it, you see a desklamp 1, a mug 2, and a mug 1."
    )
    assert play("open cabinet 1") == NOTHING_HAPPENS
    assert "take mug 1 from cabinet 1" in play.admissible
    assert play("close cabinet 1") == "You close the cabinet 1."
    assert play("take mug 1 from cabinet 1") == NOTHING_HAPPENS


def test_lamps_work_through_closed_doors_and_only_turn_on(play: Player) -> None:
    play("go to shelf 1")
    assert "use desklamp 1" in play.admissible
    assert play("use desklamp 1") == "You turn on the desklamp 1."
    assert play("use desklamp 1") == "You turn on the desklamp 1."
    assert play("go to diningtable 1", "use desklamp 1") == NOTHING_HAPPENS


def test_an_object_in_two_receptacles_leaves_only_one(play: Player) -> None:
    play("go to diningtable 1")
    assert play("take mug 2 from diningtable 1") == (
        "You pick up the mug 2 from the diningtable 1."
    )
    play("go to cabinet 1", "open cabinet 1")
    assert "mug 2" in play("examine cabinet 1")
    assert play("inventory") == "You are carrying: a mug 2."


def test_only_the_held_object_can_be_examined(play: Player) -> None:
    play("go to diningtable 1")
    assert play("examine egg 1") == NOTHING_HAPPENS
    play("take egg 1 from diningtable 1")
    assert play("examine egg 1") == "There's nothing special about egg 1."


def test_containers_tell_what_is_in_them(play: Player) -> None:
    play("go to cabinet 1", "open cabinet 1", "take mug 1 from cabinet 1")
    assert play("examine mug 1") == "This is a normal mug 1. In it, you see a egg 1."


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (["cool"], "a cold egg 1"),
        (["heat"], "a hot egg 1"),
        (["clean"], "a clean egg 1"),
        (["heat", "clean"], "a hot and clean egg 1"),
        (["cool", "clean"], "a cool and clean egg 1"),
        (["cool", "heat"], "a hot egg 1"),
        (["heat", "cool"], "a cold egg 1"),
    ],
)
def test_preparing_needs_no_open_door_and_changes_the_description(
    play: Player, steps: list[str], words: str
) -> None:
    play("go to diningtable 1", "take egg 1 from diningtable 1")
    places = {"cool": "fridge 1", "heat": "microwave 1", "clean": "sinkbasin 1"}
    for verb in steps:
        text = play(f"go to {places[verb]}", f"{verb} egg 1 with {places[verb]}")
        assert text == f"You {verb} the egg 1 using the {places[verb]}."
    assert play("examine egg 1") == f"This is {words}."


def test_slicing_needs_a_knife_in_the_hand_and_the_thing_here(play: Player) -> None:
    play("go to diningtable 1")
    assert play("slice egg 1 with knife 1") == NOTHING_HAPPENS
    play("take knife 1 from diningtable 1")
    assert "slice egg 1 with knife 1" in play.admissible
    assert play("slice egg 1 with knife 1") == "You sliced the egg 1 with the knife 1."
    play("move knife 1 to diningtable 1", "take egg 1 from diningtable 1")
    assert play("examine egg 1") == "This is a sliced egg 1."
    play("go to fridge 1", "cool egg 1 with fridge 1")
    assert play("examine egg 1") == "This is a cool sliced egg 1."


def test_moving_needs_a_fitting_open_receptacle(play: Player) -> None:
    play("go to diningtable 1", "take knife 1 from diningtable 1", "go to fridge 1")
    assert play("open fridge 1", "move knife 1 to fridge 1") == NOTHING_HAPPENS
    play("go to cabinet 1")
    assert play("move knife 1 to cabinet 1") == NOTHING_HAPPENS
    assert play("move knife 1 to shelf 1") == "You move the knife 1 to the shelf 1."


def test_look_remembers_from_where_things_were_taken(play: Player) -> None:
    play("go to cabinet 1", "open cabinet 1", "take mug 1 from cabinet 1", "move mug 1 to shelf 1")
    expected = "You are facing the cabinet 1, and shelf 1. Next to it, you see a mug 1."
    assert play("look") == expected
    play("take mug 1 from shelf 1", "move mug 1 to cabinet 1")
    assert play("look").endswith("you see a mug 1.")
    assert Simulator.key(play.state) == tuple(play.state[:-1])


def test_the_goal_is_checked_anew_each_step(play: Player) -> None:
    play("go to diningtable 1", "take egg 1 from diningtable 1", "go to fridge 1")
    play("cool egg 1 with fridge 1", "go to shelf 1")
    assert not play.solved
    play("move egg 1 to shelf 1")
    assert play.solved
    play("take egg 1 from shelf 1")
    assert not play.solved


def test_look_goal_needs_the_lit_lamp_here_and_the_object_in_the_hand(kitchen: Problem) -> None:
    goal = Goal("look_at_obj_in_light", "EggType", "DeskLampType")
    play = Player(replace(kitchen, goal=goal))
    play("go to shelf 1", "use desklamp 1", "go to diningtable 1", "take egg 1 from diningtable 1")
    assert not play.solved
    play("go to shelf 1")
    assert play.solved


def test_two_objects_have_to_meet_in_one_receptacle(kitchen: Problem) -> None:
    goal = Goal("pick_two_obj_and_place", "MugType", "ShelfType")
    play = Player(replace(kitchen, goal=goal))
    play("go to cabinet 1", "open cabinet 1", "take mug 1 from cabinet 1", "move mug 1 to shelf 1")
    assert not play.solved
    play("take mug 2 from cabinet 1", "move mug 2 to shelf 1")
    assert play.solved


@pytest.mark.parametrize(
    "command",
    ["", "go", "go to", "go to moon 1", "take mug 1", "take mug 1 to shelf 1", "Look", "look now"],
)
def test_what_is_no_command_does_nothing(play: Player, command: str) -> None:
    before = play.state
    assert play(command) == NOTHING_HAPPENS
    assert play.state is before
