"""The page as text: complete in itself, and no word of a model in it can become markup."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajevolve.trajectory import Trajectory
from trajevolve.viewer.collect import document, gather_evidence, limited
from trajevolve.viewer.page import SCRIPTS, embedded, render, write_page
from trajevolve.viewer.source import Source
from viewer.made import NASTY, everything, source


def made(**changes: Any) -> dict[str, Any]:
    shown = replace(source(), **changes)
    return document(shown, gather_evidence(shown, "all"), "all")


class Elements(HTMLParser):
    """Collects elements and what stands in scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.contents: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag in ("script", "style"):
            self.contents.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is not None:
            self.contents[-1] += data


def test_what_a_model_wrote_adds_no_element() -> None:
    page = render(made())
    harmless = render(made(trajectories=[]))
    assert Elements(page).tags == Elements(harmless).tags
    assert "<img src=x" not in page
    assert "window.harmed=1</script>" not in page


@given(st.text(), st.text())
def test_embedded_json_holds_no_markup_and_reads_back(key: str, value: str) -> None:
    text = embedded({key: value + NASTY})
    assert not set(text) & set("<>&\u2028\u2029")
    assert text.isascii()
    assert json.loads(text) == {key: value + NASTY}


def test_nothing_is_loaded_from_anywhere() -> None:
    page = render(made())
    found = Elements(page)
    assert {"src", "srcset", "action", "data"}.isdisjoint(name for name, _ in found.attributes)
    assert [value for name, value in found.attributes if name == "href"] == ["data:,"]
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest|WebSocket", page)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", page)


def test_the_policy_allows_this_style_and_script_alone() -> None:
    page = render(made())
    policy = _policy(page)
    style, _, script = Elements(page).contents
    assert policy["default-src"] == "'none'"
    assert policy["style-src"] == _hash(style)
    assert policy["script-src"] == _hash(script)
    assert "{{" not in page.replace(embedded(made()), "")


def _policy(page: str) -> dict[str, str]:
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert found
    parts = (part.strip().split(" ", 1) for part in found[1].split(";"))
    return {name: value for name, value in parts}


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_every_script_is_used() -> None:
    folder = Path(__file__).parents[2] / "trajevolve" / "viewer"
    assert sorted(SCRIPTS) == sorted(path.name for path in folder.glob("*.js"))


def test_a_text_is_embedded_once() -> None:
    strings = made()["strings"]
    assert len(strings) == len(set(strings))
    twice = [*everything(), *(replace(each, id=f"again {each.id}") for each in everything())]
    assert made(trajectories=twice)["strings"] == strings


def test_the_document_says_what_the_trajectories_say() -> None:
    shown = made()
    detour, failure, _, child, corrected = shown["trajectories"]
    text = shown["strings"]
    assert [text[step[1]] for step in detour["steps"]][:2] == ["go to room 1", "take key"]
    assert [step[6] for step in detour["steps"]] == [1, 1, 0, 0, 1, 1, 1]
    assert detour["replays"]["2"]["fallen"] == [3]
    assert detour["replays"]["2"]["answers"] == {}  # refused: room 1, as it was answered then
    assert [step[8] for step in failure["steps"]] == [0.9, 0.75, 0.0, 1.0]
    assert "replays" not in failure
    assert child["evolution"]["kept"] == 5
    assert corrected["evolution"]["kept"] == 2
    assert (shown["env"], shown["notes"]) == ("corridor", ["One note."])


def test_kept_steps_are_those_without_probabilities_of_the_sampler() -> None:
    parent, child = everything()[1], everything()[4]
    sampled = replace(
        parent, steps=tuple(replace(s, sampler_logprobs=(-1.0,)) for s in parent.steps)
    )
    third = replace(child.steps[2], sampler_logprobs=(-1.0,))
    grown = replace(child, steps=(*child.steps[:2], third))
    assert made(trajectories=[sampled, grown])["trajectories"][1]["evolution"]["kept"] == 2
    recorded = made(trajectories=[sampled, child])["trajectories"][1]
    assert recorded["evolution"]["kept"] == 3  # corrected: another action, and yet not sampled


def test_numbers_that_json_cannot_say_are_null(tmp_path: Path) -> None:
    wrong = replace(everything()[0], reward=float("nan"), shaped_reward=float("inf"))
    shown = made(trajectories=[wrong])
    assert shown["trajectories"][0]["reward"] is None
    assert write_page(tmp_path / "page.html", shown) > 10_000


def test_a_limit_says_what_it_left_out() -> None:
    shown = limited(source(), 2)
    assert [each.id for each in shown.trajectories] == ["0000/00/0", "0000/00/1"]
    assert "2 of 5 trajectories" in shown.notes[0]
    assert limited(source(), 5).notes == ("One note.",)


def test_an_environment_that_fails_costs_its_own_evidence_only() -> None:
    unknown = replace(everything()[0], id="other", task_id="gone")
    shown = source()
    environment = shown.environment
    assert environment is not None

    def task(ref: str) -> Any:
        if ref == "gone":
            raise ZeroDivisionError("a defect")
        return type(environment).task(environment, ref)

    environment.task = task  # type: ignore[method-assign]
    trajectories: list[Trajectory] = [unknown, *shown.trajectories]
    found = gather_evidence(Source("x", trajectories, {}, environment), "all")
    assert found["other"].problem == "ZeroDivisionError: a defect"
    assert found["0000/00/0"].counterfactuals


@pytest.mark.parametrize("wanted", ["all", "none"])
def test_without_an_environment_there_is_no_evidence(wanted: Any) -> None:
    assert gather_evidence(replace(source(), environment=None), wanted) == {}
    assert gather_evidence(source(), "none") == {}
