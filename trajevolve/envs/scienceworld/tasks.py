"""Variations as tasks of the environment contract.

An id says all that a task is: ``boil/12@easy`` is variation 12 of boiling with the simplifications
``easy``. What was recorded with other simplifications is therefore played with those.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from trajevolve.envs.contract import Task
from trajevolve.envs.scienceworld import simplifications
from trajevolve.envs.scienceworld.instance import Instance
from trajevolve.envs.scienceworld.splits import RELEASE, counts, known_types
from trajevolve.errors import UserError

ENV = "scienceworld"
Describe = Callable[[Instance], str]


def task_of(instance: Instance, describe: Describe) -> Task:
    """Make the task of a variation.

    Args:
        instance: the variation, with simplifications in their one form.
        describe: finds the text of the task.
    """
    content = f"{ENV} {RELEASE} {instance}"
    return Task(
        id=str(instance),
        env=ENV,
        type=instance.name,
        text=describe(instance),
        digest=hashlib.sha256(content.encode()).hexdigest()[:32],
        payload=instance,
    )


def parse_ref(ref: str, usual: str) -> Instance:
    """Read an id, ``boil/12@easy`` or ``boil/12``.

    Args:
        ref: the id.
        usual: simplifications where the id names none.

    Raises:
        UserError: no such task type or variation, or unknown simplifications.
    """
    place, at, simple = ref.strip().partition("@")
    name, slash, number = place.partition("/")
    if not slash or not (number.isascii() and number.isdigit() and len(number) < 6):
        raise UserError(f"task {ref!r}: expected <task type>/<variation>, for instance boil/12")
    known_types([name])
    total = sum(counts()[name])
    if int(number) >= total:
        raise UserError(f"task {ref!r}: {name} has variations 0 to {total - 1}")
    chosen = simplifications.parse(simple) if at else usual
    simplifications.check_playable(name, chosen)
    return Instance(name, int(number), chosen)
