"""The checks of ``check-env``: replay, snapshots, feasibility and outcomes.

Each is a function of a :class:`Probe` that returns what it saw, raises :class:`Broken` with the
finding, or :class:`Inapplicable` where the environment does not offer what it looks at.
"""

from __future__ import annotations

from collections.abc import Callable

from trajevolve.envs.contract import Environment, Observation, Outcome, Spec
from trajevolve.envs.findings import Broken, Inapplicable, differ
from trajevolve.envs.kind_checks import (
    check_coupled,
    check_exploration,
    check_information,
    check_kinds,
)
from trajevolve.envs.probe import NONSENSE, Probe, Walk
from trajevolve.wording import counted

__all__ = ["CHECKS", "Broken", "Inapplicable"]


def check_contract(probe: Probe) -> str:
    """Types, and the traits that have to agree with each other."""
    spec = probe.env.spec
    if not isinstance(spec, Spec):
        raise Broken(f"spec is {type(spec).__name__}; give the class a trajevolve.Spec")
    if spec.feasibility not in ("admissible", "answer"):
        raise Broken(f"spec.feasibility is {spec.feasibility!r}; use 'admissible' or 'answer'")
    for walk in probe.walks:
        for observation in (walk.start, *(outcome.observation for outcome in walk.outcomes)):
            if not isinstance(observation, Observation):
                raise Broken(f"an observation is {type(observation).__name__}, not Observation")
        if spec.feasibility == "admissible" and walk.start.admissible is None:
            raise Broken(
                "spec.feasibility is 'admissible' but the start lists no admissible actions; "
                "list them, or declare 'answer'"
            )
    return f"feasibility by {spec.feasibility}, {'snapshots' if spec.snapshots else 'replay only'}"


def check_determinism(probe: Probe) -> str:
    """The same actions from the same start give the same answers (paper, appendix D.1)."""
    for walk in probe.walks:
        start = probe.env.reset(walk.task)
        if start != walk.start:
            raise Broken(f"task {walk.task.id}: a second reset answers differently")
        for index, action in enumerate(walk.actions):
            difference = differ(probe.env.step(action), walk.outcomes[index])
            if difference:
                raise Broken(
                    f"task {walk.task.id}: action {index + 1}, {action!r}, answers another "
                    f"{difference} when the episode is replayed; fix every seed at reset"
                )
    return f"{counted(len(probe.walks), 'episode')} replayed with the same answers"


def check_isolation(probe: Probe) -> str:
    """One episode leaves nothing behind for the next, on another task or after an end."""
    first = probe.walks[0]
    for walk in probe.walks:
        for other in (probe.walks[-1], walk):
            probe.reach(other, len(other.actions))
            if probe.env.reset(first.task) != first.start:
                raise Broken(
                    f"task {first.task.id} starts differently after an episode of "
                    f"{other.task.id}; reset must clear everything"
                )
            for index, outcome in enumerate(probe.tail(first, 0)):
                if differ(outcome, first.outcomes[index]):
                    raise Broken(
                        f"task {first.task.id}: {first.actions[index]!r} answers differently "
                        f"after an episode of {other.task.id}; reset must clear everything"
                    )
    return "an episode leaves nothing behind"


def check_advance(probe: Probe) -> str:
    """``advance`` is ``step`` without its texts."""
    for walk in probe.walks:
        probe.env.reset(walk.task)
        for index, action in enumerate(walk.actions):
            short, full = probe.env.advance(action), walk.outcomes[index]
            for trait in ("feasible", "success", "done"):
                if getattr(short, trait) != getattr(full, trait):
                    raise Broken(
                        f"task {walk.task.id}: advance({action!r}) says {trait}="
                        f"{getattr(short, trait)}, step says {getattr(full, trait)}"
                    )
    return "advance and step agree"


def check_snapshot(probe: Probe) -> str:
    """A restored state goes on exactly as the first time, however often and whenever."""
    if not probe.env.spec.snapshots:
        raise Inapplicable("replay only: spec.snapshots is False")
    for walk in probe.walks:
        env, size = probe.env, len(walk.actions)
        env.reset(walk.task)
        ended = bool(walk.outcomes) and walk.outcomes[-1].done
        marks = []
        for action in walk.actions:
            marks.append(env.snapshot())
            env.step(action)
        if not ended:
            marks.append(env.snapshot())
        for index in (*reversed(range(len(marks))), *probe.rng.permutation(len(marks)).tolist()):
            env.restore(marks[index])
            if walk.keys and env.state_key() != walk.keys[index]:
                raise Broken(
                    f"task {walk.task.id}: the state restored before action {index + 1} of {size} "
                    "is another one; a mark must be immutable and hold the whole state"
                )
            for offset, outcome in enumerate(probe.tail(walk, index)):
                difference = differ(outcome, walk.outcomes[index + offset])
                if difference:
                    raise Broken(
                        f"task {walk.task.id}: after restore, {walk.actions[index + offset]!r} "
                        f"answers another {difference}; a mark must hold the whole state"
                    )
    return "restored states go on as the first time"


def check_state_keys(probe: Probe) -> str:
    """Equal keys mean equal behaviour; replay gives equal keys."""
    if not probe.env.spec.exact_states:
        raise Inapplicable("states are not compared: spec.exact_states is False")
    seen: dict[object, tuple[Walk, int]] = {}
    pairs = 0
    for walk in probe.walks:
        for index, key in enumerate(walk.keys):
            if index and walk.outcomes[index - 1].done:
                continue
            twin = seen.setdefault((walk.task.id, key), (walk, index))
            if twin == (walk, index) or pairs >= 60:
                continue
            pairs += 1
            _compare_twins(probe, twin, (walk, index))
    probe.reach(probe.walks[0], len(probe.walks[0].actions))
    if probe.env.state_key() != probe.walks[0].keys[-1]:
        raise Broken("the same actions lead to another state_key; it must depend on the state only")
    return f"{len(seen)} states, {pairs} met again and alike"


def _compare_twins(probe: Probe, one: tuple[Walk, int], two: tuple[Walk, int]) -> None:
    """Two states with one key must admit the same actions and answer them alike."""
    admissible = [set(walk.observation(index).admissible or ()) for walk, index in (one, two)]
    if admissible[0] != admissible[1]:
        odd = sorted(admissible[0] ^ admissible[1])[0]
        raise Broken(
            f"two states with the same state_key differ: {odd!r} is admissible in one only; "
            "the key must hold everything that later behaviour depends on"
        )
    probe.reach(*two)
    expected = probe.tail(*one)
    probe.reach(*one)
    for answer, other in zip(probe.tail(*one), expected, strict=False):
        if (answer.feasible, answer.success, answer.done) != (
            other.feasible,
            other.success,
            other.done,
        ):
            raise Broken(
                "two states with the same state_key answer the same actions differently; "
                "the key must hold everything that later behaviour depends on"
            )


def check_admissible(probe: Probe) -> str:
    """Listed actions can be executed, unlisted ones cannot."""
    if probe.env.spec.feasibility != "admissible":
        raise Inapplicable("feasibility is read from the answer")
    everything = sorted(
        {
            action
            for walk in probe.walks
            for index in range(len(walk.actions) + 1)
            for action in walk.observation(index).admissible or ()
        }
    )
    tried = 0
    for walk, index in probe.points():
        listed = walk.observation(index).admissible or ()
        unlisted = [action for action in everything if action not in set(listed)]
        for action in (*probe.sample(listed, 12), *probe.sample(unlisted, 6), NONSENSE):
            probe.reach(walk, index)
            feasible = probe.env.step(action).feasible
            tried += 1
            if feasible != (action in listed):
                how = "listed but cannot be" if action in listed else "not listed but is"
                raise Broken(
                    f"task {walk.task.id}, after {index} actions: {action!r} is {how} executed; "
                    "the admissible set must be exactly what can be executed"
                )
    return f"{tried} actions tried: listed ones run, others do not"


def check_infeasible(probe: Probe) -> str:
    """An action that cannot be executed leaves everything as it was."""
    seen = 0
    for walk, index in probe.points():
        probe.reach(walk, index)
        answer = probe.env.step(NONSENSE)
        if answer.feasible:
            raise Broken(f"{NONSENSE!r} was executed; unknown text must answer feasible=False")
        if answer.success or answer.done:
            raise Broken(f"{NONSENSE!r} ended the episode; an infeasible action changes nothing")
        if probe.env.spec.feasibility == "answer" and answer.costs_step:
            raise Broken(
                f"{NONSENSE!r} cost a step; where the answer tells feasibility that marks a soft "
                "failure, so unknown input must say costs_step=False"
            )
        if walk.keys and probe.env.state_key() != walk.keys[index]:
            raise Broken(f"{NONSENSE!r} was infeasible and changed the state_key")
        for offset, outcome in enumerate(probe.tail(walk, index)):
            difference = differ(outcome, walk.outcomes[index + offset])
            if difference:
                raise Broken(
                    f"after an infeasible action {walk.actions[index + offset]!r} answers another "
                    f"{difference}; an infeasible action changes nothing"
                )
        seen += 1
    return f"{seen} states unchanged by an infeasible action"


def check_success(probe: Probe) -> str:
    """Success, score and ``success()`` tell the same."""
    solved = 0
    for walk in probe.walks:
        probe.env.reset(walk.task)
        for action in walk.actions:
            outcome = probe.env.step(action)
            _check_outcome(probe.env, walk, action, outcome)
        solved += any(outcome.success for outcome in walk.outcomes)
    seen = f"{solved} of {len(probe.walks)} walks solved their task"
    return seen if solved else f"{seen}, so only unsolved states were looked at"


def _check_outcome(env: Environment, walk: Walk, action: str, outcome: Outcome) -> None:
    where = f"task {walk.task.id}, after {action!r}"
    if not 0.0 <= outcome.score <= 1.0:
        raise Broken(f"{where}: score {outcome.score} is outside 0 to 1; scale it")
    if outcome.success != (outcome.score == 1.0):
        raise Broken(
            f"{where}: success={outcome.success} with score {outcome.score}; "
            "the score must be 1.0 exactly on success"
        )
    if not outcome.done and env.success() != outcome.success:
        raise Broken(f"{where}: success() says {env.success()}, the answer said {outcome.success}")


def check_canonical(probe: Probe) -> str:
    """Standard forms are their own standard form."""
    for walk in probe.walks:
        listed = [
            action
            for index in range(len(walk.actions) + 1)
            for action in probe.sample(walk.observation(index).admissible or (), 20)
        ]
        for action in listed:
            if probe.env.canonical(action) != action:
                raise Broken(
                    f"canonical({action!r}) is {probe.env.canonical(action)!r}; "
                    "an admissible action must be its own standard form"
                )
        for action in (NONSENSE, f" {NONSENSE.upper()} ", ""):
            once = probe.env.canonical(action)
            if probe.env.canonical(once) != once:
                raise Broken(f"canonical({action!r}) changes again when applied twice")
    return "standard forms are stable"


CHECKS: tuple[tuple[str, Callable[[Probe], str]], ...] = (
    ("contract", check_contract),
    ("determinism", check_determinism),
    ("isolation", check_isolation),
    ("advance", check_advance),
    ("snapshot", check_snapshot),
    ("state keys", check_state_keys),
    ("admissible", check_admissible),
    ("infeasible", check_infeasible),
    ("kinds", check_kinds),
    ("information", check_information),
    ("coupled", check_coupled),
    ("exploration", check_exploration),
    ("success", check_success),
    ("canonical", check_canonical),
)
