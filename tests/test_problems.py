"""A line about many problems: each reason once, the first few of them."""

from trajevolve.problems import Problem, reason_of, told


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
