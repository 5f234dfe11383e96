from collections.abc import Callable, Sequence

import pytest

from trajevolve.envs.contract import Kind
from trajevolve.trajectory import Evolution, Step, Trajectory


@pytest.fixture(scope="session")
def make_trajectory() -> Callable[..., Trajectory]:
    """Labels: 1, 0, None, "i1" for an information step with its default label, "x" invalid."""

    def make(
        labels: Sequence[int | str | None],
        *,
        success: bool = True,
        reward: float | None = None,
        evolved: bool = False,
    ) -> Trajectory:
        steps = tuple(_step(label, success) for label in labels)
        return Trajectory(
            id="t",
            task_id="g",
            task_type="pick",
            task="x",
            seed=0,
            steps=steps,
            success=success,
            score=float(success),
            reward=10.0 * success if reward is None else reward,
            verified=success and None not in labels,
            evolution=Evolution("p", "elimination", None, 5, 10.0, True) if evolved else None,
        )

    return make


def _step(label: int | str | None, success: bool) -> Step:
    kind = Kind.INFORMATION if label == "i1" else Kind.CHANGING
    value = {"i1": 1, "x": 0}.get(label, label)
    key = "label" if success else "predicted"
    return Step("o", None, "r", "a", label != "x", kind=kind, **{key: value})
