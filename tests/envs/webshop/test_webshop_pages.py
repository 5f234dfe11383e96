"""Pages and where clicks lead: WebShop's saved pages word for word, and every transition."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajevolve.envs.webshop.catalogue import Catalogue, Listing
from trajevolve.envs.webshop.pages import SEPARATOR, item_page, join, observation, results_page
from trajevolve.envs.webshop.prices import parse_prices
from trajevolve.envs.webshop.products import Product
from trajevolve.envs.webshop.session import (
    Action,
    Page,
    State,
    clickables,
    parse_action,
    transition,
)

INVISIBLE = {"style", "script", "head", "title", "meta"}


class VisibleTexts(HTMLParser):
    """The texts of a page that can be seen, each with the tag and class it stands in."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.found: list[tuple[str, str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("link", "img", "input", "br", "meta"):
            self.open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        if self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if data.strip() and not INVISIBLE & {tag for tag, _ in self.open}:
            self.found.append((*self.open[-1], data.strip()))

    def texts(self) -> list[str]:
        return [text for _, _, text in self.found]


def test_saved_item_page(data: Path) -> None:
    page = VisibleTexts((data / "pages" / "item_page.html").read_text(encoding="utf-8"))
    groups: dict[str, list[str]] = {}
    title = price = ""
    for tag, _, text in page.found:
        if tag == "h2":
            title = text
        elif tag == "h4" and text.startswith("Price: "):
            price = text.removeprefix("Price: ")
        elif tag == "h4" and not text.startswith(("Instruction", "i want", "Rating")):
            groups[text] = []
        elif tag == "label":
            groups[list(groups)[-1]].append(text)
    product = Product(
        asin="B09P87V3LZ",
        title=title,
        description="",
        bullets=(),
        options=tuple((name, tuple(values)) for name, values in groups.items()),
        prices=parse_prices(price),
        price=100.0,
        query="",
        category="",
        product_category="",
    )
    assert list(groups) == ["color", "size"] and len(groups["size"]) == 5
    assert join(item_page(page.texts()[1], product)) == SEPARATOR.join(page.texts())


def test_saved_results_page(data: Path) -> None:
    page = VisibleTexts((data / "pages" / "results_page.html").read_text(encoding="utf-8"))
    parts: dict[str, list[str]] = {"product-link": [], "product-title": [], "product-price": []}
    for _, kind, text in page.found:
        for name, texts in parts.items():
            if name in kind:
                texts.append(text)
    listings = [Listing(*each) for each in zip(*parts.values(), strict=True)]
    assert len(listings) == 10
    written = join(results_page(page.texts()[1], 1, 50, listings))
    assert written == SEPARATOR.join(page.texts())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("search[Red Mug]", Action("search", "red mug")),
        (" Click[Buy Now] ", Action("click", "buy now")),
        ("click[size [m]]", Action("click", "size [m]")),
        *((text, None) for text in ("search", "search[]", "search[x", "buy[x]", "", "[x]")),
    ],
)
def test_actions(text: str, expected: Action | None) -> None:
    assert parse_action(text) == expected


def follow(shop: Catalogue, *actions: str) -> State:
    state = State()
    for action in actions:
        parsed = parse_action(action)
        assert parsed is not None
        after = transition(state, parsed, shop)
        assert after is not None, action
        state = after
    return state


ITEM = ("search[blue mug]", "click[b000000002]")


def test_tour(tiny_shop: Catalogue) -> None:
    results = State(Page.RESULTS, ("blue", "mug"), 1)
    assert follow(tiny_shop, "search[blue mug]") == results
    assert follow(tiny_shop, "search[blue mug]", "click[next >]").number == 2
    assert follow(tiny_shop, "search[blue mug]", "click[next >]", "click[< prev]") == results
    item = State(Page.ITEM, ("blue", "mug"), 1, "B000000002")
    assert follow(tiny_shop, *ITEM) == item
    chosen = item._replace(options=(("color", "blue"), ("size", "red")))
    # "red" stands in both groups and belongs to the last; the order of choices does not count.
    assert follow(tiny_shop, *ITEM, "click[blue]", "click[red]") == chosen
    assert follow(tiny_shop, *ITEM, "click[red]", "click[blue]") == chosen
    assert follow(tiny_shop, *ITEM, "click[red]", "click[small]").options == (("size", "small"),)
    tab = follow(tiny_shop, *ITEM, "click[blue]", "click[features]")
    assert (tab.page, tab.tab, tab.options) == (Page.TAB, "features", (("color", "blue"),))
    back = follow(tiny_shop, *ITEM, "click[blue]", "click[features]", "click[< prev]")
    assert back == item._replace(options=(("color", "blue"),))
    assert follow(tiny_shop, *ITEM, "click[blue]", "click[< prev]") == results
    for where in ((), ("click[blue]",), ("click[reviews]",)):
        assert follow(tiny_shop, *ITEM, *where, "click[back to search]") == State()
    assert follow(tiny_shop, *ITEM, "click[blue]", "click[buy now]").page == Page.DONE


@pytest.mark.parametrize(
    ("before", "refused"),
    [
        ((), "click[search]"),
        ((), "click[back to search]"),
        (("search[blue mug]",), "search[red]"),
        (("search[blue mug]",), "click[< prev]"),
        (("search[blue mug]",), "click[b000000003]"),
        (("search[blue mug]", "click[next >]"), "click[b000000002]"),
        (ITEM, "click[next >]"),
        (ITEM, "click[attributes]"),
        (ITEM, "click[green]"),
        ((*ITEM, "click[features]"), "click[buy now]"),
        ((*ITEM, "click[features]"), "click[features]"),
        ((*ITEM, "click[buy now]"), "click[back to search]"),
    ],
)
def test_refused(tiny_shop: Catalogue, before: tuple[str, ...], refused: str) -> None:
    action = parse_action(refused)
    assert action is not None
    assert transition(follow(tiny_shop, *before), action, tiny_shop) is None


def test_clickables(tiny_shop: Catalogue) -> None:
    item = follow(tiny_shop, *ITEM)
    buttons = ("back to search", "< prev", "description", "features", "reviews", "buy now")
    assert clickables(item, tiny_shop) == (*buttons, "blue", "red", "small")
    assert "attributes" in clickables(item, tiny_shop, show_attributes=True)
    first = follow(tiny_shop, "search[blue mug]")
    assert clickables(first, tiny_shop) == ("back to search", "next >", "b000000002", "b000000001")
    second = follow(tiny_shop, "search[blue mug]", "click[next >]")
    assert clickables(second, tiny_shop) == ("back to search", "< prev", "next >")


def read(shop: Catalogue, *actions: str, show_attributes: bool = False) -> list[str]:
    text = observation(follow(shop, *actions), "buy it", shop, show_attributes)
    return text.split(SEPARATOR)


def test_texts(tiny_shop: Catalogue) -> None:
    head = ["Instruction:", "buy it", "Back to Search"]
    assert read(tiny_shop) == ["WebShop", "Instruction:", "buy it", "Search"]
    assert read(tiny_shop, "search[nothing]") == [*head, "Page 1 (Total results: 0)", "Next >"]
    results = read(tiny_shop, "search[blue mug]", "click[next >]")
    assert results == [*head, "Page 2 (Total results: 2)", "< Prev", "Next >"]
    assert read(tiny_shop, "search[blue mug]")[3:8] == [
        *("Page 1 (Total results: 2)", "Next >", "B000000002", "Blue Mug", "$10.0")
    ]
    item = [*head, "< Prev", "color", "blue", "red", "size", "small", "red", "Blue Mug"]
    item += ["Price: $10.0", "Rating: N.A.", "Description", "Features", "Reviews", "Buy Now"]
    assert read(tiny_shop, *ITEM) == item
    assert read(tiny_shop, *ITEM, "click[blue]") == item
    assert read(tiny_shop, *ITEM, show_attributes=True)[-2] == "Attributes"
    sub = [*head, "< Prev"]
    assert read(tiny_shop, *ITEM, "click[reviews]") == sub
    assert read(tiny_shop, *ITEM, "click[description]") == [*sub, "about b000000002"]
    assert read(tiny_shop, *ITEM, "click[features]") == [*sub, "first feature", "second feature"]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 40), max_size=12))
def test_shown_is_what_can_be_clicked(tiny_shop: Catalogue, choices: list[int]) -> None:
    state = State()
    everything = {"back to search", "< prev", "next >", "buy now", "features", "blue", "red"}
    for choice in choices:
        listed = clickables(state, tiny_shop)
        for text in everything | set(listed):
            after = transition(state, Action("click", text), tiny_shop)
            assert (after is not None) == (text in listed)
        searched = transition(state, Action("search", "mug lamp"), tiny_shop)
        assert (searched is not None) == (state.page == Page.INDEX)
        after = searched
        if listed:
            after = transition(state, Action("click", listed[choice % len(listed)]), tiny_shop)
        if after is None:
            break
        state = after
