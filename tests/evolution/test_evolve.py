import time
from dataclasses import replace
from functools import partial

import pytest
from toys.corridor import Corridor, steps_to_go

from trajevolve.agent.parse import write_response
from trajevolve.config import EnvConfig, EvolutionConfig, RunConfig
from trajevolve.errors import UserError
from trajevolve.evolution.elimination import eliminate
from trajevolve.evolution.evolve import accept, plan_evolution
from trajevolve.evolution.rollback import error_step, oracle_error_step, roll_back
from trajevolve.evolution.selection import select
from trajevolve.trajectory import Evolution, Group

bare = partial(write_response, answer="action")
WIN = ["go to room 1", "take key", "go to room 2", "go to room 3", "open chest"]
DETOUR = ["go to room 1", "go to room 0", "go to room 1", *WIN[1:]]


def predict(trajectory, probabilities):
    """Give each step the p̂ of a discriminator; None stands for a step it was not asked about."""
    steps = [
        replace(step, probability=p, predicted=None if p is None else int(p >= 0.5))
        for step, p in zip(trajectory.steps, probabilities, strict=True)
    ]
    return replace(trajectory, steps=tuple(steps))


def verified(trajectory, minimal):
    return replace(trajectory, verified=True, minimal=tuple(minimal))


def group_of(*members):
    return Group("corridor/0", tuple(members))


def child_of(parent, trajectory, strategy="rollback", t_err=0):
    evolution = Evolution(parent.id, strategy, t_err, len(parent), parent.reward)
    return replace(trajectory, evolution=evolution)


def test_elimination_keeps_the_survivors_in_order_with_their_tokens(play):
    parent = verified(play(DETOUR), (0, 3, 4, 5, 6))
    recording = eliminate(parent)
    assert [kept.action for kept in recording.kept] == WIN
    assert [kept.response_ids for kept in recording.kept] == [(10,), (13,), (14,), (15,), (16,)]
    assert not recording.resample
    assert recording.t_err is None


def test_rollback_starts_at_the_lowest_probability_earliest_on_ties(play):
    failure = play(["go to room 1", "go to room 2", "look", "go to room 3", "go to room 2"])
    assert error_step(predict(failure, [0.9, 0.2, None, 0.1, 0.1])) == 3
    assert error_step(predict(failure, [0.9, 0.8, None, 0.7, 0.6])) is None
    assert error_step(failure) is None
    recording = roll_back(failure, 3)
    assert [kept.action for kept in recording.kept] == ["go to room 1", "go to room 2", "look"]
    assert recording.resample


def test_information_steps_are_never_the_error(play):
    failure = play(["look", "go to room 1"])
    assert error_step(predict(failure, [0.0, 0.3])) == 1


def test_oracle_rollback_goes_back_to_the_first_nearest_state(play, corridor, task):
    # Distances: 5 (start), 4, 5 (room 2 without the key), 6, 5: nearest after one step.
    failure = play(["go to room 1", "go to room 2", "go to room 3", "go to room 2"])
    assert oracle_error_step(failure, task, corridor, steps_to_go) == 1
    assert oracle_error_step(play(WIN[:3]), task, corridor, steps_to_go) is None


def test_ranking_is_by_invalid_share_then_length_then_order(play):
    one_of_two = play(["pray", "look"], "half")
    one_of_three = play(["pray", "look", "look"], "third")
    short = predict(play(["go to room 1"], "short"), [0.1])
    long = predict(play(["go to room 1", "go to room 0"], "long"), [0.1, 0.9])
    twin = replace(long, id="twin")
    group = group_of(short, long, twin, one_of_three, one_of_two)
    every = ("elimination", "correction", "rollback")
    ranked = select(group, 5, every, error_step)
    assert [c.parent.id for c in ranked] == ["half", "third", "long", "twin", "short"]
    assert [c.parent.id for c in select(group, 2, every, error_step)] == ["half", "third"]
    assert [c.parent.id for c in select(group, 2, ("rollback",), error_step)] == ["long", "twin"]


def test_only_trajectories_with_something_to_evolve_are_eligible(play):
    shortest = verified(play(WIN, "shortest"), range(5))
    unverified = play(DETOUR, "unverified")
    broken = play(["pray"], "broken", termination="error: engine died")
    unsuspected = predict(play(["go to room 1"], "unsuspected"), [0.9])
    group = group_of(shortest, unverified, broken, unsuspected)
    assert select(group, 5, ("elimination", "correction", "rollback"), error_step) == []


def laid_out(*arguments, **named):
    plan = plan_evolution(*arguments, **named)
    return plan.episodes, plan.given_up


def test_plan_lays_out_one_episode_per_parent(play, corridor, task):
    success = verified(play(DETOUR, "s"), (0, 3, 4, 5, 6))
    invalid = play(["go to room 1", "tke key"], "i")
    wrong = predict(play(["go to room 1", "go to room 0"], "w"), [0.9, 0.2])
    config = RunConfig(evolution=EvolutionConfig(per_group=3), seed=7)
    episodes, given_up = laid_out(
        [group_of(success, invalid, wrong)], {task.id: task}, corridor, config, 5, answer=bare
    )
    told = [(e.id, [k.action for k in e.kept], e.resample, e.evolution.t_err) for e in episodes]
    assert told == [
        ("i+correction", ["go to room 1", "take key"], True, 1),
        ("s+elimination", WIN, False, None),
        ("w+rollback", ["go to room 1"], True, 1),
    ]
    assert episodes[0].evolution == Evolution("i", "correction", 1, 2, pytest.approx(-0.1))
    assert len({episode.seed for episode in episodes}) == 3
    again = laid_out(
        [group_of(success, invalid, wrong)], {task.id: task}, corridor, config, 5, answer=bare
    )
    assert again == (episodes, [])
    assert given_up == []


def test_oracle_rollback_needs_distances(play, corridor, task):
    config = RunConfig(evolution=EvolutionConfig(oracle_rollback=True))
    wrong = play(["go to room 1", "go to room 2", "go to room 3"], "w")
    plan = partial(
        plan_evolution, [group_of(wrong)], {task.id: task}, corridor, config, 5, answer=bare
    )
    with pytest.raises(UserError, match="oracle_rollback"):
        plan()
    assert [e.evolution.t_err for e in plan(distance=steps_to_go).episodes] == [1]


class Collapsing(Corridor):
    """Does something to whoever replays a visit to room 2."""

    def __init__(self, collapse):
        self.collapse = collapse

    def advance(self, action):
        if action == "go to room 2":
            self.collapse()
        return super().advance(action)


def raising(error):
    def collapse():
        raise error

    return collapse


COLLAPSES = {
    "KeyError: 'room 2'": raising(KeyError("room 2")),
    "UserError: task corridor/0: given up": raising(UserError("task corridor/0: given up")),
    "TimeoutError: no answer within 0.5 s": lambda: time.sleep(10),
}


@pytest.mark.parametrize("reason", COLLAPSES)
def test_a_parent_that_cannot_be_replayed_is_given_up_and_the_others_go_on(play, task, reason):
    lost = play(["go to room 1", "go to room 2", "tke key"], "lost")
    other = play(["go to room 1", "tke key"], "other")
    config = RunConfig(env=EnvConfig(step_timeout_s=0.5))
    env = Collapsing(COLLAPSES[reason])
    episodes, (record,) = laid_out(
        [group_of(lost, other)], {task.id: task}, env, config, 5, answer=bare
    )
    assert [episode.id for episode in episodes] == ["other+correction"]
    assert (record.id, record.parent_id, record.t_err) == ("lost+correction", "lost", 2)
    assert (record.steps_before, record.steps_after, record.accepted) == (3, 0, False)
    assert record.reason == f"replay failed: {reason}"


@pytest.mark.parametrize("reason", COLLAPSES)
def test_nor_does_the_oracle_end_the_evolution(play, task, reason):
    lost = play(["go to room 1", "go to room 2", "go to room 3"], "lost")
    other = play(["go to room 1", "go to room 0"], "other")
    settings = EvolutionConfig(oracle_rollback=True)
    config = RunConfig(env=EnvConfig(step_timeout_s=0.5), evolution=settings)
    env = Collapsing(COLLAPSES[reason])
    plan = partial(
        laid_out, [group_of(lost, other)], {task.id: task}, env, answer=bare, distance=steps_to_go
    )
    episodes, (record,) = plan(config=config, iteration=5)
    assert [(e.id, e.evolution.t_err) for e in episodes] == [("other+rollback", 1)]
    assert (record.id, record.t_err) == ("lost+rollback", None)
    assert record.reason == f"replay failed: {reason}"
    unasked = settings.model_copy(update={"strategies": ("elimination",)})
    assert plan(config=config.model_copy(update={"evolution": unasked}), iteration=5) == ([], [])


def test_the_time_limit_is_that_of_one_answer_and_not_of_a_replay(play, task):
    slow = play(["go to room 1", *["go to room 2", "go to room 1"] * 4, "tke key"], "slow")
    config = RunConfig(env=EnvConfig(step_timeout_s=1.0))
    env = Collapsing(lambda: time.sleep(0.2))
    episodes, given_up = laid_out([group_of(slow)], {task.id: task}, env, config, 5, answer=bare)
    assert (len(episodes), given_up) == (1, [])


def test_accept_names_the_reason_of_every_refusal(play):
    parent, other = play(WIN, "a"), play(["pray"], "b")
    improved = child_of(other, play(DETOUR, "b+correction"), "correction")
    children = [
        child_of(parent, play(WIN, "a+rollback")),
        improved,
        replace(improved, id="twin"),
        child_of(other, play(["look"], "lost")),
    ]
    outcome = accept([group_of(parent, other)], children, EvolutionConfig())
    assert [(r.accepted, r.reason) for r in outcome.records] == [
        (False, "equal to parent"),
        (True, ""),
        (False, "duplicate"),
        (False, "failed"),
    ]
    (group,) = outcome.groups
    assert [member.id for member in group] == ["a", "b", "b+correction"]
    assert group.evolved[0].evolution.accepted
    assert [c.evolution.reason for c in outcome.evolved] == [r.reason for r in outcome.records]
    assert outcome.metrics["evolution/correction/attempted"] == 2
    assert outcome.metrics["evolution/correction/succeeded"] == 2
    assert outcome.metrics["evolution/correction/used"] == 1
    assert outcome.metrics["evolution/rollback/attempted"] == 2
    assert outcome.metrics["evolution/elimination/attempted"] == 0


def test_record_compares_parent_and_child(play):
    parent = play(["pray", "look"], "b")
    (record,) = accept(
        [group_of(parent)], [child_of(parent, play(WIN, "c"), "correction")], EvolutionConfig()
    ).records
    assert (record.steps_before, record.steps_after) == (2, 5)
    assert (record.reward_before, record.reward_after) == (pytest.approx(-0.1), 10.0)
    assert (record.parent_id, record.strategy, record.t_err) == ("b", "correction", 0)


def test_replace_swaps_out_the_parent_and_keeps_the_size(play):
    parent, sibling = play(["pray"], "b"), play(WIN, "s")
    children = [child_of(parent, play(DETOUR, "c"), "correction")]
    outcome = accept([group_of(parent, sibling)], children, EvolutionConfig(membership="replace"))
    assert [member.id for member in outcome.groups[0]] == ["s", "c"]


def test_keep_failed_uses_failures_but_no_duplicates(play):
    parent = play(["pray"], "b")
    lost = child_of(parent, play(["look"], "c"), "correction")
    outcome = accept(
        [group_of(parent)], [lost, replace(lost, id="d")], EvolutionConfig(keep_failed=True)
    )
    assert [(r.accepted, r.reason) for r in outcome.records] == [(True, ""), (False, "duplicate")]


def test_children_join_the_group_of_their_parent_only(play):
    here, there = play(["pray"], "b"), play(["pray"], "x", task_id="corridor/1")
    child = child_of(there, play(WIN, "c", task_id="corridor/1"), "correction")
    groups = [group_of(here), Group("corridor/1", (there,))]
    outcome = accept(groups, [child], EvolutionConfig())
    assert [len(group) for group in outcome.groups] == [1, 2]
