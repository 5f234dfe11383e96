"""How good is the discriminator? Accuracy, F1 per class, and two baselines to beat.

Necessary and redundant steps are unequal in number, so accuracy alone says little: the majority
class and the verb alone (``open`` is mostly redundant, ``take`` mostly not) stand beside it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trajevolve.envs.contract import Kind
from trajevolve.trajectory import Step, Trajectory


@dataclass(frozen=True)
class Scores:
    """Agreement of predictions with reference labels.

    A precision or recall without a case to measure it on is 0, and so is its F1.

    Attributes:
        count: number of steps compared.
        accuracy: share that agrees.
        macro_f1: mean of the two classes' F1.
        precision: per class, {1: necessary, 0: redundant}.
        recall: per class.
    """

    count: int
    accuracy: float
    macro_f1: float
    precision: dict[int, float]
    recall: dict[int, float]

    def metrics(self, prefix: str) -> dict[str, float]:
        """Flatten to metric names below `prefix`."""
        flat = {"count": float(self.count), "accuracy": self.accuracy, "macro_f1": self.macro_f1}
        for label, name in ((1, "necessary"), (0, "redundant")):
            flat[f"precision_{name}"] = self.precision[label]
            flat[f"recall_{name}"] = self.recall[label]
        return {f"{prefix}/{key}": value for key, value in flat.items()}


def score(labels: Sequence[int], predictions: Sequence[int]) -> Scores:
    """Compare `predictions` with `labels`, both 0 or 1 and of equal length."""
    pairs = Counter(zip(labels, predictions, strict=True))
    precision: dict[int, float] = {}
    recall: dict[int, float] = {}
    f1 = []
    for own in (0, 1):
        hits = pairs[own, own]
        precision[own] = _ratio(hits, hits + pairs[1 - own, own])
        recall[own] = _ratio(hits, hits + pairs[own, 1 - own])
        f1.append(_ratio(2 * precision[own] * recall[own], precision[own] + recall[own]))
    accuracy = _ratio(pairs[0, 0] + pairs[1, 1], len(labels))
    return Scores(len(labels), accuracy, sum(f1) / 2, precision, recall)


@dataclass(frozen=True)
class Baselines:
    """Two predictors without a model, fitted on training labels.

    Attributes:
        majority: the more frequent label (necessary on a tie).
        by_verb: the more frequent label of each verb, the action's first word.
    """

    majority: int
    by_verb: Mapping[str, int]

    def verb_alone(self, action: str) -> int:
        """Predict from the verb; one that training never showed gets the majority."""
        return self.by_verb.get(_verb(action), self.majority)


def fit_baselines(trajectories: Iterable[Trajectory]) -> Baselines:
    """Count the labels of the verified successes among `trajectories`."""
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for trajectory in trajectories:
        if trajectory.success and trajectory.verified:
            for step in trajectory.steps:
                if _asked(step) and step.label is not None:
                    counts[_verb(step.action or "")][step.label] += 1
    overall = sum(counts.values(), Counter())
    return Baselines(_majority(overall), {verb: _majority(c) for verb, c in counts.items()})


def score_trajectories(
    trajectories: Iterable[Trajectory],
    baselines: Baselines,
    prefix: str,
    references: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, float]:
    """Score predictions and baselines on the changing steps of `trajectories`.

    Args:
        trajectories: with predictions.
        baselines: fitted on the training labels.
        prefix: of the metric names, ``discriminator/success`` for instance.
        references: trajectory id -> label of every step, for failures (from the oracle);
            without it the trajectories' own labels count.

    Returns:
        ``prefix/accuracy`` …, ``prefix/majority/…`` and ``prefix/verb/…``; empty where no step
        has both a prediction and a reference.
    """
    labels: list[int] = []
    predictions: list[int] = []
    verbs: list[int] = []
    for trajectory in trajectories:
        reference: Sequence[int | None] = (
            [step.label for step in trajectory.steps]
            if references is None
            else references.get(trajectory.id, [None] * len(trajectory))
        )
        for step, label in zip(trajectory.steps, reference, strict=True):
            if _asked(step) and label is not None and step.predicted is not None:
                labels.append(label)
                predictions.append(step.predicted)
                verbs.append(baselines.verb_alone(step.action or ""))
    if not labels:
        return {}
    majority = [baselines.majority] * len(labels)
    return {
        **score(labels, predictions).metrics(prefix),
        **score(labels, majority).metrics(f"{prefix}/majority"),
        **score(labels, verbs).metrics(f"{prefix}/verb"),
    }


def _asked(step: Step) -> bool:
    return step.valid and step.kind == Kind.CHANGING


def _verb(action: str) -> str:
    """Cut ``search[red shoes]`` and ``open cabinet 1`` to the verb."""
    return action.replace("[", " ").split(" ", 1)[0]


def _majority(counts: Counter[int]) -> int:
    return int(counts[1] >= counts[0])


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
