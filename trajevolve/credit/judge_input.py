"""What the discriminator reads: the trajectory once, then one short question per asked step.

The outcome is not in it, nor the answer to the last action, which could give it away: the model is
trained on successes and used on failures (paper §3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from trajevolve.errors import UserError
from trajevolve.trajectory import Trajectory


@dataclass(frozen=True)
class Wording:
    """How the parts are written for a tokenizer.

    Attributes:
        task: opens the text; field ``task``.
        start: the first observation; field ``observation``.
        action: a step; fields ``number`` (1-based) and ``action``.
        answer: the observation after it; field ``observation``.
        query: the question about a step, read after the whole trajectory; fields as in `action`.
            Its last token predicts the verdict.
        necessary: text whose first token says y = 1.
        redundant: text whose first token says y = 0.
        markers: tokens in it that a policy never meets, so their embeddings are untrained.
    """

    task: str
    start: str
    action: str
    answer: str
    query: str
    necessary: str
    redundant: str
    markers: tuple[str, ...] = ()


MARKED = Wording(
    task="<obs> {task}",
    start="<obs> {observation}",
    action="<act> {number} {action}",
    answer="<obs> {observation}",
    query="<act> {number} {action} <judge>",
    necessary="<necessary>",
    redundant="<redundant>",
    markers=("<judge>", "<necessary>", "<redundant>"),
)
PLAIN = Wording(
    task="Task: {task}\n",
    start="Start: {observation}\n",
    action="Step {number}: {action}\n",
    answer="Result: {observation}\n",
    query="Question: was step {number} ({action}) necessary or redundant for the task?\nAnswer:",
    necessary=" necessary",
    redundant=" redundant",
)


@dataclass(frozen=True)
class JudgeInput:
    """One trajectory and its questions as token ids.

    Attributes:
        prefix: the trajectory.
        queries: one question per asked step, each read directly after the prefix.
        asked: 0-based positions of the asked steps.
        dropped: observations left out because the text was too long.
    """

    prefix: tuple[int, ...]
    queries: tuple[tuple[int, ...], ...]
    asked: tuple[int, ...]
    dropped: int = 0

    @property
    def tokens(self) -> int:
        """Length of prefix and questions together."""
        return len(self.prefix) + sum(map(len, self.queries))


class JudgeEncoder:
    """Turns trajectories into token ids with a model's own tokenizer.

    A tokenizer that knows the markers (the built-in one) gets them, any other plain English.

    Args:
        tokenizer: a Hugging Face tokenizer.
        max_tokens: longest prefix with one question that the model can read.

    Raises:
        UserError: the two verdicts begin with the same token.
    """

    def __init__(self, tokenizer: Any, max_tokens: int) -> None:
        vocabulary = tokenizer.get_vocab()
        known = all(marker in vocabulary for marker in MARKED.markers)
        self.wording = MARKED if known else PLAIN
        self.max_tokens = max_tokens
        self._tokenizer = tokenizer
        self._ids = lru_cache(maxsize=1 << 16)(self._tokenise)
        self.necessary = self._ids(self.wording.necessary)[0]
        self.redundant = self._ids(self.wording.redundant)[0]
        if self.necessary == self.redundant:
            raise UserError(
                f"discriminator.model {tokenizer.name_or_path!r}: its tokenizer does not tell "
                f"{self.wording.necessary!r} from {self.wording.redundant!r} by the first token; "
                "use another model"
            )

    @property
    def markers(self) -> list[int]:
        """Ids of the tokens whose embeddings are trained along with the adapter."""
        return [self._tokenizer.convert_tokens_to_ids(m) for m in self.wording.markers]

    def encode(
        self, trajectory: Trajectory, asked: Sequence[int], visible: int | None = None
    ) -> JudgeInput:
        """Write `trajectory` and ask about the steps `asked`.

        Args:
            trajectory: any trajectory; only texts are read.
            asked: 0-based positions, all below `visible`.
            visible: number of steps shown; the rest is hidden, as if the episode had ended there.

        Raises:
            UserError: task and actions alone are too long for the model.
        """
        steps = trajectory.steps[:visible]
        wording = self.wording
        begin = self._tokenizer.bos_token or ""
        task = self._ids(begin + wording.task.format(task=trajectory.task))
        actions = [
            self._ids(wording.action.format(number=t + 1, action=_said(trajectory, t)))
            for t in range(len(steps))
        ]
        observations = [
            self._ids((wording.answer if t else wording.start).format(observation=step.observation))
            for t, step in enumerate(steps)
        ]
        queries = tuple(
            self._ids(wording.query.format(number=t + 1, action=_said(trajectory, t)))
            for t in asked
        )
        room = self.max_tokens - len(task) - max(map(len, queries), default=0)
        dropped = _drop_oldest(observations, room - sum(map(len, actions)))
        if dropped is None:
            raise UserError(
                f"trajectory {trajectory.id}: its task and {len(steps)} actions alone exceed the "
                f"{self.max_tokens} tokens the discriminator reads; lower env.step_limit or use a "
                "model with a longer context"
            )
        prefix = list(task)
        for observation, action in zip(observations, actions, strict=True):
            prefix += [*observation, *action]
        return JudgeInput(tuple(prefix), queries, tuple(asked), dropped)

    def _tokenise(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _said(trajectory: Trajectory, position: int) -> str:
    return trajectory.steps[position].action or ""


def _drop_oldest(observations: list[tuple[int, ...]], room: int) -> int | None:
    """Empty the oldest observations in place until all fit; None where that is not enough."""
    length = sum(map(len, observations))
    for number in range(len(observations) + 1):
        if length <= room:
            return number
        if number < len(observations):
            length -= len(observations[number])
            observations[number] = ()
    return None
