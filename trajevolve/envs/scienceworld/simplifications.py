"""The benchmark's simplifications, part of what a task is."""

from __future__ import annotations

from trajevolve.errors import UserError

EASY = "easy"
NONE = "none"
KNOWN = (
    "noElectricalAction",
    "openContainers",
    "openDoors",
    "selfWateringFlowerPots",
    "teleportAction",
)
ELECTRICAL = ("power-component", "conductivity")
"""Parts of the names of task types that need connecting, which ``noElectricalAction`` takes away.
``easy`` leaves it there."""


def parse(text: str) -> str:
    """Bring simplifications to their one form: ``easy``, ``none``, or sorted names joined by ``,``.

    Raises:
        UserError: one is unknown.
    """
    names = sorted({name.strip() for name in text.replace("+", ",").split(",") if name.strip()})
    if names in ([EASY], [NONE]):
        return names[0]
    unknown = [name for name in names if name not in KNOWN]
    if unknown or not names:
        raise UserError(
            f"simplifications {text!r}: expected easy, none, or some of {', '.join(KNOWN)} joined "
            "by commas"
        )
    return ",".join(names)


def check_playable(name: str, simplifications: str) -> None:
    """Refuse a task that its simplifications make impossible. Raises UserError."""
    if "noElectricalAction" in simplifications and any(part in name for part in ELECTRICAL):
        raise UserError(
            f"task type {name!r}: needs electrical connections, which the simplification "
            "noElectricalAction takes away; leave it out"
        )


def for_simulator(simplifications: str) -> str:
    """What the simulator is given."""
    return "" if simplifications == NONE else simplifications
