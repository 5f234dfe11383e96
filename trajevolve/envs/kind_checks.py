"""The checks of ``check-env`` on what steps are: changing, information, coupled, exploration."""

from __future__ import annotations

from collections import Counter

from trajevolve.envs.contract import Kind, Outcome
from trajevolve.envs.findings import Broken, Inapplicable
from trajevolve.envs.probe import NONSENSE, Probe, Walk

MANY = 5


def check_kinds(probe: Probe) -> str:
    """Every action has a kind; verbs called changing do change something."""
    env = probe.env
    if env.kind(NONSENSE) != Kind.CHANGING:
        raise Broken("an unknown verb counts as information; unknown verbs must count as changing")
    executed: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    for walk in probe.walks:
        for index, (action, outcome) in enumerate(zip(walk.actions, walk.outcomes, strict=True)):
            kind = env.kind(action)
            if not isinstance(kind, Kind):
                raise Broken(f"kind({action!r}) is {kind!r}; return a trajevolve.Kind")
            if outcome.feasible and kind == Kind.CHANGING and walk.keys:
                executed[_verb(action)] += 1
                changed[_verb(action)] += walk.keys[index] != walk.keys[index + 1]
    for verb, count in executed.items():
        if count >= MANY and not changed[verb]:
            raise Broken(
                f"{verb!r} is declared changing, and none of {count} executions changed the "
                "state_key; declare it information, or put what it changes into the key"
            )
    return "unknown verbs count as changing" + (
        f"; {len(executed)} changing verbs change the state" if executed else ""
    )


def check_information(probe: Probe) -> str:
    """An action declared information leaves the state, and what later actions do, as it was."""
    seen = 0
    for walk, index in probe.points(5):
        probe.reach(walk, index)
        for action in probe.sample(probe.information(probe.options(walk, index)), 4):
            probe.reach(walk, index)
            answer = probe.env.step(action)
            if not answer.feasible:
                continue
            seen += 1
            key = probe.env.state_key() if walk.keys else None
            if (walk.keys and key != walk.keys[index]) or not _goes_on(probe, walk, index, answer):
                if _partners(probe, walk, index, action):
                    continue  # it opens what a coupled action closes: see the check on those
                raise Broken(
                    f"task {walk.task.id}, after {index} actions: {action!r} is declared "
                    "information and changes the state; declare it changing, or couple it with "
                    "the action that undoes it"
                )
    if not seen:
        raise Inapplicable("no information action was met")
    return f"{seen} queries left the state as it was"


def check_coupled(probe: Probe) -> str:
    """Groups are well formed, and a group of queries ends in the state it began in."""
    groups = 0
    for walk in probe.walks:
        executed = walk.executed(len(walk.actions))
        taken: set[int] = set()
        for group in probe.env.coupled(executed):
            if len(group) < 2 or list(group) != sorted(set(group)):
                raise Broken(f"coupled group {group} must be two or more ascending positions")
            if group[0] < 0 or group[-1] >= len(executed):
                raise Broken(f"coupled group {group} is outside the {len(executed)} actions given")
            if taken.intersection(group):
                raise Broken(f"coupled group {group} shares a position with another group")
            taken.update(group)
            groups += 1
    for walk, index in probe.points(5):
        probe.reach(walk, index)
        for action in probe.sample(probe.information(probe.options(walk, index)), 4):
            for partner in _partners(probe, walk, index, action):
                groups += 1
                probe.reach(walk, index)
                probe.env.step(action)
                answer = probe.env.step(partner)
                if (walk.keys and probe.env.state_key() != walk.keys[index]) or not _goes_on(
                    probe, walk, index, answer
                ):
                    raise Broken(
                        f"{action!r} and {partner!r} are coupled as one query, and the state "
                        "after both is not the state before"
                    )
    if not groups:
        raise Inapplicable("no coupled actions were met")
    return f"{groups} groups, each leaves the state as it was"


def check_exploration(probe: Probe) -> str:
    """Exploring steps are among those that were executed, each once."""
    if not probe.env.spec.exploration:
        raise Inapplicable("exploration is not told from other steps: spec.exploration is False")
    found = 0
    for walk in probe.walks:
        probe.reach(walk, len(walk.actions))
        executed = walk.executed(len(walk.actions))
        answers = [outcome.observation.text for outcome in walk.outcomes if outcome.feasible]
        positions = list(probe.env.exploring(executed, answers))
        if positions != sorted(set(positions)):
            raise Broken(f"exploring gave {positions}; give ascending positions, each once")
        if positions and not 0 <= positions[0] <= positions[-1] < len(executed):
            raise Broken(f"exploring gave {positions}, outside the {len(executed)} actions given")
        found += len(positions)
    return f"{found} steps looked for something"


def _goes_on(probe: Probe, walk: Walk, index: int, answer: Outcome) -> bool:
    """Say whether the walk's next actions do what they did without the query.

    Where a query costs time, only what can be executed is compared.
    """
    if answer.done:
        return index < len(walk.outcomes) and walk.outcomes[index].done
    timed = probe.env.spec.feasibility == "answer" and answer.costs_step
    for offset, outcome in enumerate(probe.tail(walk, index)):
        before = walk.outcomes[index + offset]
        if outcome.feasible != before.feasible:
            return False
        if not timed and (outcome.success, outcome.done) != (before.success, before.done):
            return False
    return True


def _partners(probe: Probe, walk: Walk, index: int, action: str) -> list[str]:
    """Find the actions that the environment couples with `action` when they follow it."""
    probe.reach(walk, index)
    answer = probe.env.step(action)
    if not answer.feasible or answer.done:
        return []
    following = answer.observation.admissible or ()
    before = walk.executed(index)
    pair = (len(before), len(before) + 1)
    return [
        partner
        for partner in following
        if pair in {tuple(group) for group in probe.env.coupled([*before, action, partner])}
    ]


def _verb(action: str) -> str:
    return action.replace("[", " ").split(" ")[0]
