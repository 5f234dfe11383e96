from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajevolve.agent.parse import parse_response, write_response
from trajevolve.evolution.correction import correct, nearest_action, normalise, rewrite_response

tagged = partial(write_response, answer="tagged")
bare = partial(write_response, answer="action")


def test_nearest_is_the_smallest_edit_of_normalised_text():
    # "go to rom 1" is one insertion from "go to room 1" (12 characters) and two from "room 2".
    assert nearest_action("Go  to ROM 1", ["go to room 2", "go to room 1"], 0.5) == (
        "go to room 1",
        pytest.approx(1 - 1 / 12),
    )


def test_ties_go_to_token_overlap_then_to_order():
    # Both are one substitution away; the second shares two of four tokens, the first one of four.
    assert nearest_action("take a b", ["takeua b", "take a c"], 0.1)[0] == "take a c"
    assert nearest_action("go to room 9", ["go to room 2", "go to room 0"], 0.5)[0] == (
        "go to room 2"
    )


def test_below_the_threshold_nothing_is_near():
    # "dance" and "look": 5 substitutions or insertions of 5 characters.
    assert nearest_action("dance", ["look"], 0.5) is None
    assert nearest_action("abcd", ["abxx"], 0.5) == ("abxx", 0.5)
    assert nearest_action("dance", [], 0.0) is None


@given(st.lists(st.text("abc 1.", min_size=1), min_size=1), st.data())
def test_an_admissible_action_is_its_own_correction(candidates, data):
    action = data.draw(st.sampled_from(candidates))
    nearest, similarity = nearest_action(action, candidates, 0.0)
    assert normalise(nearest) == normalise(action)
    assert similarity == 1.0


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (
            "<think>to the sink</think> <action>go sink</action> done",
            "<think>to the sink</think> <action>go to sink 1</action> done",
        ),
        ("<think>hm</think> go sink", "<think>hm</think>\n<action>go to sink 1</action>"),
        ("<action>go sink</action>", "<think></think>\n<action>go to sink 1</action>"),
        ("so <action>go sink", "<think></think>\nso <action>go to sink 1</action>"),
        ("go sink", "<think></think>\n<action>go to sink 1</action>"),
    ],
)
def test_only_the_action_text_changes_and_missing_tags_are_added(response, expected):
    rewritten = rewrite_response(response, "go to sink 1", tagged)
    assert rewritten == expected
    assert parse_response(rewritten, "tagged").action == "go to sink 1"


def test_without_tags_the_answer_is_the_action():
    assert rewrite_response("go sink", "go to sink 1", bare) == "go to sink 1"


def test_every_invalid_step_is_corrected_against_the_state_it_meets(corridor, play, task):
    # "go to room 3" is wrong in room 0 (nearest: room 1) and again in room 1, where room 0 and
    # room 2 are equally near and room 0 is listed first.
    parent = play(["go to room 3", "go to room 3"])
    recording = correct(parent, task, corridor, bare, 0.5)
    assert [kept.action for kept in recording.kept] == ["go to room 1", "go to room 0"]
    assert recording.t_err == 0
    assert recording.resample


def test_recorded_steps_keep_their_tokens_and_corrected_ones_have_none(corridor, play, task):
    parent = play(["go to room 1", "tke key", "go to room 2", "go to room 3", "open chest"])
    recording = correct(parent, task, corridor, bare, 0.5)
    assert [(kept.action, kept.response_ids) for kept in recording.kept] == [
        ("go to room 1", (10,)),
        ("take key", ()),
        ("go to room 2", (12,)),
        ("go to room 3", (13,)),
        ("open chest", ()),
    ]
    assert recording.t_err == 1


def test_a_step_that_became_infeasible_ends_the_recording(corridor, play, task):
    # The parent never left room 0, so its "go to room 1" comes from there; once "go to room 7"
    # is read as "go to room 1" the same move is impossible.
    parent = play(["go to room 7", "go to room 1", "take key"])
    recording = correct(parent, task, corridor, bare, 0.5)
    assert [kept.action for kept in recording.kept] == ["go to room 1"]
    assert recording.resample


@pytest.mark.parametrize("broken", [None, "pray"])
def test_nothing_to_correct_lets_the_policy_regenerate_there(corridor, play, task, broken):
    parent = play(["go to room 1", broken, "take key"])
    recording = correct(parent, task, corridor, bare, 0.5)
    assert [kept.action for kept in recording.kept] == ["go to room 1"]
    assert recording.t_err == 1


def test_an_action_the_strict_parser_refused_is_read_from_its_tags(corridor, play, task):
    parent = play(["go to room 1", None])
    refused = replace(parent.steps[1], response="I want it <action>take the key</action>")
    parent = replace(parent, steps=(parent.steps[0], refused))
    recording = correct(parent, task, corridor, tagged, 0.5)
    assert recording.kept[1].action == "take key"
    assert recording.kept[1].response == ("<think></think>\nI want it <action>take key</action>")


def test_the_recording_stops_where_the_task_is_solved(corridor, play, task):
    actions = ["go to room 1", "take key", "go to room 2", "go to room 3", "opn chest", "look"]
    recording = correct(play(actions), task, corridor, bare, 0.5)
    assert [kept.action for kept in recording.kept][-1] == "open chest"
    assert len(recording.kept) == 5
