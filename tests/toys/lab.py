"""A laboratory like ScienceWorld: replay only, feasibility by answer, a clock that matters."""

from __future__ import annotations

from collections.abc import Sequence

from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Spec, Task

FREE = ("look around", "inventory", "task")
UNKNOWN = "No known action matches that input."


class LabEnvironment(Environment):
    """Heat water in the kitchen and focus on it at the right temperature.

    The water warms by one degree a tick while the stove is on. Opening what is open, or turning
    on what is on, fails softly: nothing happens, but the clock ticks. Focusing on cold water
    ends the episode.
    """

    spec = Spec(
        name="lab",
        snapshots=False,
        feasibility="answer",
        step_limit=30,
        kinds={
            **dict.fromkeys(("open", "go", "activate", "wait", "focus"), Kind.CHANGING),
            **dict.fromkeys(("look", "inventory", "task", "examine"), Kind.INFORMATION),
        },
    )
    templates = ("open OBJ", "go OBJ", "activate OBJ", "examine OBJ", "focus on OBJ", "wait")

    def __init__(self) -> None:
        self.executed = 0

    def reset(self, task: Task) -> Observation:
        self.needed: int = task.payload
        self.room, self.door, self.stove, self.warmth = "hall", False, False, 0
        self.solved = self.ended = False
        return self._observe("hall")

    def step(self, action: str) -> Outcome:
        self.executed += 1
        answer, feasible, ticks = self._apply(action)
        if ticks and self.stove and not self.ended:
            self.warmth += 1
        return Outcome(
            self._observe(answer),
            feasible,
            self.solved,
            self.ended,
            float(self.solved),
            float(self.solved),
            costs_step=ticks,
        )

    def kind(self, action: str) -> Kind:
        return self.spec.kinds.get(action.split(" ")[0], Kind.CHANGING)

    def task(self, ref: str) -> Task:
        return Task(ref, "lab", "heat", f"heat water to {ref} degrees", ref, int(ref))

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        return tuple(self.task(str(needed)) for needed in (1, 2, 3))[:count]

    def candidates(self) -> Sequence[str]:
        objects = ("door", "kitchen", "hall", "stove", "water")
        return tuple(
            template.replace("OBJ", thing) for template in self.templates for thing in objects
        )

    def _apply(self, action: str) -> tuple[str, bool, bool]:
        """Answer, feasible, ticks."""
        if action in FREE:
            return "you see", True, False
        if action == "wait":
            return "time passes", True, True
        if action == "examine stove" and self.room == "kitchen":
            return "a stove", True, True
        if action == "open door":
            soft, self.door = self.door, True
            return ("it is already open" if soft else "open", not soft, True)
        if action in ("go kitchen", "go hall") and self.door and action != f"go {self.room}":
            self.room = action.removeprefix("go ")
            return self.room, True, True
        if action == "activate stove" and self.room == "kitchen":
            soft, self.stove = self.stove, True
            return ("it is already on" if soft else "on", not soft, True)
        if action == "focus on water" and self.room == "kitchen":
            self.ended, self.solved = True, self.warmth >= self.needed
            return "you focus", True, True
        return UNKNOWN, False, False

    def _observe(self, text: str) -> Observation:
        return Observation(text, None, self.templates)
