"""Which steps of an ALFWorld episode looked for what the task needs.

The room lists its receptacles at once, and nothing of what is in them: where the object is (and the
lamp, in look_at_obj_in_light) has to be found out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trajevolve.envs.alfworld.simulator import Simulator
from trajevolve.envs.alfworld.texts import bits

_SEEN = re.compile(r"\ba (\S+ \d+)")
_LOOKS = re.compile(r"(?:go to|open) (\S+ \d+)")
_TAKES = re.compile(r"take (\S+ \d+) from ")
_PUTS = ("move ", "put ")


def exploring_steps(
    simulator: Simulator, actions: Sequence[str], answers: Sequence[str]
) -> tuple[int, ...]:
    """Return the 0-based positions of first visits and first openings before all was seen.

    Seen is what an answer named: as many objects as the goal asks for, and a lamp where it is used.
    Where the first of two objects is taken to its place, that is known and no exploration.

    Args:
        simulator: of the game.
        actions: those that were executed, in standard form.
        answers: the text after each of them.
    """
    objects = {simulator.objects[o] for o in bits(simulator.targets)}
    lamps = {simulator.objects[o] for o in bits(simulator.lamps)}
    wanted = 2 if simulator.goal.type == "pick_two_obj_and_place" else 1
    places = {simulator.receptacles[r] for r in simulator.destinations}
    found: list[int] = []
    done: set[str] = set()
    seen: set[str] = set()
    held = ""
    for position, (action, answer) in enumerate(zip(actions, answers, strict=True)):
        looks = _LOOKS.fullmatch(action)
        if looks and action not in done:
            complete = len(seen & objects) >= wanted and (not lamps or bool(seen & lamps))
            delivers = held in objects and looks[1] in places
            if not (complete or delivers):
                found.append(position)
        if moved := _TAKES.match(action):
            held = moved[1]
        elif action.startswith(_PUTS):
            held = ""
        done.add(action)
        seen.update(_SEEN.findall(answer))
    return tuple(found)
