"""Does an environment keep the contract? Named checks with one plain line each.

Credit by counterfactual replay is only as good as the environment's replay: an environment that
answers differently the second time, lists actions that cannot be executed, or calls an action a
query that changes the state, gives wrong labels without an error. Run this first on your own::

    report = trajevolve.check_environment(env, env.tasks("train", 5))
    print(report)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from trajevolve.envs.checks import CHECKS, Broken, Inapplicable
from trajevolve.envs.contract import Environment, Task
from trajevolve.envs.probe import Probe

Status = Literal["pass", "fail", "skip"]


@dataclass(frozen=True)
class Check:
    """One check: what was found and, after a failure, what it means and what to do."""

    name: str
    status: Status
    text: str


@dataclass(frozen=True)
class Report:
    """All checks of one environment, in the order they ran."""

    env: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """No check failed; skipped ones do not count."""
        return all(check.status != "fail" for check in self.checks)

    def __getitem__(self, name: str) -> Check:
        """Return the check called `name`. Raises KeyError."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    def __str__(self) -> str:
        """Return one line a check, and a line of summary."""
        failed = sum(check.status == "fail" for check in self.checks)
        skipped = sum(check.status == "skip" for check in self.checks)
        width = max(len(check.name) for check in self.checks)
        lines = [f"{each.status:4}  {each.name:{width}}  {each.text}" for each in self.checks]
        verdict = f"{failed} failed" if failed else "keeps the contract"
        tail = f", {skipped} skipped" if skipped else ""
        return "\n".join([*lines, f"{self.env}: {verdict}{tail}"])


def check_environment(env: Environment, tasks: Sequence[Task], seed: int = 0) -> Report:
    """Play seeded random walks on `tasks` and hold `env` against its contract.

    Nothing is assumed of the environment, and nothing it raises leaves this function: an
    exception fails the check in which it occurred.

    Args:
        env: the environment; it is reset many times and left in some state.
        tasks: a few tasks, two or more to see whether one leaks into the next.
        seed: seed of the walks.
    """
    name = env.spec.name
    if not tasks:
        text = "no tasks were given; tasks(split) must list some"
        return Report(name, (Check("tasks", "fail", text),))
    try:
        probe = Probe.walk(env, tasks, seed)
    except Exception as error:
        text = f"a first random walk raised {_describe(error)}"
        return Report(name, (Check("walk", "fail", text),))
    steps = sum(len(walk.actions) for walk in probe.walks)
    first = Check("walk", "pass", f"{len(probe.walks)} random walks, {steps} actions")
    return Report(name, (first, *(_run(name, check, probe) for name, check in CHECKS)))


def _run(name: str, check: Callable[[Probe], str], probe: Probe) -> Check:
    try:
        return Check(name, "pass", check(probe))
    except Broken as finding:
        return Check(name, "fail", str(finding))
    except Inapplicable as reason:
        return Check(name, "skip", str(reason))
    except Exception as error:
        return Check(name, "fail", f"raised {_describe(error)}")


def _describe(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
