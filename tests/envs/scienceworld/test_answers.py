"""What answers mean: texts as the simulator gives them."""

import pytest

from trajevolve.envs.scienceworld.answers import ambiguous, choices, choose, failed_softly

REQUEST = (
    "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n"
    "0:\topen door between kitchen and hallway\n"
    "1:\topen door between living room and hallway\n"
    "10:\topen door between bedroom and hallway\n"
)


@pytest.mark.parametrize(
    "answer",
    [
        "The freezer is already open.",
        "The door is already closed.",
        "The stove is already activated.",
        "The freezer isn't open, so you can't see inside.",
        "It's not clear how to get there from here.",
        "It's not clear how to look inside of that.",
        "That thing doesn't appear to have a temperature that the thermometer can read. ",
        "The table is not moveable.",
        "The picture is not something that can be activated.",
        "You can't pick up a gas directly.",
        "That can't be moved there, because the freezer isn't open.",
        "The glass jar is empty, so there's nothing to pour.",
        "I'm not sure how to use those two things together.",
        "The orange is not edible.",
        "Unknown action.  Type 'help' for a list of actions, and 'objects' for a list of possible "
        "object referents. ",
    ],
)
def test_nothing_came_of_it(answer):
    assert failed_softly(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The freezer is now open.",
        "You move to the kitchen.",
        "a stove, which is turned off. On the stove is: nothing.",
        "This room is called the hallway. In it, you see: \n\tthe agent\n\ta chair. On the chair "
        "is: nothing.\nYou also see:\n\tA door to the bedroom (that is closed)",
        "In your inventory, you see:\n\tan orange",
        "the thermometer measures a temperature of 10 degrees celsius",
        "Inside the cupboard is: \n\ta ceramic cup (containing nothing)",
        "You decide to wait for 10 iterations.",
        "There is nothing in the drawer.",
    ],
)
def test_something_came_of_it(answer):
    assert not failed_softly(answer) and not ambiguous(answer) and choices(answer) == ()


def test_the_choices_of_an_ambiguous_request():
    assert ambiguous(REQUEST)
    assert choices(REQUEST) == (
        ("0", "open door between kitchen and hallway"),
        ("1", "open door between living room and hallway"),
        ("10", "open door between bedroom and hallway"),
    )


def test_what_reads_like_the_action_is_chosen_else_the_first():
    offered = choices(REQUEST)
    assert choose("open door", offered) == offered[0]
    assert choose("Open door between bedroom and hallway", offered) == offered[2]
