"""What long work tells, to whom, and that nobody is told unless they listen."""

import pytest
from toys.corridor import TASK, Corridor, play

from trajevolve import progress
from trajevolve.agent.agents import RandomAgent
from trajevolve.cli.bars import Bars
from trajevolve.config import CreditConfig, EnvConfig
from trajevolve.credit.labelling import verify_trajectories
from trajevolve.evaluation import play_panel
from trajevolve.progress import advance, listening, of_episodes, tracked, working


class Diary:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def begin(self, what: str) -> None:
        self.lines.append(f"+{what}")

    def advance(self, done: int, total: int, detail: str) -> None:
        self.lines.append(f"{done}/{total} {detail}".strip())

    def end(self) -> None:
        self.lines.append("-")


def test_work_within_work_is_told_in_order() -> None:
    diary = Diary()
    with listening(diary), working("a"):
        with working("b"):
            assert list(tracked("xy", "letters")) == ["x", "y"]
        advance(1, 0)
    assert diary.lines == ["+a", "+b", "1/2 letters", "2/2 letters", "-", "1/0", "-"]


def test_nobody_is_told_before_or_after_and_an_end_is_told_whatever_happens() -> None:
    diary = Diary()
    with working("before"):
        advance(1, 2)
    with pytest.raises(KeyboardInterrupt), listening(diary), working("a"):
        raise KeyboardInterrupt
    assert diary.lines == ["+a", "-"]
    assert list(tracked([1, 2])) == [1, 2]
    assert diary.lines == ["+a", "-"]
    assert progress._listener is None


def test_an_interrupt_as_a_bar_is_drawn_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    bars = Bars()

    def interrupted(what: str) -> None:
        Bars.begin(bars, what)
        raise KeyboardInterrupt

    with listening(bars), working("outer"):
        monkeypatch.setattr(bars, "begin", interrupted)
        with pytest.raises(KeyboardInterrupt), working("inner"):
            raise AssertionError
        assert bars._progress is not None and len(bars._lines) == 1
    assert bars._progress is None and bars._lines == []
    bars.end()
    bars.close()


def test_episodes_are_counted_with_the_steps_of_each_round() -> None:
    diary = Diary()
    with listening(diary):
        play_panel([TASK], RandomAgent(), Corridor, EnvConfig(step_limit=3), progress=of_episodes())
    assert diary.lines == [
        "0/1 episodes, step 1",
        "0/1 episodes, step 2",
        "1/1 episodes, step 3",
    ]


def test_verification_tells_of_each_success() -> None:
    plan = ["go to room 1", "take key", "go to room 2", "go to room 3", "open chest"]
    given = [play(plan, id="a"), play(["look"], id="b"), play(plan, id="c")]
    diary = Diary()
    with listening(diary):
        verify_trajectories(Corridor(), {TASK.id: TASK}, given, CreditConfig())
    assert diary.lines == ["1/2 verified", "2/2 verified"]
