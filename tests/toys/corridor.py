"""A corridor with a key and a locked chest: small enough to check every plan by hand."""

from collections.abc import Sequence
from typing import Any

from trajevolve.envs.contract import Environment, Kind, Observation, Outcome, Spec, Task
from trajevolve.trajectory import Step, Trajectory, trajectory_reward

TASK = Task(id="corridor/0", env="corridor", type="chest", text="open the chest", digest="c0")


class Corridor(Environment):
    """Rooms 0-3. The key lies in room 1, the chest stands in room 3 and needs the key."""

    spec = Spec(name="corridor", snapshots=True, feasibility="admissible", exact_states=True)

    def reset(self, task: Task) -> Observation:
        self.place, self.holding, self.opened = 0, False, False
        return self._observe()

    def candidates(self) -> Sequence[str]:
        moves = [f"go to room {room}" for room in (self.place - 1, self.place + 1) if 0 <= room < 4]
        here = []
        if self.place == 1 and not self.holding:
            here.append("take key")
        if self.holding:
            here.append("drop key in the well")
        if self.place == 3 and self.holding:
            here.append("open chest")
        return [*moves, *here, "look"]

    def step(self, action: str) -> Outcome:
        feasible = action in self.candidates()
        if feasible and action.startswith("go"):
            self.place = int(action.rsplit(" ", 1)[1])
        elif feasible and action == "take key":
            self.holding = True
        elif feasible and action.startswith("drop"):
            self.holding, self.place = False, 2
        elif feasible and action == "open chest":
            self.opened = True
        won = self.opened
        return Outcome(self._observe(), feasible, won, won, float(won), float(won))

    def kind(self, action: str) -> Kind:
        return Kind.INFORMATION if action == "look" else Kind.CHANGING

    def task(self, ref: str) -> Task:
        return TASK

    def tasks(self, split: str, count: int | None = None, seed: int = 0) -> Sequence[Task]:
        return [TASK]

    def success(self) -> bool:
        return self.opened

    def snapshot(self) -> Any:
        return self.place, self.holding, self.opened

    def restore(self, mark: Any) -> None:
        self.place, self.holding, self.opened = mark

    def state_key(self) -> tuple[int, bool, bool]:
        return self.place, self.holding, self.opened

    def _observe(self) -> Observation:
        return Observation(f"room {self.place}", tuple(self.candidates()))


def play(actions: Sequence[str | None], id: str = "p", **fields: Any) -> Trajectory:
    """Execute `actions` and write down the trajectory that a rollout would have written."""
    env = Corridor()
    observation = env.reset(TASK)
    steps, success = [], False
    for number, action in enumerate(actions):
        outcome = env.step(action or "")
        steps.append(
            Step(
                observation=observation.text,
                admissible=observation.admissible,
                response=action or "mumble",
                action=action,
                valid=outcome.feasible,
                kind=env.kind(action) if action else None,
                response_ids=(number + 10,),
            )
        )
        observation, success = outcome.observation, outcome.success
    invalid = sum(not step.valid for step in steps)
    values: dict[str, Any] = {
        "id": id,
        "task_id": TASK.id,
        "task_type": TASK.type,
        "task": TASK.text,
        "seed": 0,
        "steps": tuple(steps),
        "success": success,
        "score": float(success),
        "reward": trajectory_reward(success, invalid),
        "termination": "success" if success else "limit",
        "final_observation": observation.text,
    }
    return Trajectory(**(values | fields))


def steps_to_go(env: Corridor) -> float:
    """Length of the shortest plan, in closed form."""
    if env.opened:
        return 0
    if env.holding:
        return 3 - env.place + 1
    return abs(env.place - 1) + 1 + 2 + 1
