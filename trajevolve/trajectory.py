"""Step, Trajectory, Group: the nouns everything else speaks.

All three are frozen: a stage returns new objects (``dataclasses.replace``), it never edits the
ones it was given. ``trajevolve.storage`` writes them to Parquet and documents the columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from trajevolve.envs.contract import Kind

Layout = Literal["window", "dialogue"]
Strategy = Literal["elimination", "correction", "rollback"]


@dataclass(frozen=True)
class Step:
    """One decision a_t in s_t, with everything later stages learn about it.

    Attributes:
        observation: o_t, the text before the action.
        admissible: A_t, or None where the environment does not list it.
        response: the model's whole answer as text.
        action: a_t as parsed (canonical form), or None when nothing could be parsed.
        valid: parsable and executable in s_t.
        kind: changing or information; information too for all steps of a coupled query. None when
            there is no action.
        reward: the environment's own reward for this step.
        costs_step: False where the environment's clock did not tick (a free query).
        thought: the text between the think tags, "" without.
        prompt_ids: the tokens fed before the response. Layout ``window``: the whole prompt.
            ``dialogue``: what was appended since the previous response, so that the trajectory's
            tokens are the concatenation of all prompt_ids and response_ids in order.
        response_ids: the sampled tokens, exactly those trained on.
        sampler_logprobs: log-probability of each response token under the sampler's policy.
        old_logprobs: the same recomputed by the learner before the first optimiser step.
        state_key: digest of the exact state before the action, "" where states do not compare.
        label: y_t, 1 necessary, 0 redundant, None unknown.
        dependents: D(t), 0-based positions of the steps that fell with t.
        predicted: ŷ_t of the discriminator.
        probability: p̂_t, the discriminator's probability that the step is necessary.
        advantage: A(a_t).
        step_advantage: A^S(a_t).
        exploring: looked for the task's object where nobody had looked, before it was seen.
        truncated_tokens: tokens left out of the prompt to keep within ``agent.max_prompt_tokens``.
    """

    observation: str
    admissible: tuple[str, ...] | None
    response: str
    action: str | None
    valid: bool
    kind: Kind | None = None
    reward: float = 0.0
    costs_step: bool = True
    thought: str = ""
    prompt_ids: tuple[int, ...] = ()
    response_ids: tuple[int, ...] = ()
    sampler_logprobs: tuple[float, ...] = ()
    old_logprobs: tuple[float, ...] = ()
    state_key: str = ""
    label: int | None = None
    dependents: tuple[int, ...] = ()
    predicted: int | None = None
    probability: float | None = None
    advantage: float = 0.0
    step_advantage: float = 0.0
    exploring: bool = False
    truncated_tokens: int = 0

    @property
    def executed(self) -> bool:
        """There was an action and the environment carried it out."""
        return self.valid and self.action is not None

    @property
    def is_information(self) -> bool:
        """The step only queried the environment, so its label is a default."""
        return self.kind == Kind.INFORMATION

    @property
    def credit(self) -> int | None:
        """y_t where verification gave one, else ŷ_t, else None."""
        return self.label if self.label is not None else self.predicted


@dataclass(frozen=True)
class Evolution:
    """How an evolved trajectory came to be (METHOD §5, "Record").

    Attributes:
        parent_id: the trajectory it was built from.
        strategy: which of the three built it.
        t_err: 0-based position of the step corrected or rolled back; None for elimination.
        steps_before: T of the parent.
        reward_before: R of the parent.
        accepted: it enlarges its group.
        reason: why it was not accepted, "" if it was.
    """

    parent_id: str
    strategy: Strategy
    t_err: int | None
    steps_before: int
    reward_before: float
    accepted: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Trajectory:
    """τ: one episode with its terminal outcome.

    Attributes:
        id: unique inside the run, derived from iteration, task and position, never from time.
        task_id: the task instance.
        task_type: its type, for tables.
        task: x, the task description.
        seed: seed of this episode's sampling.
        steps: the T steps.
        success: the environment says the task is solved.
        score: graded score in [0, 1].
        reward: R(τ), see :func:`trajectory_reward`.
        layout: how prompts were laid out.
        termination: ``success``, ``limit``, ``environment`` or ``error: …``.
        final_observation: o_{T+1}, what the last action answered.
        rho: ρ(τ), share of steps with y = 0; 0 for failures and unlabelled ones.
        shaped_reward: R̃(τ).
        episode_advantage: A^E(τ).
        verified: hindsight verification replayed it and gave labels.
        minimal: 0-based positions of the cumulative survivors; empty when not verified.
        transitions: environment transitions its verification executed.
        evolution: set on evolved trajectories.
    """

    id: str
    task_id: str
    task_type: str
    task: str
    seed: int
    steps: tuple[Step, ...]
    success: bool
    score: float
    reward: float
    layout: Layout = "dialogue"
    termination: str = "limit"
    final_observation: str = ""
    rho: float = 0.0
    shaped_reward: float = 0.0
    episode_advantage: float = 0.0
    verified: bool = False
    minimal: tuple[int, ...] = ()
    transitions: int = 0
    evolution: Evolution | None = None

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def actions(self) -> tuple[str | None, ...]:
        """a_1 … a_T; None where nothing could be parsed."""
        return tuple(step.action for step in self.steps)

    @property
    def broken(self) -> bool:
        """The episode ended with an error, which says nothing about the policy."""
        return self.termination.startswith("error")

    @property
    def invalid_steps(self) -> int:
        """Number of invalid actions."""
        return sum(not step.valid for step in self.steps)

    @property
    def truncated_prompts(self) -> int:
        """Number of prompts that were cut, or left out whole, to fit."""
        return sum(step.truncated_tokens > 0 for step in self.steps)


@dataclass(frozen=True)
class Group:
    """N trajectories of one task instance from the same start state, plus m evolved ones.

    ``sampled`` are the policy's own N; ``evolved`` the accepted evolved ones, which enlarge the
    group to N + m.
    """

    task_id: str
    sampled: tuple[Trajectory, ...]
    evolved: tuple[Trajectory, ...] = ()

    @property
    def members(self) -> tuple[Trajectory, ...]:
        """All N + m trajectories, sampled ones first."""
        return self.sampled + self.evolved

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.sampled) + len(self.evolved)


def to_groups(trajectories: Sequence[Trajectory]) -> list[Group]:
    """Collect trajectories by task, in order of first appearance; evolved ones apart.

    A broken episode is no member: as a failure it would raise the others' advantages, and have its
    own steps unlearned.
    """
    by_task: dict[str, list[Trajectory]] = {}
    for trajectory in trajectories:
        if not trajectory.broken:
            by_task.setdefault(trajectory.task_id, []).append(trajectory)
    return [
        Group(
            task_id,
            sampled=tuple(member for member in members if member.evolution is None),
            evolved=tuple(member for member in members if member.evolution is not None),
        )
        for task_id, members in by_task.items()
    ]


def trajectory_reward(
    success: bool, invalid_steps: int, success_reward: float = 10.0, invalid_penalty: float = 0.1
) -> float:
    """R(τ): 10 on success, else 0, minus 0.1 for each invalid action (METHOD §1)."""
    return success_reward * success - invalid_penalty * invalid_steps


def redundancy_ratio(trajectory: Trajectory) -> float:
    """ρ(τ) = (number of steps with y = 0) / T, invalid ones included (paper §3.3).

    0 for failures and for successes without labels: only what was proven redundant in an episode
    that reached its goal is penalised (paper, appendix B.1).
    """
    if not trajectory.success or not trajectory.steps:
        return 0.0
    return sum(step.label == 0 for step in trajectory.steps) / len(trajectory.steps)
