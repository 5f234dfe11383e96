"""WebShop's tokenizer: exact actions over the whole generated shop, and short pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from trajevolve.agent.parse import parse_response
from trajevolve.envs.webshop.environment import WebshopEnvironment
from trajevolve.envs.webshop.session import ALL_TABS, BACK, BUY, NEXT, PREV
from trajevolve.models.webshop_words import reading, webshop_tokenizer


@pytest.fixture(scope="module")
def env() -> WebshopEnvironment:
    return WebshopEnvironment("generated")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return webshop_tokenizer()


def encode(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def said(tokenizer: Any, ids: list[int]) -> str | None:
    """Read sampled tokens as the agent does."""
    return parse_response(tokenizer.decode(ids, skip_special_tokens=True), "action").action


def clicks(env: WebshopEnvironment) -> Iterator[str]:
    """Everything that can be clicked anywhere in the shop."""
    yield from (BACK, NEXT, PREV, BUY, *ALL_TABS[:3])
    for asin in env.shop.products.column("asin"):
        yield asin.lower()
        yield from (value for _, values in env.shop.product(asin).options for value in values)


def test_every_click_is_three_tokens_and_decodes_to_itself(
    tokenizer: Any, env: WebshopEnvironment
) -> None:
    every = {f"click[{text}]" for text in clicks(env)}
    assert len(every) > 550
    assert {"click[x-large]", "click[6.5]", "click[12 count (pack of 1)]", "click[next >]"} < every
    for action in every:
        ids = encode(tokenizer, action)
        assert len(ids) == 3 and tokenizer.unk_token_id not in ids, action
        assert said(tokenizer, [*ids, tokenizer.eos_token_id]) == action


def test_searches_keep_their_words_and_may_stay_open(tokenizer: Any) -> None:
    for action in ("search[running shoes machine wash big & tall 7.5]", "search[sofa 2 x 3 ft"):
        known = action.replace("sofa ", "sleeper sofa ")
        assert said(tokenizer, encode(tokenizer, known)) == known


def test_whole_instructions_are_known_and_on_the_first_page_only(
    tokenizer: Any, env: WebshopEnvironment
) -> None:
    for task in env.tasks("test", 40):
        start = encode(tokenizer, env.reset(task).text)
        assert tokenizer.unk_token_id not in start and 2 <= len(start) <= 12
        results = env.step("search[men's running shoes in black]").observation
        page = encode(tokenizer, results.text)
        assert len(page) == 2 + 10 * 5 and tokenizer.unk_token_id not in page
        item = env.step((results.admissible or ())[4]).observation
        assert len(encode(tokenizer, item.text)) <= 30


def test_what_is_read_of_a_page(env: WebshopEnvironment) -> None:
    start = env.reset(env.task("289"))
    assert reading().split(start.text) == [
        *("teeth whitening", "sulfate free", "bamboo toothbrush"),
        *("in", "white", "color", "pack of 6", "size"),
    ]
    env.step("search[bamboo toothbrush]")
    item = env.step(env.candidates()[2]).observation
    read = reading().split(item.text)
    assert read[:3] == ["color", "black", "white"] or read[0] == "color"
    assert "buy now" not in read and "instruction" not in read and "reviews" not in read


def test_a_special_token_decodes_to_itself(tokenizer: Any) -> None:
    """The dialogue takes it off the chat template, so nothing may be put before it."""
    assert tokenizer.decode([tokenizer.eos_token_id]) == "<eos>"
