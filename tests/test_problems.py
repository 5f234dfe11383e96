"""A line about many problems: each reason once, the first few of them."""

from trajevolve.problems import Problem, reason_of, told, truncation
from trajevolve.trajectory import Step, Trajectory


def prompted(*truncated: int) -> Trajectory:
    """An episode whose prompts lost these numbers of tokens."""
    steps = [Step("o", None, "look", "look", True, truncated_tokens=lost) for lost in truncated]
    return Trajectory("i", "t", "", "x", 0, tuple(steps), False, 0.0, 0.0)


def test_trajectories_lost_for_one_reason_are_counted_and_the_first_is_named() -> None:
    lost = [Problem(str(n), "east", "KeyError: 'door'") for n in range(3)]
    lost.insert(1, Problem("odd", "west", "its replay does not succeed"))
    assert told(lost) == (
        "0 (east) and 2 more: KeyError: 'door'; odd (west): its replay does not succeed"
    )


def test_further_reasons_are_only_counted() -> None:
    lost = [Problem(str(n), "east", f"reason {n}") for n in range(5)]
    assert told(lost[:4]).endswith("2 (east): reason 2; 1 other reason")
    assert told(lost).endswith("2 (east): reason 2; 2 other reasons")


def test_a_reason_is_one_printable_line() -> None:
    assert reason_of(ValueError("no\nsuch \x1b[1mdoor")) == r"ValueError: no such \x1b[1mdoor"


def test_prompts_that_did_not_fit_are_counted() -> None:
    assert truncation([prompted(0, 0), prompted()], 2048) == ""
    assert truncation([prompted(0, 5, 70), prompted(0)], 2048) == (
        "2 of 4 prompts, in 1 episode, did not fit agent.max_prompt_tokens = 2,048 and were "
        "shortened or left out; raise it"
    )
