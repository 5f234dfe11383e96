"""Names of things in sight: each thing in as few words as tell it from the others."""

from trajevolve.envs.scienceworld.sight import MOST_OBJECTS, names_in_sight

EVERYTHING = {
    "1": {"referents": ["cup", "wood cup", "cup containing water"]},
    "2": {"referents": ["cup", "tin cup"]},
    "3": {"referents": ["soil"]},
    "4": {"referents": ["soil"]},
    "5": {"referents": ["pollen", "cherry pollen"]},
    "6": {"referents": ["cherry pollen", "pollen"]},
    "7": {"referents": ["pollen", "lemon pollen"]},
    "8": {"referents": ["ERROR: NO NAME"]},
    "9": {"referents": ["stove"]},
}


def named(*things):
    return names_in_sight({thing: f"name of {thing}" for thing in things}, EVERYTHING)


def test_the_shortest_name_that_no_other_thing_has():
    assert named("1", "9") == ("cup", "stove")
    assert named("1", "2", "9") == ("stove", "tin cup", "wood cup")


def test_alike_things_share_their_most_telling_name():
    assert named("3", "4") == ("soil",)
    assert named("5", "6", "7") == ("cherry pollen", "lemon pollen")


def test_what_has_no_name_keeps_the_simulators():
    assert named("8", "10") == ("name of 10", "name of 8")


def test_the_order_of_listings_does_not_matter():
    assert named("7", "2", "5", "1") == named("1", "2", "5", "7")


def test_the_list_is_bounded():
    assert len(named(*map(str, range(100, 400)))) == MOST_OBJECTS
