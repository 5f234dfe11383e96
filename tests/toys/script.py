"""An agent that plays a fixed list of actions."""

from __future__ import annotations

from collections.abc import Sequence

from trajevolve.agent.agents import ScriptedAgent
from trajevolve.agent.contract import Turn


class Script(ScriptedAgent):
    """Plays the list by position, whatever happens."""

    def __init__(self, actions: Sequence[str]) -> None:
        self.actions = actions

    def choose(self, turn: Turn) -> str:
        return self.actions[len(turn.history)]
