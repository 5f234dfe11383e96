"""Sound toys pass; each kind of defect fails the check that is named after it."""

from dataclasses import replace

import pytest
from toys.house import HouseEnvironment, house_task
from toys.lab import LabEnvironment
from toys.shop import PREV, ShopEnvironment
from toys.wrappers import Limited

import trajevolve
from trajevolve.envs.checker import check_environment
from trajevolve.envs.contract import Kind, Observation, Transition


class Exploring(HouseEnvironment):
    """Calls every first visit exploration."""

    spec = replace(HouseEnvironment.spec, exploration=True)

    def exploring(self, actions, answers):
        assert len(actions) == len(answers)
        first = {action: n for n, action in reversed(list(enumerate(actions)))}
        return sorted(n for action, n in first.items() if action.startswith("go "))


class Twice(Exploring):
    """Names the first step twice."""

    def exploring(self, actions, answers):
        return [0, 0]


class Beyond(Exploring):
    """Names the step after the last."""

    def exploring(self, actions, answers):
        return [len(actions)]


@pytest.mark.parametrize(
    ("env", "skipped"),
    [
        (HouseEnvironment(), {"coupled", "exploration"}),
        (Exploring(), {"coupled"}),
        (ShopEnvironment(), {"exploration"}),
        (LabEnvironment(), {"snapshot", "state keys", "admissible", "coupled", "exploration"}),
        (Limited(HouseEnvironment()), {"snapshot", "state keys", "coupled", "exploration"}),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_sound_environments_pass(env, skipped, seed):
    report = check_environment(env, env.tasks("all"), seed)
    assert report.passed, str(report)
    assert {check.name for check in report.checks if check.status == "skip"} == skipped


class Forgetful(HouseEnvironment):
    """Answers with a count that reset does not clear."""

    def step(self, action):
        outcome = super().step(action)
        seen = Observation(f"{self.executed}", outcome.observation.admissible)
        return replace(outcome, observation=seen)


class Leaking(HouseEnvironment):
    """What was opened in one task stays open in the next."""

    def reset(self, task):
        opened = self.state.opened if hasattr(self, "state") and task != self.last else frozenset()
        self.last = task
        super().reset(task)
        self.state = replace(self.state, opened=opened)
        return self._observe("you are at the door")


class Hasty(HouseEnvironment):
    """advance claims that everything can be executed."""

    def advance(self, action):
        outcome = self.step(action)
        return Transition(True, outcome.success, outcome.done)


class Shallow(HouseEnvironment):
    """A snapshot forgets what was opened."""

    def restore(self, mark):
        self.state = replace(mark, opened=frozenset())


class Mutable(HouseEnvironment):
    """Every mark is the same live object."""

    def snapshot(self):
        return self

    def restore(self, mark):
        self.state = mark.state


class Coarse(HouseEnvironment):
    """The key leaves out what is in the hand."""

    def state_key(self):
        return replace(self.state, hand="", things=frozenset())


class Boastful(HouseEnvironment):
    """Lists an action that cannot be executed."""

    def _observe(self, text):
        return Observation(text, (*self._admissible(), "fly"))


class Secretive(HouseEnvironment):
    """Executes an action that it does not list."""

    def _observe(self, text):
        return Observation(text, tuple(a for a in self._admissible() if a != "inventory"))

    def reset(self, task):
        observation = super().reset(task)
        return Observation(observation.text, self._admissible())


class Slipping(HouseEnvironment):
    """An action that cannot be executed still moves the agent."""

    def step(self, action):
        outcome = super().step(action)
        if not outcome.feasible:
            self.state = replace(self.state, at="shelf")
            return replace(outcome, observation=self._observe("nothing happens"))
        return outcome


class Ticking(LabEnvironment):
    """Unknown input costs a step."""

    def step(self, action):
        return replace(super().step(action), costs_step=True)


class Lax(HouseEnvironment):
    """Unknown verbs are queries."""

    def kind(self, action):
        return self.spec.kinds.get(action.split(" ")[0], Kind.INFORMATION)


class Idle(HouseEnvironment):
    """`look` is declared changing."""

    def kind(self, action):
        return Kind.CHANGING


class Restless(HouseEnvironment):
    """`open` is declared information."""

    def kind(self, action):
        return Kind.INFORMATION if action.startswith("open") else super().kind(action)


class Uncoupled(ShopEnvironment):
    """A tab without its way back."""

    def coupled(self, actions):
        return ()


class Astray(ShopEnvironment):
    """A tab is coupled with the way to the index, which loses the item."""

    def coupled(self, actions):
        return [
            (i, i + 1)
            for i, after in enumerate(actions[1:])
            if self.kind(actions[i]) == Kind.INFORMATION
            and after in (PREV, "click[back to search]")
        ]


class OutOfRange(ShopEnvironment):
    """Groups of positions that do not exist."""

    def coupled(self, actions):
        return [(0, len(actions))]


class Generous(ShopEnvironment):
    """Full score without success."""

    def step(self, action):
        return replace(super().step(action), score=1.0)


class Blind(ShopEnvironment):
    """success() says solved from the item page on."""

    def success(self):
        return self.page.kind == "item"


class Unstable(HouseEnvironment):
    """The standard form grows each time."""

    def canonical(self, action):
        return action + "!"


class Listless(HouseEnvironment):
    """Declares an admissible set and lists none."""

    def _observe(self, text):
        return Observation(text, None)


class Crashing(HouseEnvironment):
    """Fails when it is restored."""

    def restore(self, mark):
        raise OSError("the file is\ngone")


@pytest.mark.parametrize(
    ("env", "name", "text"),
    [
        (Listless(), "contract", "lists no admissible actions"),
        (Forgetful(), "determinism", "another text when the episode is replayed"),
        (Leaking(), "isolation", "reset must clear everything"),
        (Hasty(), "advance", "says feasible=True, step says False"),
        (Shallow(), "snapshot", "must be immutable and hold the whole state"),
        (Mutable(), "snapshot", "must be immutable and hold the whole state"),
        (Coarse(), "state keys", "two states with the same state_key"),
        (Boastful(), "admissible", "'fly' is listed but cannot be executed"),
        (Secretive(), "admissible", "'inventory' is not listed but is executed"),
        (Slipping(), "infeasible", "changed the state_key"),
        (Ticking(), "infeasible", "must say costs_step=False"),
        (Lax(), "kinds", "unknown verbs must count as changing"),
        (Idle(), "kinds", "is declared changing"),
        (Restless(), "information", "'open cabinet' is declared information and changes"),
        (Uncoupled(), "information", "couple it with the action that undoes it"),
        (Astray(), "coupled", "are coupled as one query"),
        (OutOfRange(), "coupled", "is outside the"),
        (Twice(), "exploration", "give ascending positions, each once"),
        (Beyond(), "exploration", "outside the"),
        (Generous(), "success", "must be 1.0 exactly on success"),
        (Blind(), "success", "success() says True, the answer said False"),
        (Unstable(), "canonical", "must be its own standard form"),
        (Crashing(), "snapshot", "raised OSError: the file is gone"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, trajevolve.Environment) else "",
)
def test_each_defect_fails_its_check(env, name, text):
    tasks = [*env.tasks("all")]
    if isinstance(env, HouseEnvironment):
        tasks.append(house_task("hand", "cup", cabinet="cup,ball", shelf=""))
    report = check_environment(env, tasks, 0)
    assert not report.passed
    assert report[name].status == "fail", str(report)
    assert text in report[name].text


def test_the_report_is_one_line_a_check():
    env = Hasty()
    report = check_environment(env, env.tasks("all"))
    lines = str(report).splitlines()
    assert len(lines) == len(report.checks) + 1
    assert lines[-1] == "house: 1 failed, 2 skipped"
    with pytest.raises(KeyError):
        report["nonsense"]


def test_an_environment_without_tasks_or_that_cannot_start_fails():
    env = HouseEnvironment()
    assert check_environment(env, [])["tasks"].status == "fail"
    broken = replace(env.tasks("all")[0], payload=None)
    report = check_environment(env, [broken])
    assert "a first random walk raised AttributeError" in report["walk"].text


def test_the_same_seed_gives_the_same_report():
    env = LabEnvironment()
    assert check_environment(env, env.tasks("all"), 5) == check_environment(
        env, env.tasks("all"), 5
    )
