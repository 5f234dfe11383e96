"""Format correction: invalid actions become the nearest ones that can be executed (paper §3.4).

The plan is made by replaying the parent in an environment: each corrected action changes what is
admissible afterwards. Replay is deterministic (paper, appendix D.1), so the episode played from
the plan meets the same states.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from rapidfuzz.distance import Levenshtein

from trajevolve.deadline import Deadline
from trajevolve.envs.contract import Environment, Task
from trajevolve.evolution.recording import Recording, record
from trajevolve.rollout import Kept
from trajevolve.trajectory import Step, Trajectory

_OPEN = "<action>"
_TAGGED = re.compile(r"<action>(.*?)(?:</action>|$)", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)


def normalise(action: str) -> str:
    """Lower the case and leave words and punctuation separated by single spaces."""
    return " ".join(re.findall(r"\w+|[^\w\s]", action.casefold()))


def nearest_action(
    action: str, candidates: Sequence[str], min_similarity: float
) -> tuple[str, float] | None:
    """Find the candidate most similar to `action`.

    Similarity is 1 - (Levenshtein distance / longer length) of the normalised texts; ties go to
    the larger overlap of their token sets (Jaccard), then to the earlier candidate.

    Returns:
        The candidate and its similarity in [0, 1], or None where the best lies below
        `min_similarity`.
    """
    wanted = normalise(action)
    best: tuple[float, float] = (-1.0, -1.0)
    nearest = ""
    for candidate in candidates:
        text = normalise(candidate)
        rank = (Levenshtein.normalized_similarity(wanted, text), _token_overlap(wanted, text))
        if rank > best:
            best, nearest = rank, candidate
    return (nearest, best[0]) if best[0] >= min_similarity else None


def rewrite_response(response: str, action: str, answer: Callable[[str], str]) -> str:
    """Put `action` into `response`: the action text is replaced, missing tags are added.

    Args:
        response: what the policy answered.
        action: the action it should have answered.
        answer: writes a whole response that says an action (``Agent.answer``); it decides whether
            there are tags.
    """
    written = answer(action)
    blank, opened, said = written.partition(_OPEN)
    if not opened:
        return written
    tagged = _TAGGED.search(response)
    if tagged:
        rewritten = f"{response[: tagged.start()]}{opened}{said}{response[tagged.end() :]}"
        return rewritten if _THOUGHT.search(rewritten) else blank + rewritten
    thought = _THOUGHT.search(response)
    return f"{thought[0]}\n{opened}{said}" if thought else written


def correct(
    parent: Trajectory,
    task: Task,
    env: Environment,
    answer: Callable[[str], str],
    min_similarity: float,
    deadline: Deadline | None = None,
) -> Recording:
    """Plan the corrected version of a failed `parent` that holds an invalid action.

    The recording ends, and the policy continues, at the first step that

    * was invalid and has nothing to correct: no parsable action, or no similar candidate;
    * was valid in the parent and cannot be executed any more;
    * or after which the episode is over.

    Args:
        parent: the failure.
        task: its task instance.
        env: an environment to replay it in; whatever it raises is passed on.
        answer: writes a whole response that says an action (``Agent.answer``).
        min_similarity: below it there is nothing similar.
        deadline: watches each call of `env`; None: nobody does.
    """
    within = (deadline or Deadline(None)).within
    within(partial(env.reset, task))
    kept: list[Kept] = []
    for step in parent.steps:
        planned = (
            record(step)
            if step.valid
            else within(partial(_corrected, step, env, answer, min_similarity))
        )
        if planned is None or planned.action is None:
            break
        transition = within(partial(env.advance, planned.action))
        if not transition.feasible:
            break
        kept.append(planned)
        if transition.success or transition.done:
            break
    return Recording(tuple(kept), t_err=first_invalid(parent), resample=True)


def first_invalid(trajectory: Trajectory) -> int | None:
    """Return the 0-based position of the first invalid step, None without one."""
    return next((t for t, step in enumerate(trajectory.steps) if not step.valid), None)


def _corrected(
    step: Step, env: Environment, answer: Callable[[str], str], min_similarity: float
) -> Kept | None:
    meant = _meant_action(step)
    if not meant:
        return None
    found = nearest_action(env.canonical(meant), env.corrections(meant), min_similarity)
    if found is None:
        return None
    action, _ = found
    return Kept(rewrite_response(step.response, action, answer), (), action)


def _meant_action(step: Step) -> str:
    """Read what the step wanted to do, also where the parser missed a tag it insists on."""
    if step.action is not None:
        return step.action
    tagged = _TAGGED.search(step.response)
    return tagged[1].strip() if tagged else ""


def _token_overlap(left: str, right: str) -> float:
    a, b = set(left.split()), set(right.split())
    return len(a & b) / len(a | b) if a | b else 0.0
