import math
import time

import pytest
from toys.corridor import TASK, Corridor, play, steps_to_go

from trajevolve.credit.oracle import label_failures, oracle_labels
from trajevolve.problems import Problem


def labels(actions, distance=steps_to_go):
    return oracle_labels(Corridor(), TASK, play(actions), distance)


def test_progress_is_necessary_and_a_detour_is_not():
    # Ends in room 2 with the key, 2 from success. Without either step of the detour to room 0 the
    # rest ends in room 2 as well; without the key 5 remain. The first move brings the key.
    actions = ["go to room 1", "go to room 0", "go to room 1", "take key", "go to room 2"]
    # go 1: omitted, "go 0" is infeasible in room 0, then go 1, take, go 2: still 2.
    # go 0: omitted, "go 1" infeasible in room 1: still 2.   go 1 (second): stays in room 0: 5.
    assert labels(actions) == (0, 0, 1, 1, 1)


def test_a_wrong_turn_is_redundant_and_invalid_and_information_steps_keep_their_defaults():
    assert labels(["go to room 1", "pray", "look", "take key", "go to room 0"]) == (1, 0, 1, 1, 0)


def test_after_the_first_dead_end_everything_is_an_error():
    def distance(env):
        return math.inf if env.place == 2 and not env.holding else steps_to_go(env)

    actions = ["go to room 1", "take key", "drop key in the well", "look", "go to room 1"]
    assert labels(actions, distance) == (1, 1, 0, 0, 0)


def test_steps_that_can_each_be_left_out_are_all_redundant():
    # To room 3 and back to room 2. Without "go to room 2" the next move is infeasible and the last
    # one leads to room 2 all the same; the labels hold one by one, not together.
    actions = ["go to room 1", "take key", "go to room 2", "go to room 3", "go to room 2"]
    assert labels(actions) == (1, 1, 0, 0, 0)


def test_on_a_success_it_is_single_step_verification():
    detour = ["go to room 1", "go to room 0", "go to room 1"]
    rest = ["take key", "go to room 2", "go to room 3", "open chest"]
    assert labels([*detour, *rest]) == (0, 0, 1, 1, 1, 1, 1)


def burst():
    raise OSError("the walls fell in")


@pytest.mark.parametrize(
    ("fall", "reason"),
    [
        (burst, "OSError: the walls fell in"),
        (lambda: time.sleep(10), "TimeoutError: no answer within 0.5 s"),
    ],
)
def test_a_failure_in_which_the_environment_fails_is_left_out(fall, reason):
    class Falling(Corridor):
        def advance(self, action):
            if action == "go to room 3":
                fall()
            return super().advance(action)

    lost = play(["go to room 1", "go to room 2", "go to room 3"], "lost")
    other = play(["go to room 1", "go to room 0"], "other")
    found, problems = label_failures(Falling(), {TASK.id: TASK}, [lost, other], steps_to_go, 0.5)
    assert found == {"other": labels(other.actions)}
    assert problems == (Problem("lost", TASK.id, reason),)
