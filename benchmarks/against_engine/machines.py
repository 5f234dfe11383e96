"""Two ways to run actions on the real engine, without anything of this package.

:class:`Downward` drives the library under TextWorld, libdownward, directly: states have numbers
that it can go back to. :class:`TextWorld` is the whole engine and knows no way back but a reset.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol


class Machine(Protocol):
    """Runs the actions of one game from its start."""

    steps: int
    """Actions given so far."""

    def start(self) -> None:
        """Go to the start state."""

    def do(self, action: str) -> bool:
        """Execute `action` if it is admissible, and say whether it was."""

    def solved(self) -> bool:
        """The goal holds in the current state."""


class Engines:
    """The parts of an installed alfworld; loading them takes some seconds.

    Raises:
        ImportError: the extra alfworld is not installed.
    """

    def __init__(self) -> None:
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
        from fast_downward import Atom, Operator  # type: ignore[import-untyped]
        from textworld import EnvInfos
        from textworld.envs.pddl import PddlEnv

        infos = EnvInfos(admissible_commands=True, won=True, feedback=True)
        self.operator_type: Any = Operator
        self.atom_type: Any = Atom
        self.inner: Any = PddlEnv(infos)
        self.outer: Any = AlfredDemangler(self.inner, shuffle=False)

    def load(self, game: Path) -> None:
        """Load a game file."""
        self.outer.load(json.loads(game.read_text()))


class Downward:
    """One game in libdownward: its own commands, transitions, goal test and state numbers.

    The commands of a state are asked for once; every action is really applied.
    """

    def __init__(self, engines: Engines, game: Path) -> None:
        engines.load(game)
        self.steps = 0
        self._engines = engines
        self._inner = engines.inner
        self._library = engines.inner.downward_lib
        self._start: int = self._library.get_state_id()
        self._admissible: dict[int, dict[str, tuple[int, int]]] = {}
        self._names: dict[int, str] = {}
        self._states: dict[int, frozenset[str]] = {}
        self._read = _predicates_read(engines.inner._pddl_state.task)

    def start(self) -> None:
        """Go to the start state."""
        self._library.set_state_id(self._start)

    def do(self, action: str) -> bool:
        """Apply the operator that `action` names, if one is applicable."""
        self.steps += 1
        operator = self.applicable().get(action)
        if operator is None:
            return False
        number, atoms = operator
        self._library.apply_operator(number, (self._engines.atom_type * atoms)())
        return True

    def solved(self) -> bool:
        """Libdownward's goal test."""
        return bool(self._library.check_goal())

    def state(self) -> frozenset[str]:
        """What is true now and is read by some precondition, effect condition or the goal.

        The domain also notes what was looked at (``checked``), which nothing reads: two states that
        differ in it alone behave alike and count as equal.
        """
        number: int = self._library.get_state_id()
        if number not in self._states:
            atoms = (self._engines.atom_type * self._library.get_state_size())()
            self._library.get_state(atoms)
            facts = (atom.name for atom in atoms)
            self._states[number] = frozenset(
                fact for fact in facts if fact.split(" ", 1)[1].partition("(")[0] in self._read
            )
        return self._states[number]

    def applicable(self) -> dict[str, tuple[int, int]]:
        """Commands of the current state: number of the operator, and of the atoms it changes.

        Of several operators with one command TextWorld takes the first.
        """
        state: int = self._library.get_state_id()
        if state not in self._admissible:
            count = self._library.get_applicable_operators_count()
            operators = (self._engines.operator_type * count)()
            self._library.get_applicable_operators(operators)
            found: dict[str, tuple[int, int]] = {}
            for operator in operators:
                numbers = (operator.id, operator.nb_effect_atoms)
                found.setdefault(self._command(operator), numbers)
            self._admissible[state] = found
        return self._admissible[state]

    def _command(self, operator: Any) -> str:
        """Let TextWorld's grammar write an operator's command; it depends on fixed facts only."""
        command = self._names.get(operator.id)
        if command is None:
            from textworld.logic import Placeholder, Variable

            name, *arguments = operator.name.split()
            state, logic = self._inner._pddl_state, self._inner._logic
            # Translation adds parameters that an operator's name leaves out.
            parameters = zip(state._actions[name].parameters, arguments, strict=False)
            mapping = {
                Placeholder(hole.name.strip("?"), hole.type_name): Variable(value, hole.type_name)
                for hole, value in parameters
            }
            infos = self._inner._entity_infos
            context = {
                "state": state,
                "facts": list(state.facts),
                "variables": {hole.name: infos[value.name] for hole, value in mapping.items()},
                "mapping": mapping,
                "entity_infos": infos,
            }
            command = logic.grammar.derive(logic.actions[name].template, context)
            command = command.format(**{key: info.name for key, info in infos.items()})
            self._names[operator.id] = command
        return command


def _predicates_read(task: Any) -> set[str]:
    """Names of the predicates that can decide what is applicable, what happens, or success."""
    conditions = [task.goal, *(axiom.condition for axiom in task.axioms)]
    for action in task.actions:
        conditions += [action.precondition, *(effect.condition for effect in action.effects)]
    found: set[str] = set()
    while conditions:
        condition = conditions.pop()
        conditions += condition.parts
        if hasattr(condition, "predicate"):
            found.add(condition.predicate)
    return found


class TextWorld:
    """One game in the whole engine; `resets` counts the returns to its start."""

    def __init__(self, engines: Engines, game: Path) -> None:
        engines.load(game)
        self.steps = 0
        self.resets = 0
        self._engine = engines.outer
        self._state: Any = None

    def start(self) -> None:
        """Reset the engine."""
        self.resets += 1
        self._state = self._engine.reset()

    def do(self, action: str) -> bool:
        """Send `action` in any case, as a naive replay would."""
        self.steps += 1
        admissible = action in self._state["admissible_commands"]
        self._state, _, _ = self._engine.step(action)
        return admissible

    def solved(self) -> bool:
        """The engine's won flag."""
        return bool(self._state["won"])
