"""What would stop a run later, or leave a setting without effect, found before it starts.

Asked wherever a run begins: by the command, by the flow on a worker, and before one is submitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trajevolve.advantages.registry import LABELLED, estimator
from trajevolve.config import RunConfig
from trajevolve.credit.discriminator_loading import check_discriminator
from trajevolve.credit.exploration import check_exploration
from trajevolve.credit.oracle import distance_of
from trajevolve.description import preset_values
from trajevolve.envs.contract import Environment, Task
from trajevolve.envs.registry import configured_env
from trajevolve.errors import UserError
from trajevolve.evolution.evolve import check_oracle
from trajevolve.models.loading import check_device, check_model
from trajevolve.presets import PRESETS
from trajevolve.tracking import check_store, flatten
from trajevolve.wording import counted


def check(config: RunConfig) -> list[str]:
    """Find what would stop a run of `config`.

    Returns:
        What the user should know though the run can do with it: splits with fewer tasks than
        asked for, settings of which one takes the effect of another, a preset that is overruled.

    Raises:
        UserError: the method, the model, its device, the discriminator, the environment or its
            data is not there, there are no tasks, the environment lacks what a setting needs, or
            nobody answers where the run is to be tracked.
    """
    estimator(config.method)
    environment = configured_env(config.env)
    try:
        if config.evolution.enabled:
            check_oracle(config, distance_of(environment))
        if config.method in LABELLED:
            check_exploration(config, environment)
        notes = [*_overruled(config), *_untrained(config), *_check_tasks(config, environment)]
    finally:
        environment.close()
    check_model(config.model.name, config.env.name)
    check_device(config.model.device)
    if config.discriminator.enabled:
        check_discriminator(config.discriminator, config.env.name)
    if config.tracking.enabled:
        check_store(config.tracking.uri)
    return [*notes, *_unjudged(config)]


def _overruled(config: RunConfig) -> Iterator[str]:
    """Yield which of a published setting's values hold no more; a file's keys lie over a preset."""
    if config.preset == "default":
        return
    published = preset_values(config, method=config.method)
    here = flatten(config.model_dump(mode="json"))
    changed = [
        f"{key} = {here[key]} ({published[key]})"
        for key in flatten(PRESETS[config.preset])
        if here[key] != published[key]
    ]
    if changed:
        yield (
            f"preset {config.preset} is overruled in {counted(len(changed), 'key')}: "
            f"{', '.join(changed)}; what neither the file nor --set names keeps its values"
        )


def _untrained(config: RunConfig) -> Iterator[str]:
    if config.iterations == 0:
        yield "iterations = 0: nothing is trained, both ends are the model to start from"


def _check_tasks(config: RunConfig, environment: Environment) -> Iterator[str]:
    """Yield what is to be said about the splits. Raises UserError where one has no task."""
    evaluation = config.evaluation
    asked = [
        (config.env.split, config.rollout.groups, "rollout.groups"),
        (evaluation.panel, evaluation.panel_size, "evaluation.panel_size"),
    ]
    if evaluation.every:
        asked.append((evaluation.selection, evaluation.selection_size, "evaluation.selection_size"))
    found: dict[str, Sequence[Task]] = {}
    for split, count, key in asked:
        found[key] = environment.tasks(split, count)
        there = len(found[key])
        if not there:
            raise UserError(f"split {split!r}: holds no task; choose another split or data")
        if there < count:
            yield f"split {split} holds {counted(there, 'task')}, {key} = {count}"
    if evaluation.every:
        yield from _check_selection(
            found["evaluation.selection_size"], found["evaluation.panel_size"]
        )


def _check_selection(selection: Sequence[Task], panel: Sequence[Task]) -> Iterator[str]:
    """Yield a note where the checkpoint that is reported is chosen on what is reported."""
    chosen_on = {task.id for task in selection}
    shared = len(chosen_on.intersection(task.id for task in panel))
    if shared:
        yield (
            f"the best checkpoint is chosen on {counted(len(chosen_on), 'task')}, {shared} of them "
            "on the panel that is reported, so the result is optimistic; give another "
            "evaluation.selection, or take the last checkpoint with evaluation.every=0"
        )


def _unjudged(config: RunConfig) -> Iterator[str]:
    evolution = config.evolution
    judged = config.discriminator.enabled or evolution.oracle_rollback
    if evolution.enabled and "rollback" in evolution.strategies and not judged:
        yield (
            "no failure will be rolled back: discriminator.enabled = false, so nothing says which "
            "step to go back to; set it to true, or leave rollback out of evolution.strategies"
        )
