"""Episodes: recorded steps, limits, rewards, failures of one environment."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from toys.house import TASKS, HouseEnvironment, house_task
from toys.shop import PREV, ShopEnvironment

from trajevolve.advantages.step_credit import step_advantages
from trajevolve.agent.agents import RandomAgent, ScriptedAgent
from trajevolve.config import CreditConfig, EnvConfig
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.envs.contract import Kind
from trajevolve.errors import UserError
from trajevolve.rollout import Episode, Kept, play
from trajevolve.trajectory import Group

CLOTHES = TASKS[0]


class Script(ScriptedAgent):
    """Says the same lines to every episode, by position; None where the script ends."""

    def __init__(self, *lines):
        self.lines = lines
        self.asked = 0

    def choose(self, turn):
        self.asked += 1
        return self.lines[len(turn.history)]


def kept(*actions):
    return tuple(Kept(action or "hm", (), action) for action in actions)


def run(agent, *episodes, limit=10, environment=HouseEnvironment):
    return play(episodes, agent, environment, EnvConfig(step_limit=limit))


def test_a_solved_episode_records_every_step():
    script = Script("go cabinet", "look", "fly", "open cabinet", "take clothes")
    (played,) = run(script, Episode("e", CLOTHES, 1))
    assert played.success and played.termination == "success" and played.score == 1.0
    assert [step.valid for step in played.steps] == [True, True, False, True, True]
    assert played.reward == pytest.approx(10 - 0.1)
    assert played.steps[0].observation == "you are at the door"
    assert played.steps[3].observation == "nothing happens"
    assert played.final_observation == "you take clothes"
    assert [step.kind for step in played.steps[:2]] == [Kind.CHANGING, Kind.INFORMATION]
    assert "go cabinet" in played.steps[0].admissible


def test_leaving_a_tab_is_part_of_looking_and_earns_nothing():
    buying = (
        "search[mug]",
        "click[m1]",
        "click[description]",
        PREV,
        "click[red]",
        "click[buy now]",
    )
    task = ShopEnvironment().task("0")
    (played,) = run(Script(*buying), Episode("e", task, 1), environment=ShopEnvironment)
    assert played.success
    assert [step.kind == Kind.INFORMATION for step in played.steps] == [0, 0, 1, 1, 0, 0]
    (verified,), _ = verify_trajectories(ShopEnvironment(), {"0": task}, [played], CreditConfig())
    assert verified.steps[3].label == 1
    assert step_advantages(Group("0", (verified,)), CreditConfig()) == ((1, 1, 0, 0, 1, 1),)


def test_the_same_click_elsewhere_is_a_move():
    script = Script("search[mug]", "click[m1]", PREV, "click[description]", PREV)
    episode = Episode("e", ShopEnvironment().task("0"), 1)
    (played,) = run(script, episode, limit=5, environment=ShopEnvironment)
    assert [step.valid for step in played.steps] == [True, True, True, False, False]
    assert all(step.kind == Kind.CHANGING for step in played.steps if step.action == PREV)


def test_an_environment_that_cannot_couple_has_failed_the_episode():
    class Uncoupling(ShopEnvironment):
        def coupled(self, actions):
            raise RuntimeError("no couples")

    episode = Episode("e", ShopEnvironment().task("0"), 1)
    (played,) = run(Script("search[mug]"), episode, limit=1, environment=Uncoupling)
    assert played.termination == "error: RuntimeError: no couples" and len(played) == 1


@pytest.mark.parametrize("steps", [0, 1])
def test_an_environment_that_fails_while_it_is_asked_for_a_prompt_loses_its_episode(steps):
    class Naming(ScriptedAgent):
        def choose(self, turn):
            return turn.ask(lambda env: env.objects())[0]

    class Forgetting(HouseEnvironment):
        made = 0

        def __init__(self):
            super().__init__()
            Forgetting.made += 1
            self.number, self.asked = Forgetting.made, 0

        def objects(self):
            self.asked += 1
            if self.number == 2 and self.asked > steps:
                raise LookupError("no names")
            return ("look",)

    episodes = [Episode(str(n), CLOTHES, n) for n in range(3)]
    first, second, third = run(Naming(), *episodes, limit=3, environment=Forgetting)
    assert second.termination == "error: LookupError: no names"
    assert (len(second), second.success) == (steps, False)
    assert first.termination == third.termination == "limit" and len(first) == len(third) == 3


def test_one_that_does_not_answer_for_a_prompt_is_broken_off():
    class Naming(ScriptedAgent):
        def choose(self, turn):
            return turn.ask(lambda env: time.sleep(30) if turn.slot else "look")

    episodes = [Episode(str(n), CLOTHES, n) for n in range(2)]
    config = EnvConfig(step_limit=1, step_timeout_s=0.2)
    well, stuck = play(episodes, Naming(), HouseEnvironment, config)
    assert well.termination == "limit"
    assert stuck.termination.startswith("error: TimeoutError")


def test_an_invalid_step_costs_a_step_and_changes_nothing():
    (played,) = run(Script("fly", "fly", "fly"), Episode("e", CLOTHES, 1), limit=3)
    assert played.termination == "limit" and len(played) == 3 and not played.success
    assert played.reward == pytest.approx(-0.3)
    assert len({step.state_key for step in played.steps}) == 1


def test_aliases_are_recorded_in_standard_form():
    task = house_task("shelf", "ball", (), floor="ball", shelf="")
    (played,) = run(
        Script("go floor", "take ball", "go shelf", "place ball"), Episode("e", task, 1)
    )
    assert played.success and played.actions[-1] == "put ball"


def test_recorded_steps_come_first_and_the_agent_goes_on():
    script = Script(None, None, "open cabinet", "take clothes")
    recorded = kept("go bathroom", "go cabinet")
    (played,) = run(script, Episode("e", CLOTHES, 1, kept=recorded))
    assert played.success and script.asked == 2
    assert played.actions == ("go bathroom", "go cabinet", "open cabinet", "take clothes")


def test_kept_and_new_steps_share_one_limit():
    recorded = kept("go bathroom", None)
    script = Script(None, None, "look", "look", "look")
    (played,) = run(script, Episode("e", CLOTHES, 1, kept=recorded), limit=3)
    assert len(played) == 3 and played.actions == ("go bathroom", None, "look")
    assert not played.steps[1].valid and played.steps[1].response == "hm"


def test_without_resampling_the_episode_ends_with_its_recording():
    (played,) = run(Script(), Episode("e", CLOTHES, 1, kept=kept("go cabinet"), resample=False))
    assert played.termination == "recording" and len(played) == 1
    (empty,) = run(Script(), Episode("e", CLOTHES, 1, resample=False))
    assert empty.termination == "recording" and len(empty) == 0


class Breaking(HouseEnvironment):
    """Raises on `fly`, and at the start of one task."""

    def reset(self, task):
        if task is TASKS[1]:
            raise RuntimeError("no such\nhouse")
        return super().reset(task)

    def step(self, action):
        if action == "fly":
            raise ValueError("wings")
        return super().step(action)


def test_an_environment_that_raises_ends_its_own_episode_only():
    class Mixed(Script):
        def choose(self, turn):
            return "fly" if turn.slot == 0 else super().choose(turn)

    script = Mixed("go cabinet", "open cabinet", "take clothes")
    episodes = [Episode("a", CLOTHES, 1), Episode("b", TASKS[1], 2), Episode("c", CLOTHES, 3)]
    a, b, c = run(script, *episodes, environment=Breaking)
    assert a.termination == "error: ValueError: wings" and not a.success
    assert b.termination == "error: RuntimeError: no such house" and len(b) == 0
    assert c.success


class Factory:
    """Makes an environment, but for the second time it is asked to."""

    def __init__(self, make, error):
        self.make, self.error = make, error
        self.made = []

    def __call__(self):
        self.made.append(None)
        if len(self.made) == 2:
            raise self.error
        self.made[-1] = self.make()
        return self.made[-1]


def test_an_episode_whose_environment_cannot_be_made_fails_alone():
    script = Script("go cabinet", "open cabinet", "take clothes")
    episodes = [Episode(name, CLOTHES, 1) for name in "abc"]
    factory = Factory(HouseEnvironment, OSError("no\nroom"))
    a, b, c = run(script, *episodes, environment=factory)
    assert (b.termination, len(b), b.success) == ("error: OSError: no room", 0, False)
    assert b.id == "b" and a.success and c.success


def test_a_mistake_of_the_user_ends_the_rollout_and_closes_what_was_made():
    closed = []

    class Closing(HouseEnvironment):
        def close(self):
            closed.append(self)

    factory = Factory(Closing, UserError("no Java"))
    with pytest.raises(UserError, match="no Java"):
        run(Script(), *(Episode(name, CLOTHES, 1) for name in "abc"), environment=factory)
    assert closed == factory.made[:1]


def test_the_same_seeds_give_the_same_episodes():
    episodes = [Episode(str(n), CLOTHES, n) for n in range(6)]
    first, second = run(RandomAgent(), *episodes), run(RandomAgent(), *episodes)
    assert first == second
    assert len({trajectory.actions for trajectory in first}) > 1


def test_state_digests_are_the_same_in_every_process():
    code = (
        "from toys.house import *; from trajevolve.rollout import _state_digest\n"
        "e = HouseEnvironment(); e.reset(TASKS[1]); print(_state_digest(e))"
    )
    tests = str(Path(__file__).parent)

    def digest(hash_seed):
        environment = {**os.environ, "PYTHONPATH": tests, "PYTHONHASHSEED": hash_seed}
        return subprocess.check_output([sys.executable, "-c", code], env=environment)

    assert digest("1") == digest("2")


class Cramped(HouseEnvironment):
    """Room for two episodes at once."""

    spec = replace(HouseEnvironment.spec, concurrent=2)
    living: ClassVar[set[int]] = set()
    most = 0

    def reset(self, task):
        self.living.add(id(self))
        type(self).most = max(self.most, len(self.living))
        return super().reset(task)

    def close(self):
        self.living.discard(id(self))


@pytest.mark.parametrize("limit", [3, 40])
def test_no_more_episodes_live_than_the_environment_can_have(limit):
    """The next one starts when one ends, and plays what it would have played beside all others."""
    Cramped.most = 0
    episodes = [Episode(f"e{n}", TASKS[n % len(TASKS)], n) for n in range(7)]
    said = []
    cramped = play(
        episodes,
        RandomAgent(),
        Cramped,
        EnvConfig(step_limit=limit),
        progress=lambda done, total: said.append((done, total)),
    )
    assert cramped == run(RandomAgent(), *episodes, limit=limit)
    assert Cramped.most == 2 and not Cramped.living
    assert said[-1] == (7, 7) and said == sorted(said)


def test_no_more_live_after_one_that_could_not_be_made():
    Cramped.most = 0
    episodes = [Episode(f"e{n}", TASKS[n % len(TASKS)], n) for n in range(7)]
    played = run(RandomAgent(), *episodes, environment=Factory(Cramped, OSError("no room")))
    assert [item.id for item in played] == [episode.id for episode in episodes]
    assert [item.termination.startswith("error") for item in played] == [n == 1 for n in range(7)]
    assert Cramped.most == 2 and not Cramped.living


def test_an_episode_that_cannot_start_gives_its_place_to_the_next():
    class Locked(Cramped):
        def reset(self, task):
            super().reset(task)
            raise RuntimeError("locked")

    played = run(
        RandomAgent(), *(Episode(f"e{n}", CLOTHES, n) for n in range(5)), environment=Locked
    )
    assert [item.termination for item in played] == ["error: RuntimeError: locked"] * 5
    assert not Locked.living
