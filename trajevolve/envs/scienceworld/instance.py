"""What the simulator loads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Instance:
    """One variation of one task type.

    Attributes:
        name: of the task type.
        variation: its number.
        simplifications: in their one form, see
            :func:`trajevolve.envs.scienceworld.simplifications.parse`.
    """

    name: str
    variation: int
    simplifications: str

    def __str__(self) -> str:
        """The id of its task: ``boil/12@easy``."""
        return f"{self.name}/{self.variation}@{self.simplifications.replace(',', '+')}"
