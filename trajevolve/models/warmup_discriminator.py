"""How a shipped discriminator was made: verified clumsy successes, then three epochs of LoRA."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from trajevolve.config import CreditConfig, DiscriminatorConfig, EnvConfig, ModelConfig
from trajevolve.credit.discriminator import Discriminator
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.credit.pretraining import PretrainingReport, pretrain_discriminator
from trajevolve.files import write_folder
from trajevolve.models.loading import load_policy
from trajevolve.models.practice import Practice
from trajevolve.rollout import Episode, play
from trajevolve.seeds import derive_seed
from trajevolve.trajectory import Trajectory


@dataclass(frozen=True)
class DiscriminatorRecipe:
    """The recipe (paper §3.2: about 2,000 successes of another agent, 3 epochs).

    Attributes:
        practice: the environment's part.
        seed: of tasks, slips and order.
        training: verified successes to learn from.
        heldout: verified successes of other tasks to test on.
        step_limit: steps of a demonstrated episode.
        epochs: passes over the training set.
        lr: peak learning rate.
    """

    practice: Practice
    seed: int = 20240301
    training: int = 2400
    heldout: int = 400
    step_limit: int = 30
    epochs: int = 3
    lr: float = 2e-3


def verified_successes(recipe: DiscriminatorRecipe, stream: str) -> Iterator[Trajectory]:
    """Yield successes of the clumsy expert in fresh tasks, steps labelled, for ever."""
    limit = EnvConfig(step_limit=recipe.step_limit)
    for number in itertools.count():
        lesson = recipe.practice.lesson(recipe.seed, stream, number)
        episodes = [Episode(t.id, t, derive_seed(recipe.seed, t.id)) for t in lesson.tasks]
        played = play(episodes, recipe.practice.expert(None), lesson.make_environment, limit)
        tasks = {task.id: task for task in lesson.tasks}
        labelled, _ = verify_trajectories(lesson.make_environment(), tasks, played, CreditConfig())
        yield from (trajectory for trajectory in labelled if trajectory.verified)


def warm_up_discriminator(
    policy: str,
    out: Path,
    recipe: DiscriminatorRecipe,
    progress: Callable[[int, int, float], None] | None = None,
) -> PretrainingReport:
    """Pre-train an adapter on the model `policy` and write it to `out`.

    Args:
        policy: ``builtin`` or a folder: the base model and its tokenizer.
        out: the adapter's folder, new.
        recipe: data and optimiser settings.
        progress: called with (batch, batches, loss).

    Returns:
        Training metrics and the scores on held-out successes, baselines beside them.

    Raises:
        UserError: `policy` cannot be loaded, or `out` cannot be written; nothing is left there.
    """
    model, tokenizer = load_policy(
        ModelConfig(name=policy, device="cpu"), recipe.practice.environment
    )
    discriminator = Discriminator(model, tokenizer, DiscriminatorConfig(), seed=recipe.seed)

    def collect(stream: str, count: int) -> list[Trajectory]:
        return list(itertools.islice(verified_successes(recipe, stream), count))

    report = pretrain_discriminator(
        discriminator,
        collect("discriminator", recipe.training),
        collect("discriminator-heldout", recipe.heldout),
        seed=recipe.seed,
        epochs=recipe.epochs,
        lr=recipe.lr,
        progress=progress,
    )
    facts = {"recipe": asdict(recipe), "report": asdict(report)}

    def fill(folder: Path) -> None:
        discriminator.save(folder)
        (folder / "recipe.json").write_text(json.dumps(facts, indent=2) + "\n")

    write_folder(out, fill)
    return report
