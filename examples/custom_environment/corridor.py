"""A corridor with a key and a locked door: an environment of one's own in about twenty lines."""

from trajevolve import Environment, Kind, Observation, Outcome, Spec, Task

CHANGING = ("left", "right", "take key", "unlock door")


class Corridor(Environment):
    """Rooms 0 to 3; the key lies in room 1, the door is in room 3."""

    spec = Spec("corridor", snapshots=True, feasibility="admissible", exact_states=True)

    def reset(self, task):  # noqa: D102
        self.state = (0, False, False)  # room, key in hand, door unlocked
        return self._observe()

    def step(self, action):  # noqa: D102
        room, key, unlocked = self.state
        feasible = action in self._observe().admissible
        if feasible and action in CHANGING:
            room += {"left": -1, "right": 1}.get(action, 0)
            self.state = (room, key or action == "take key", unlocked or action == "unlock door")
        solved = self.state[2]
        return Outcome(self._observe(), feasible, solved, solved, float(solved), float(solved))

    def kind(self, action):  # noqa: D102
        return Kind.INFORMATION if action == "look" else Kind.CHANGING

    def task(self, ref):  # noqa: D102
        return Task(ref, "corridor", "unlock", "unlock the door", digest="corridor-1")

    def tasks(self, split, count=None, seed=0):  # noqa: D102
        return [self.task("0")]

    def candidates(self):  # noqa: D102
        return self._observe().admissible

    def success(self):  # noqa: D102
        return self.state[2]

    def snapshot(self):  # noqa: D102
        return self.state

    def restore(self, mark):  # noqa: D102
        self.state = mark

    def state_key(self):  # noqa: D102
        return self.state

    def _observe(self):
        room, key, _ = self.state
        allowed = ["look", *["left"] * (room > 0), *["right"] * (room < 3)]
        allowed += ["take key"] * (room == 1 and not key) + ["unlock door"] * (room == 3 and key)
        return Observation(f"You are in room {room}.", tuple(allowed))
