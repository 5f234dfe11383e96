"""Hindsight verification: the stated examples, and what makes a label wrong."""

import pytest
from toys.house import HouseEnvironment, house_task
from toys.lab import LabEnvironment
from toys.shop import PREV, ShopEnvironment

import trajevolve
from trajevolve.credit.verification import verify
from trajevolve.errors import UserError

CABINET = house_task("hand", "clothes", cabinet="clothes", bathroom="")
CABINET_ACTIONS = ["go cabinet", "open cabinet", "go bathroom", "go cabinet", "take clothes"]
DETOUR = house_task("hand", t="ball", b="")
DETOUR_ACTIONS = ["go t", "go b", "go t", "take ball"]


@pytest.mark.parametrize("mode", ["independent", "cumulative"])
@pytest.mark.parametrize("loop_prepass", [True, False])
def test_the_papers_cabinet_example(mode, loop_prepass):
    result = verify(
        HouseEnvironment(), CABINET, CABINET_ACTIONS, mode=mode, loop_prepass=loop_prepass
    )
    assert result.success
    assert result.labels == (1, 1, 0, 0, 1)
    assert result.dependents == ((1, 4), (4,), (3,), (), ())
    assert result.minimal == (0, 1, 4)


def test_removing_the_return_of_the_cabinet_example_alone_fails():
    """The converse of Proposition 3.4 is false: the step is redundant, yet not by itself."""
    env = HouseEnvironment()
    env.reset(CABINET)
    outcomes = [env.step(CABINET_ACTIONS[t]) for t in (0, 1, 2, 4)]
    assert not outcomes[-1].success


@pytest.mark.parametrize(
    ("options", "labels", "minimal"),
    [
        ({"mode": "independent"}, (0, 0, 0, 1), (0, 3)),
        ({"order": "backward", "loop_prepass": False}, (1, 0, 0, 1), (0, 3)),
        ({"order": "backward"}, (1, 0, 0, 1), (0, 3)),
        ({"order": "forward"}, (0, 0, 1, 1), (2, 3)),
        # The loop t, b, t goes before the search.
        ({"order": "forward", "loop_prepass": True}, (1, 0, 0, 1), (0, 3)),
    ],
)
def test_the_detour_example(options, labels, minimal):
    result = verify(HouseEnvironment(), DETOUR, DETOUR_ACTIONS, **options)
    assert (result.labels, result.minimal) == (labels, minimal)


def test_feasible_inverses_need_the_loop_prepass():
    """next, next, prev: no single removal succeeds; the loop of exact states does."""
    env = ShopEnvironment()
    task = env.task("0")
    actions = ["search[mug]", "click[next >]", PREV, "click[m1]", "click[red]", "click[buy now]"]
    with_loops = verify(env, task, actions)
    assert with_loops.labels == (1, 0, 0, 1, 1, 1)
    assert with_loops.dependents[1] == (2,)
    assert verify(env, task, actions, loop_prepass=False).minimal == with_loops.minimal


@pytest.mark.parametrize("mode", ["independent", "cumulative"])
def test_an_invalid_duplicate_does_not_rescue_a_removal(mode):
    """The second `go t` fails at t; without the first one it would become executable."""
    actions = ["go t", "go t", "take ball"]
    result = verify(HouseEnvironment(), DETOUR, actions, mode=mode)
    assert result.labels == (1, 0, 1)
    assert result.dependents == ((2,), (), ())
    # A duplicate that was executed may stand in for the first.
    actions = ["go t", "go b", "go t", "take ball"]
    assert verify(HouseEnvironment(), DETOUR, actions, mode="independent").labels[0] == 0


def test_given_validity_keeps_executable_steps_out_of_replay():
    """A malformed answer was never executed, although its text names an executable action."""
    actions = ["go cabinet", "open cabinet", "open cabinet", "take clothes"]
    result = verify(HouseEnvironment(), CABINET, actions, valid=[True, False, True, True])
    assert result.labels == (1, 0, 1, 1)
    assert result.minimal == (0, 2, 3)


def test_steps_without_an_action_are_invalid():
    actions = [None, "go cabinet", "", "  ", "open cabinet", "take clothes", 7]
    result = verify(HouseEnvironment(), CABINET, actions)
    assert result.labels == (0, 1, 0, 0, 1, 1, 0)
    assert result.minimal == (1, 4, 5)


def test_information_steps_keep_their_label_and_leave_minimal_when_infeasible():
    task = house_task("hand", "ball", t="ball", b="")
    actions = ["go t", "go b", "examine b", "look", "go t", "take ball"]
    result = verify(HouseEnvironment(), task, actions)
    assert result.labels == (1, 0, 1, 1, 0, 1)
    assert result.minimal == (0, 3, 5)  # `examine b` cannot be executed at t
    assert 2 in result.dependents[1]
    assert result.dependents[2] == ()


def test_unreached_information_steps_leave_minimal():
    """Success comes before them once the detour is gone."""
    task = house_task("t", "ball", t="", b="ball", closed=())
    actions = ["go b", "take ball", "go t", "look", "put ball"]
    result = verify(HouseEnvironment(), task, actions)
    assert result.labels == (1, 1, 1, 1, 1)
    after_success = verify(HouseEnvironment(), task, [*actions, "look", "take ball"])
    assert after_success.labels == (1, 1, 1, 1, 1, 1, 0)
    assert after_success.minimal == (0, 1, 2, 3, 4)


def test_actions_after_the_success_do_not_rescue():
    task = house_task("t", "ball", t="", b="ball", closed=())
    actions = ["go b", "take ball", "go t", "put ball", "take ball", "put ball"]
    for mode in ("independent", "cumulative"):
        assert verify(HouseEnvironment(), task, actions, mode=mode).labels == (1, 1, 1, 1, 0, 0)


def test_a_failure_is_not_labelled():
    result = verify(HouseEnvironment(), CABINET, CABINET_ACTIONS[:-1])
    assert (result.success, result.labels, result.dependents, result.minimal) == (
        False,
        None,
        (),
        (),
    )
    assert result.transitions == 4


def test_an_end_without_success_is_a_failure():
    env = ShopEnvironment()
    wrong = ["search[mug]", "click[m2]", "click[buy now]", "click[m1]"]
    assert not verify(env, env.task("0"), wrong).success
    lab = LabEnvironment()
    cold = ["open door", "go kitchen", "focus on water", "activate stove", "focus on water"]
    assert not verify(lab, lab.task("1"), cold).success


def test_an_end_without_success_in_a_counterfactual_keeps_the_step():
    env = ShopEnvironment()
    actions = ["search[mug]", "click[m1]", "click[red]", "click[buy now]"]
    result = verify(env, env.task("0"), actions)
    assert result.labels == (1, 1, 1, 1)
    assert result.dependents == ((1, 2, 3), (2, 3), (), ())


def test_a_task_solved_at_the_start_needs_no_step():
    task = house_task("shelf", "ball", shelf="ball", b="")
    result = verify(HouseEnvironment(), task, ["go b", "look", "go shelf"])
    assert (result.success, result.labels, result.minimal) == (True, (0, 1, 0), ())
    assert verify(HouseEnvironment(), task, []).labels == ()


def test_a_coupled_pair_is_one_information_unit():
    env = ShopEnvironment()
    actions = [
        "search[mug]",
        "click[m2]",
        "click[features]",
        PREV,
        PREV,
        "click[m1]",
        "click[description]",
        PREV,
        "click[red]",
        "click[buy now]",
    ]
    for loop_prepass in (True, False):
        result = verify(env, env.task("0"), actions, loop_prepass=loop_prepass)
        # The visit to m2 goes; its tab is not admissible on the results page, and `< prev`,
        # which is not admissible there either, must not run without it.
        assert result.labels == (1, 0, 1, 1, 0, 1, 1, 1, 1, 1)
        assert result.minimal == (0, 5, 6, 7, 8, 9)
        assert result.dependents[1] == (2, 3, 4)


def test_a_coupled_prev_is_not_executed_without_its_tab():
    """On page two `< prev` alone is executable and would lead away from the item."""
    env = ShopEnvironment()
    actions = [
        "search[mug]",
        "click[next >]",
        "click[m4]",
        "click[description]",
        PREV,
        PREV,
        "click[m3]",
        "click[blue]",
        "click[buy now]",
    ]
    independent = verify(env, env.task("1"), actions, mode="independent")
    assert independent.dependents[2] == (3, 4, 6, 7, 8)  # the lone PREV, 5, was executed
    result = verify(env, env.task("1"), actions)
    assert result.labels == (1, 1, 0, 1, 1, 0, 1, 1, 1)
    assert result.minimal == (0, 1, 6, 7, 8)


def test_soft_failures_are_verified_like_other_steps():
    """Opening the open door only takes a tick, and here the tick is what warms the water."""
    env = LabEnvironment()
    ticking = ["open door", "go kitchen", "activate stove", "open door", "focus on water"]
    assert verify(env, env.task("2"), ticking).labels == (1, 1, 1, 1, 1)
    assert verify(env, env.task("1"), ticking).labels == (1, 1, 1, 0, 1)


def test_a_dependent_that_fails_softly_does_not_tick():
    """Without the second `open door`… the stove step must not count as a wait."""
    env = LabEnvironment()
    actions = ["open door", "go kitchen", "activate stove", "go hall", "go kitchen"]
    actions += ["look around", "focus on water"]
    result = verify(env, env.task("3"), actions)
    assert result.labels == (1, 1, 1, 1, 1, 1, 1)
    assert verify(env, env.task("2"), actions).labels == (1, 1, 1, 1, 1, 1, 1)
    assert verify(env, env.task("1"), actions).labels == (1, 1, 1, 0, 0, 1, 1)


def test_unknown_input_without_a_tick_is_invalid():
    env = LabEnvironment()
    actions = ["open door", "dance", "go kitchen", "activate stove", "focus on water"]
    assert verify(env, env.task("1"), actions).labels == (1, 0, 1, 1, 1)


def test_transitions_are_counted_as_executed():
    for env in (HouseEnvironment(), LabEnvironment()):
        task = CABINET if isinstance(env, HouseEnvironment) else env.task("1")
        actions = CABINET_ACTIONS
        if isinstance(env, LabEnvironment):
            actions = ["open door", "go kitchen", "wait", "activate stove", "focus on water"]
        result = verify(env, task, actions)
        assert result.success
        assert result.transitions == env.executed > len(actions)


def test_aliases_are_canonical():
    task = house_task("t", "ball", t="", b="ball", closed=())
    result = verify(HouseEnvironment(), task, ["Go b ", "take ball", "go t", "place ball"])
    assert result.labels == (1, 1, 1, 1)


def test_the_public_name():
    assert trajevolve.verify is verify
    assert trajevolve.__version__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        trajevolve.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mode": "both"}, "mode 'both'"),
        ({"order": "random"}, "order 'random'"),
        ({"valid": [True]}, "valid has 1 entries for 5 actions"),
    ],
)
def test_mistakes_are_explained(options, text):
    with pytest.raises(UserError, match=text):
        verify(HouseEnvironment(), CABINET, CABINET_ACTIONS, **options)


def test_one_string_is_not_a_list_of_actions():
    with pytest.raises(UserError, match="actions is one string"):
        verify(HouseEnvironment(), CABINET, "go cabinet")
