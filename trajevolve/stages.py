"""The stages of one iteration: what each reads, computes and commits (paper §3, Algorithm 1).

A stage is a function of (experiment, iteration). It takes its inputs from the ledger, never from
memory alone, and returns its commit; one that is committed already returns at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from trajevolve import progress
from trajevolve.agent.contract import Agent
from trajevolve.envs.contract import Task
from trajevolve.experiment import Experiment
from trajevolve.files import write_json
from trajevolve.ledger import Commit, Output, Produced, run_stage
from trajevolve.problems import Problem, told, truncation
from trajevolve.rollout import Episode, play
from trajevolve.schedule import Stage, evolves
from trajevolve.selection import best_updates
from trajevolve.stage_metrics import (
    evaluation_metrics,
    rollout_metrics,
    verification_metrics,
    without_timings,
)
from trajevolve.trajectory import Group, Trajectory, to_groups
from trajevolve.wording import counted

if TYPE_CHECKING:
    from trajevolve.credit.labelling import VerificationStats
    from trajevolve.evolution.evolve import Acceptance, Plan

Body = Callable[[Path], Produced]

log = logging.getLogger(__name__)


def rollout(experiment: Experiment, iteration: int) -> Commit:
    """Sample N episodes of each of the iteration's tasks under the current policy."""

    def body(folder: Path) -> Produced:
        config = experiment.config
        agent = experiment.policy(iteration).agent(config.rollout.temperature)
        episodes = [
            Episode(
                f"{iteration:04d}/{number:02d}/{member}",
                task,
                experiment.seed("rollout", iteration, task.id, member),
            )
            for number, task in enumerate(experiment.tasks(iteration))
            for member in range(config.rollout.group_size)
        ]
        played = _play(experiment, iteration, "rollout", episodes, agent)
        return _produced(experiment, iteration, "rollout", played, rollout_metrics(played))

    inputs = {"policy": experiment.policy_md5(iteration)}
    return run_stage(experiment.ledger, iteration, "rollout", inputs, body)


def verification(experiment: Experiment, iteration: int) -> Commit:
    """Label the steps of every success by counterfactual replay (paper §3.2)."""

    def body(folder: Path) -> Produced:
        played = experiment.read(iteration, "rollout")
        tasks = experiment.tasks(iteration)
        labelled, stats = _verify(experiment, iteration, "verification", tasks, played)
        metrics = verification_metrics(stats)
        return _produced(experiment, iteration, "verification", labelled, metrics)

    return _stage(experiment, iteration, "verification", ["rollout"], body)


def labelling(experiment: Experiment, iteration: int) -> Commit:
    """Let the discriminator judge failures, which have no other label (paper §3.2).

    Some successes are judged too, to score its answers against the labels of verification.
    """

    def body(folder: Path) -> Produced:
        from trajevolve.credit.scoring import fit_baselines, score_trajectories

        verified = experiment.read(iteration, "verification")
        successes = _spread(
            [t for t in verified if t.success], experiment.config.discriminator.scored
        )
        failures = [t for t in verified if not t.success]
        answers = experiment.discriminator(iteration).predict([*successes, *failures])
        by_id = {trajectory.id: trajectory for trajectory in answers}
        judged = [by_id.get(trajectory.id, trajectory) for trajectory in verified]
        baselines = fit_baselines(verified)
        metrics = score_trajectories(judged, baselines, "success")
        oracle = _oracle_labels(experiment, iteration, failures)
        metrics |= score_trajectories(judged, baselines, "failure", oracle)
        return _produced(experiment, iteration, "labelling", judged, metrics)

    extra = {"discriminator": experiment.discriminator_md5(iteration)}
    return _stage(experiment, iteration, "labelling", ["verification"], body, extra)


def discriminator(experiment: Experiment, iteration: int) -> Commit:
    """Fine-tune the discriminator on this iteration's verified successes (paper §3.2)."""

    def body(folder: Path) -> Produced:
        verified = experiment.read(iteration, "verification")
        judge = experiment.discriminator(iteration)
        experiment.begin_training(iteration, "discriminator")
        seed = experiment.seed("discriminator", iteration)
        metrics = judge.fit(verified, seed=seed, progress=lambda n, of, _: progress.advance(n, of))
        judge.save(folder / "checkpoint")
        return Produced({"checkpoint": (folder / "checkpoint", 0)}, without_timings(metrics))

    extra = {"discriminator": experiment.discriminator_md5(iteration)}
    commit = _stage(experiment, iteration, "discriminator", ["verification"], body, extra)
    experiment.end_training(commit)
    return commit


def evolution(experiment: Experiment, iteration: int) -> Commit:
    """Evolve trajectories, re-execute and verify them, decide which are used (paper §3.4)."""
    # Only failed children need the discriminator's labels, and only if they are kept.
    judges = experiment.config.discriminator.enabled and experiment.config.evolution.keep_failed

    def body(folder: Path) -> Produced:
        config = experiment.config
        groups = to_groups(experiment.read(iteration, _labelled_by(experiment)))
        agent = experiment.policy(iteration).agent(config.rollout.temperature)
        plan = _plan(experiment, iteration, groups, agent.answer)
        played = _play(experiment, iteration, "evolution", plan.episodes, agent)
        tasks = experiment.tasks(iteration)
        children, _ = _verify(experiment, iteration, "evolution", tasks, played)
        if judges:
            children = experiment.discriminator(iteration + 1).predict(children)
        accepted = _accept(experiment, groups, children)
        records = [*accepted.records, *plan.given_up]
        write_json(folder / "records.json", [asdict(record) for record in records])
        made = _produced(experiment, iteration, "evolution", accepted.evolved, accepted.metrics)
        return Produced({**made.outputs, "records": (folder / "records.json", 0)}, made.metrics)

    extra = {"policy": experiment.policy_md5(iteration)}
    if judges:
        extra["discriminator"] = experiment.discriminator_md5(iteration + 1)
    return _stage(experiment, iteration, "evolution", [_labelled_by(experiment)], body, extra)


def advantages(experiment: Experiment, iteration: int) -> Commit:
    """Fill advantages and old log-probabilities of all N + m members (paper §3.3)."""
    sources = [_labelled_by(experiment)]
    if evolves(experiment.config, iteration):
        sources.append("evolution")

    def body(folder: Path) -> Produced:
        from trajevolve.advantages.metrics import advantage_metrics
        from trajevolve.advantages.registry import estimator

        config = experiment.config
        estimate = estimator(config.method)
        groups = to_groups(experiment.read(iteration, sources[0]))
        original = [estimate(group, config) for group in groups]
        if "evolution" in sources:
            groups = _accept(experiment, groups, experiment.read(iteration, "evolution")).groups
        groups = [estimate(group, config) for group in groups]
        members = [trajectory for group in groups for trajectory in group]
        members = experiment.policy(iteration).learner.old_logprobs(members)
        metrics = advantage_metrics(groups, original, config)
        return _produced(experiment, iteration, "advantages", members, metrics)

    extra = {"policy": experiment.policy_md5(iteration)}
    return _stage(experiment, iteration, "advantages", sources, body, extra)


def update(experiment: Experiment, iteration: int) -> Commit:
    """Update the policy and write its checkpoint; never retried blindly."""

    def body(folder: Path) -> Produced:
        groups = to_groups(experiment.read(iteration, "advantages"))
        policy = experiment.policy(iteration)
        experiment.begin_training(iteration, "update")
        metrics = policy.learner.update(groups, seed=experiment.config.seed, iteration=iteration)
        policy.save(folder / "checkpoint", iteration)
        return Produced({"checkpoint": (folder / "checkpoint", 0)}, without_timings(metrics))

    extra = {"policy": experiment.policy_md5(iteration)}
    commit = _stage(experiment, iteration, "update", ["advantages"], body, extra)
    experiment.end_training(commit)
    return commit


def evaluation(experiment: Experiment, iteration: int) -> Commit:
    """Try the policy after this iteration on the panel that chooses the best checkpoint."""
    return _evaluate(experiment, iteration, "evaluation", iteration + 1)


def evaluation_before(experiment: Experiment, iteration: int) -> Commit:
    """Measure the policy that the run starts from on the reported panel."""
    return _evaluate(experiment, iteration, "evaluation_before", 0)


def evaluation_after(experiment: Experiment, iteration: int) -> Commit:
    """Measure the run's result, the best checkpoint or else the last, on the same panel."""
    best = best_updates(experiment.ledger, experiment.config.iterations)
    return _evaluate(experiment, iteration, "evaluation_after", best)


STAGES: Mapping[Stage, Callable[[Experiment, int], Commit]] = {
    "evaluation_before": evaluation_before,
    "rollout": rollout,
    "verification": verification,
    "labelling": labelling,
    "discriminator": discriminator,
    "evolution": evolution,
    "advantages": advantages,
    "update": update,
    "evaluation": evaluation,
    "evaluation_after": evaluation_after,
}


def _spread(trajectories: Sequence[Trajectory], count: int) -> list[Trajectory]:
    """Take `count` of them at even distances, so from all tasks, which follow each other."""
    if count >= len(trajectories):
        return list(trajectories)
    return [trajectories[n * len(trajectories) // count] for n in range(count)]


def _evaluate(experiment: Experiment, iteration: int, stage: Stage, updates: int) -> Commit:
    def body(folder: Path) -> Produced:
        from trajevolve.evaluation import measure, play_panel

        config = experiment.config
        selecting = stage == "evaluation"
        tasks = experiment.selection() if selecting else experiment.panel()
        experiment.note_data("selection" if selecting else "panel", tasks)
        agent = experiment.policy(updates).agent(config.evaluation.temperature)
        make, counting = experiment.make_environment, progress.advance
        played = play_panel(tasks, agent, make, config.env, config.seed, counting)
        _warn(iteration, stage, truncation(played, config.agent.max_prompt_tokens))
        verified, _ = _verify(experiment, iteration, stage, tasks, played)
        result = measure(verified)
        write_json(folder / "evaluation.json", result.summary())
        made = _produced(experiment, iteration, stage, verified, evaluation_metrics(result))
        outputs = {**made.outputs, "evaluation": (folder / "evaluation.json", 0)}
        return Produced(outputs, made.metrics)

    inputs = {"policy": experiment.policy_md5(updates)}
    return run_stage(experiment.ledger, iteration, stage, inputs, body)


def _stage(
    experiment: Experiment,
    iteration: int,
    stage: Stage,
    sources: Sequence[Stage],
    body: Body,
    extra: Mapping[str, str] | None = None,
) -> Commit:
    """Run a stage that reads the shards of `sources`, and what `extra` names."""
    inputs = dict(extra or {})
    for source in sources:
        inputs[source] = _shard(experiment.commit(iteration, source)).md5
    return run_stage(experiment.ledger, iteration, stage, inputs, body)


def _shard(commit: Commit) -> Output:
    return commit.outputs["trajectories"]


def _produced(
    experiment: Experiment,
    iteration: int,
    stage: Stage,
    trajectories: Sequence[Trajectory],
    metrics: Mapping[str, float],
) -> Produced:
    written = experiment.write(iteration, stage, trajectories)
    return Produced({"trajectories": written}, metrics)


def _play(
    experiment: Experiment,
    iteration: int,
    stage: Stage,
    episodes: Sequence[Episode],
    agent: Agent,
) -> list[Trajectory]:
    config, counting = experiment.config, progress.of_episodes()
    played = play(episodes, agent, experiment.make_environment, config.env, counting)
    _warn(iteration, stage, truncation(played, config.agent.max_prompt_tokens))
    return played


def _verify(
    experiment: Experiment,
    iteration: int,
    stage: Stage,
    tasks: Sequence[Task],
    played: Sequence[Trajectory],
) -> tuple[list[Trajectory], VerificationStats]:
    """Verify the successes among `played`, and tell of those that are left without labels."""
    from trajevolve.credit.labelling import verify_trajectories

    labelled, stats = verify_trajectories(
        experiment.environment,
        {task.id: task for task in tasks},
        played,
        experiment.config.credit,
        experiment.config.env.step_timeout_s,
        experiment.beside,
    )
    _warn(iteration, stage, stats.warning)
    return labelled, stats


def _warn(iteration: int, stage: Stage, text: str) -> None:
    """Log what went wrong in a stage; an empty text is none."""
    if text:
        log.warning("iteration %d, %s: %s", iteration, stage, text)


def _plan(
    experiment: Experiment, iteration: int, groups: Sequence[Group], answer: Callable[[str], str]
) -> Plan:
    from trajevolve.credit.oracle import distance_of
    from trajevolve.evolution.evolve import plan_evolution

    plan = plan_evolution(
        groups,
        _tasks_by_id(experiment, iteration),
        experiment.environment,
        experiment.config,
        iteration,
        answer=answer,
        distance=distance_of(experiment.environment),
    )
    if plan.given_up:
        lost = [Problem(each.parent_id, each.task_id, each.reason) for each in plan.given_up]
        _warn(iteration, "evolution", f"{counted(len(lost), 'parent')} not evolved: {told(lost)}")
    return plan


def _oracle_labels(
    experiment: Experiment, iteration: int, failures: Sequence[Trajectory]
) -> dict[str, tuple[int, ...]]:
    """Label some failures by plan distances, in iterations that evolve.

    The oracle is clairvoyant, so it is a yardstick for the discriminator and nothing to learn from.
    """
    from trajevolve.credit.oracle import distance_of, label_failures

    measure = distance_of(experiment.environment)
    if measure is None or not evolves(experiment.config, iteration):
        return {}
    labels, lost = label_failures(
        experiment.environment,
        _tasks_by_id(experiment, iteration),
        _spread(failures, experiment.config.discriminator.scored),
        measure,
        experiment.config.env.step_timeout_s,
    )
    if lost:
        _warn(
            iteration,
            "labelling",
            f"{counted(len(lost), 'failure')} not labelled by the oracle: {told(lost)}",
        )
    return labels


def _accept(
    experiment: Experiment, groups: Sequence[Group], children: Sequence[Trajectory]
) -> Acceptance:
    from trajevolve.evolution.evolve import accept

    return accept(groups, children, experiment.config.evolution)


def _labelled_by(experiment: Experiment) -> Stage:
    """Name the stage whose shard has all labels there are."""
    return "labelling" if experiment.config.discriminator.enabled else "verification"


def _tasks_by_id(experiment: Experiment, iteration: int) -> dict[str, Task]:
    return {task.id: task for task in experiment.tasks(iteration)}
