"""Discriminator pre-training: labels before the policy can win any (paper §3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajevolve.credit.discriminator import Discriminator, Progress
from trajevolve.credit.scoring import fit_baselines, score_trajectories
from trajevolve.trajectory import Trajectory


@dataclass(frozen=True)
class PretrainingReport:
    """What pre-training cost and gave.

    Attributes:
        training: the metrics of :meth:`Discriminator.fit`.
        heldout: scores on held-out successes, baselines beside them.
    """

    training: dict[str, float]
    heldout: dict[str, float]


def pretrain_discriminator(
    discriminator: Discriminator,
    training: Sequence[Trajectory],
    heldout: Sequence[Trajectory],
    *,
    seed: int,
    epochs: int = 3,
    lr: float = 2e-3,
    progress: Progress | None = None,
) -> PretrainingReport:
    """Train on verified successes of a stronger or clumsy expert, and test on others.

    Ends with a fresh optimiser, as RL goes on with its own learning rate.

    Args:
        discriminator: trained in place.
        training: about 2,000 verified successes; redundant steps are the negative examples.
        heldout: verified successes of other task instances.
        seed: of order and hidden tails.
        epochs: the paper's 3.
        lr: peak learning rate, falling linearly to zero. The default suits the small built-in
            model; one of a billion parameters wants about 1e-5.
        progress: called with (batch, batches, loss).
    """
    trained = discriminator.fit(
        training, seed=seed, epochs=epochs, lr=lr, decay=True, progress=progress
    )
    discriminator.forget_moments()
    scores = score_trajectories(
        discriminator.predict(heldout), fit_baselines(training), "discriminator/heldout"
    )
    return PretrainingReport(trained, scores)
