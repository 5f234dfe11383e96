"""The step advantage A^S (paper §3.3): what the labels say about single actions.

Three readings of the same labels: ``signed`` (+1 necessary, -1 redundant), ``penalty`` (0, -1)
and ``centred`` (y minus its mean over the credited steps of the group).
"""

from __future__ import annotations

from trajevolve.config import CreditConfig
from trajevolve.trajectory import Group, Step, Trajectory


def credited(step: Step, trajectory: Trajectory, config: CreditConfig) -> int | None:
    """Return the label that may move the policy at `step`, None where there is none.

    Successes use only the verified y; failures, which have no counterfactual, use the
    discriminator's ŷ. The label of an information step is a default and earns nothing:
    otherwise every ``look`` would be rewarded. With ``exploration_neutral`` neither the look into
    the wrong cupboard nor the lucky guess has a label here; ρ(τ) still counts the first.
    """
    if _own(step, config) is not None or step.is_information:
        return None
    if config.exploration_neutral and step.exploring:
        return None
    if trajectory.success:
        return step.label
    return step.predicted if config.failed_step_credit else None


def step_advantages(group: Group, config: CreditConfig) -> tuple[tuple[float, ...], ...]:
    """A^S(a_t) of every step of every member; 0 where :func:`credited` is None.

    With ``invalid_advantage`` invalid steps have that value, in failures without a discriminator
    too, and have no part in the mean of ``centred``: where they are most of a group's steps, the
    mean would excuse them.
    """
    labels = [[credited(step, member, config) for step in member.steps] for member in group]
    known = [label for row in labels for label in row if label is not None]
    centre = sum(known) / len(known) if known else 0.0
    values = {
        "signed": {1: 1.0, 0: -1.0},
        "penalty": {1: 0.0, 0: -1.0},
        "centred": {1: 1.0 - centre, 0: -centre},
    }[config.step_advantage]

    def value(step: Step, label: int | None) -> float:
        own = _own(step, config)
        if own is not None:
            return own
        return 0.0 if label is None else values[label]

    return tuple(
        tuple(map(value, member.steps, row)) for member, row in zip(group, labels, strict=True)
    )


def _own(step: Step, config: CreditConfig) -> float | None:
    """Return the A^S of a step that needs no label, None of any other."""
    return None if step.valid else config.invalid_advantage
