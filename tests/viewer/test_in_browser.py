"""The page in Chromium: read, filtered, walked through by keyboard, and harmless."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="needs selenium: make install")

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select
from toys.corridor import Corridor, play

from trajevolve.viewer.collect import document, gather_evidence
from trajevolve.viewer.page import write_page
from trajevolve.viewer.source import Source
from viewer.browser import Browser, chromium, needed
from viewer.made import NASTY, everything, source, verified

pytestmark = [pytest.mark.slow, needed]


def write(path: Path, shown: Source) -> Path:
    write_page(path, document(shown, gather_evidence(shown, "all"), "all"))
    return path


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("viewer") / "page.html", source())


@pytest.fixture(autouse=True)
def quiet(tab: Browser, page: Path) -> Iterator[None]:
    """After every test: no error in the console, and nothing was asked for but the page."""
    tab.errors(), tab.requests()
    yield
    assert tab.errors() == []
    assert {url.split(":")[0] for url in tab.requests()} <= {"file", "data", "about"}


def names(tab: Browser) -> list[str]:
    return tab.texts(".row-task")


def test_the_first_trajectory_opens_with_evidence_for_a_redundant_step(
    tab: Browser, page: Path
) -> None:
    tab.show(page)
    assert tab.text("h1") == "open the chest"
    assert "2 were not needed" in tab.text(".lead")
    assert tab.text(".evidence h3") == "✓Without step 3 the run still succeeds"
    assert "Step 4 could not be executed any more and falls with it." in tab.text(".evidence .why")
    assert tab.text(".pair.omitted .left .action") == "go to room 0"
    assert "room 1" in tab.text(".pair.fallen .right")
    assert tab.texts(".ends > div") == [
        "✓ solved in 7 steps", "✓ solved after 5 steps"]  # fmt: skip
    classes = [cell.get_attribute("class") for cell in tab.all(".cell")]
    labels = {1: "necessary", 0: "redundant"}
    assert [name.split()[1] for name in classes] == [labels[y] for y in (1, 1, 0, 0, 1, 1, 1)]
    assert "with" in classes[3].split()
    assert tab.text("#notes") == "One note."


def test_a_click_on_a_necessary_step_shows_its_replay_failing(tab: Browser, page: Path) -> None:
    tab.show(page, "0000/00/0")
    tab.one('.cell[data-step="1"]').click()
    assert "Without step 2 the run fails" in tab.text(".evidence h3")
    assert tab.all(".ends > div")[1].text.startswith("✕ not solved")
    assert tab.driver.current_url.endswith("#0000/00/0/2")
    assert tab.run("return document.activeElement.dataset.step") == "1"  # focus survives drawing
    tab.one("#step-1 .head").click()
    assert tab.all(".evidence") == []


def test_an_address_opens_its_step(tab: Browser, page: Path) -> None:
    tab.show(page, "0000/00/1/2")
    assert tab.text(".step.chosen .action") == "take key"
    assert "75 % likely to be necessary" in tab.text(".step-detail")
    assert "no success to lose" in tab.text(".step-detail")
    assert "cut: 1,234 tokens did not fit" in tab.text(".step-detail")
    assert "looked where nobody had looked" in tab.text(".step-detail")
    tab.show(page, "0000/00/1/1")
    assert "did not fit" not in tab.text(".step-detail")
    assert "looked where nobody had looked" not in tab.text(".step-detail")
    tab.show(page, "0000/00/9/2")
    assert tab.text(".eyebrow code") == "0000/00/0"  # unknown: the first


def test_parent_and_child_stand_side_by_side(tab: Browser, page: Path) -> None:
    tab.show(page, "0000/00/0%2Belimination")
    assert "2 steps cut, the other 5 executed again" in tab.text("section .why")
    assert tab.texts(".pair.omitted .left .action") == [
        "go to room 0", "go to room 1"]  # fmt: skip
    tab.one("section .why a").click()
    assert tab.text(".eyebrow code") == "0000/00/0"
    tab.driver.back()
    assert tab.text(".eyebrow code") == "0000/00/0+elimination"
    tab.show(page, "0000/00/1%2Bcorrection")
    assert "It is not used: failed." in tab.text("section .why")
    assert tab.text(".pair.regrown .right .action") == "look"


def test_filters_count_and_search(tab: Browser, page: Path) -> None:
    tab.show(page)
    outcome = Select(tab.one("#filter-outcome"))
    assert [option.text for option in outcome.options] == [
        "Any outcome",
        "failed (3)",
        "solved (2)",
    ]
    outcome.select_by_value("solved")
    assert len(names(tab)) == 2
    origin = Select(tab.one("#filter-origin"))
    assert "elimination (1)" in [option.text for option in origin.options]
    assert "correction (0)" in [option.text for option in origin.options]
    origin.select_by_value("elimination")
    assert len(names(tab)) == 1
    assert tab.text("#count") == "1 of 5 trajectories"
    tab.one("#clear").click()
    assert len(names(tab)) == 5
    tab.one("#query").send_keys("room 9")
    assert tab.text("#count") == "1 of 5 trajectories"
    tab.one("#query").send_keys(" nowhere")
    assert tab.text(".empty") == "Nothing passes these filters."
    tab.one("#clear").click()
    Select(tab.one("#sort")).select_by_value("redundancy")
    assert "29 % redundant" in tab.text(".row")
    Select(tab.one("#sort")).select_by_value("shortest")
    assert "1 step" in tab.text(".row")


def test_the_keyboard_goes_everywhere(tab: Browser, page: Path) -> None:
    tab.show(page, "0000/00/0/1")
    tab.press("n", "n")
    assert tab.text(".step.chosen .number") == "4"
    tab.press("p", Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert tab.text(".step.chosen .number") == "1"
    tab.press(Keys.ARROW_RIGHT)
    assert tab.text(".step.chosen .number") == "2"
    tab.press("j")
    assert tab.text(".eyebrow code") == "0000/00/1"
    tab.press("k", "k")
    assert tab.text(".eyebrow code") == "0000/00/0"
    tab.press("/", "key", Keys.ESCAPE)
    assert tab.text("#count") == "4 of 5 trajectories"
    assert tab.run("return document.activeElement.id") == "list"
    tab.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert tab.text(".eyebrow code") == "0000/00/0+elimination"
    active = tab.one("#list").get_attribute("aria-activedescendant")
    assert tab.one(f"#{active}").get_attribute("aria-selected") == "true"
    tab.press("?")
    assert "next, previous trajectory" in tab.text("dialog")
    tab.press(Keys.ESCAPE)
    assert not tab.one("dialog").is_displayed()


def test_what_a_model_wrote_is_text(tab: Browser, page: Path) -> None:
    tab.show(page, "0000/00/2/1")
    assert tab.run("return window.harmed") is None
    assert tab.all("main script, main img") == []
    shown = tab.run("return document.querySelector('h1').textContent.toWellFormed()")
    assert shown == "open " + NASTY.replace("\ud800", "\ufffd")
    assert "</script><script>" in tab.text(".thought")
    assert tab.run("return document.querySelector('pre').textContent.endsWith('and more')")
    tab.one("#query").send_keys("window.harmed")
    assert len(names(tab)) == 1


def test_a_small_screen_shows_one_thing_at_a_time(tab: Browser, page: Path) -> None:
    tab.show(page, width=400)
    assert not tab.one("#detail").is_displayed()
    tab.all(".row")[0].click()
    assert not tab.one("#list").is_displayed()
    assert tab.text("h1") == "open the chest"
    assert tab.run("return document.documentElement.scrollWidth") <= 400
    tab.one("#back").click()
    assert tab.one("#list").is_displayed()


def test_light_and_dark(tab: Browser, page: Path) -> None:
    background = "return getComputedStyle(document.body).backgroundColor"
    tab.show(page)
    light = tab.run(background)
    tab.show(page, dark=True)
    dark = tab.run(background)
    assert light != dark
    tab.press("t")
    assert tab.run(background) == light
    tab.press("t", "t")
    assert tab.run(background) == dark


def test_a_trajectory_of_thousands_of_steps_is_drawn_in_parts(tab: Browser, tmp_path: Path) -> None:
    long = play(["go to room 1", "go to room 0"] * 2500, "long")
    tab.show(write(tmp_path / "long.html", Source("long", [long], {}, Corridor())))
    assert "5,000 steps" in tab.text(".lead")
    assert len(tab.all(".step")) == 201
    tab.one(".pager .plain:last-child").click()
    assert tab.text(".step .number") == "201"
    tab.show(tmp_path / "long.html", "long/4999")
    assert tab.text(".step.chosen .number") == "4999"


def test_two_thousand_rows_keep_few_elements(tab: Browser, tmp_path: Path) -> None:
    made = [replace(each, id=f"{n}/{each.id}") for n in range(400) for each in everything()]
    many = Source("many", made, {}, None, ())
    tab.show(write(tmp_path / "many.html", many))
    assert tab.text("#count") == "2,000 of 2,000 trajectories"
    assert len(tab.all(".row")) < 60
    assert len(tab.all("tbody tr")) == 40
    tab.one("#list").click()
    tab.press(Keys.END)
    assert tab.text(".eyebrow code") == "399/0000/00/1+correction"
    assert tab.all(".row[aria-selected=true]")


def test_without_labels_or_environment_the_page_says_so(tab: Browser, tmp_path: Path) -> None:
    unverified = replace(verified(["go to room 1"], "u"), success=True)
    shown = Source("u", [unverified, everything()[0]], {}, None)
    tab.show(write(tmp_path / "u.html", shown), "u/1")
    assert "not verified" in tab.text(".step-detail")
    tab.show(tmp_path / "u.html", "0000/00/0/3")
    assert "--env" in tab.text(".step-detail")
