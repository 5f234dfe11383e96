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


def search_steps(
    simulator: Simulator, actions: Sequence[str], answers: Sequence[str]
) -> tuple[int, ...]:
    """Return the 0-based positions of first visits and first openings before all was seen.

    Seen is what an answer named: as many objects as the goal asks for, and a lamp where it is used.

    Args:
        simulator: of the game.
        actions: those that were executed, in standard form.
        answers: the text after each of them.
    """
    objects = {simulator.objects[o] for o in bits(simulator.targets)}
    lamps = {simulator.objects[o] for o in bits(simulator.lamps)}
    wanted = 2 if simulator.goal.type == "pick_two_obj_and_place" else 1
    found: list[int] = []
    done: set[str] = set()
    seen: set[str] = set()
    for position, (action, answer) in enumerate(zip(actions, answers, strict=True)):
        complete = len(seen & objects) >= wanted and (not lamps or bool(seen & lamps))
        if action.startswith(("go to ", "open ")) and action not in done and not complete:
            found.append(position)
        done.add(action)
        seen.update(_SEEN.findall(answer))
    return tuple(found)
