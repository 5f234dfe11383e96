"""Search: the very lists that Lucene returns, and the pieces they come from."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajevolve.envs.webshop import bm25
from trajevolve.envs.webshop.analysis import terms, words
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.index import Index
from trajevolve.envs.webshop.indexing import make_segment, merge
from trajevolve.envs.webshop.porter import stem


def make_index(texts: list[str], cut: int, order: list[int] | None = None) -> Index:
    """Index `texts` in two segments; rows are in order of asin unless `order` says another."""
    arrays: dict[str, np.ndarray] = {}

    def allocate(name: str, length: int, kind: object) -> np.ndarray:
        arrays[name] = np.empty(length, kind)
        return arrays[name]

    segments = [make_segment(0, texts[:cut]), make_segment(cut, texts[cut:])]
    by_asin = np.array(list(range(len(texts))) if order is None else order)
    merge([lambda s=s: s for s in segments], by_asin, allocate)
    return Index.of(arrays)


def test_lists_equal_lucene(data: Path, real_shop: Catalogue) -> None:
    recorded = json.loads((data / "lucene_hits.json").read_text())["results"]
    assert len(recorded) == 300
    for case in recorded:
        found = [real_shop.listing(row).asin for row in real_shop.hits(case["query"])]
        assert found == [asin for asin, _ in case["hits"]], case["query"]


def test_scores_equal_lucene(data: Path, real_shop: Catalogue) -> None:
    """Recorded scores have four decimals; ties were spread by some 1e-6 when they were recorded."""
    rows = {asin: row for row, asin in enumerate(real_shop.products.column("asin"))}
    for case in json.loads((data / "lucene_hits.json").read_text())["results"][:50]:
        scores = real_shop.index.scores(case["query"])
        for asin, score in case["hits"]:
            assert float(scores[rows[asin]]) == pytest.approx(score, abs=1.5e-4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The men's X-Large tee", ["men's", "X", "Large", "tee"]),
        ("3.5mm, 1,000 units; a.b c:d 1.a", ["3.5mm", "1,000", "units", "a.b", "c:d", "1", "a"]),
        ("snake_case _ __x", ["snake_case", "__x"]),
        ("Kodak™ ★★ ☆ 8½", ["Kodak", "™", "★", "★", "8"]),
        ("naïve über-cool", ["naïve", "über", "cool"]),
        ("日本 カメラ", ["日", "本", "カメラ"]),
        ("👍🏽 👩‍👧 🇩🇪🇫🇷 1️⃣", ["👍🏽", "👩‍👧", "🇩🇪", "🇫🇷", "1️⃣"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    found = list(words(text))
    assert [word for word in found if word != "The"] == expected


@settings(deadline=None)
@given(st.text(alphabet="ab1_.,;:' -™", max_size=12))
def test_plain_and_full_rules_agree(text: str) -> None:
    """Text of ASCII has the words it has beside a sign from elsewhere."""
    assert [*words(text), "é"] == list(words(f"{text} é")) or not text.isascii()


def test_long_words_are_cut() -> None:
    assert [len(word) for word in words("x" * 600)] == [255, 255, 90]


def test_terms() -> None:
    assert terms("The Cat's toys and their Running biology, doggedly") == [
        "cat",
        "toi",
        "run",
        "biologi",
        "doggedli",
    ]


# From the tables of Porter's paper, and the departures.
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *(("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("caress", "caress")),
        *(("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"), ("bled", "bled")),
        *(("conflated", "conflat"), ("hopping", "hop"), ("falling", "fall"), ("filing", "file")),
        *(("fizzed", "fizz"), ("failing", "fail"), ("happy", "happi"), ("sky", "sky")),
        *(("relational", "relat"), ("conditional", "condit"), ("rational", "ration")),
        *(("triplicate", "triplic"), ("formalize", "formal"), ("goodness", "good")),
        *(
            ("revival", "reviv"),
            ("adoption", "adopt"),
            ("irritant", "irrit"),
            ("bowdlerize", "bowdler"),
        ),
        *(("probate", "probat"), ("rate", "rate"), ("cease", "ceas"), ("controll", "control")),
        *(("possibly", "possibl"), ("archaeology", "archaeolog"), ("as", "as"), ("is", "is")),
        *(("100s", "100"), ("★", "★"), ("", "")),
    ],
)
def test_stem(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_lengths_keep_four_bits() -> None:
    coded = [bm25.coded_length(bm25.length_code(length)) for length in range(5000)]
    assert coded[:41] == list(range(41))
    assert coded[41] == 40 and coded[57] == 56 and coded[199] == 184 and coded[4999] == 4632
    assert all(one <= two for one, two in pairwise(coded))


@settings(deadline=None)
@given(st.integers(0, 255 - 24))
def test_length_codes_are_those_of_their_lengths(code: int) -> None:
    assert bm25.length_code(bm25.coded_length(code)) == code


def test_scores_by_hand() -> None:
    """Three products of 2, 1 and 3 terms: avgdl 2."""
    index = make_index(["red mug", "mug", "red red lamp"], cut=2)
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    by_hand = [
        idf - idf / (1 + tf / (0.9 * (0.6 + 0.4 * length / 2))) if tf else 0.0
        for tf, length in ((1, 2), (0, 1), (2, 3))
    ]
    assert index.scores("red").tolist() == pytest.approx(by_hand, rel=1e-6)
    assert index.scores("red RED").tolist() == pytest.approx([2 * s for s in by_hand], rel=1e-6)


def test_ties_go_by_asin_and_the_border_too() -> None:
    index = make_index(["mug", "mug", "mug", "lamp"], cut=1, order=[2, 0, 3, 1])
    assert index.search("mug", 50).tolist() == [2, 0, 1]
    assert index.search("mug", 2).tolist() == [2, 0]
    assert index.search("nothing", 5).tolist() == []
    assert index.search("", 5).tolist() == []


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.lists(st.sampled_from(["red", "mug", "lamp", "cup"]), max_size=6), min_size=1),
    st.data(),
)
def test_segments_do_not_matter(texts: list[list[str]], draw: st.DataObject) -> None:
    joined = [" ".join(text) for text in texts]
    whole = make_index(joined, cut=len(joined))
    parts = make_index(joined, cut=draw.draw(st.integers(0, len(joined))))
    for query in ("red", "red mug", "cup lamp cup"):
        assert whole.scores(query).tolist() == parts.scores(query).tolist()
