"""Reading products: prices, options, fields of other forms, and large JSON files in pieces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs.webshop.webshop_records import entry, options
from trajevolve.envs.webshop import jsonfile
from trajevolve.envs.webshop.jsonfile import array_elements, object_entries
from trajevolve.envs.webshop.prices import (
    parse_prices,
    price_bound,
    price_tag,
    sampled_price,
)
from trajevolve.envs.webshop.products import has_usable_asin, parse_product
from trajevolve.envs.webshop.store import MemoryRows, product_row, read_product
from trajevolve.errors import UserError


@pytest.mark.parametrize(
    ("text", "prices", "tag"),
    [
        ("$27.62", (27.62,), "$27.62"),
        ("$10.52$40.50", (10.52, 40.5), "$10.52 to $40.5"),
        ("$1,299.00", (1299.0,), "$1299.0"),
        ("$24.49 - $39.99$50", (24.49, 39.99), "$24.49 to $39.99"),
        ("", (100.0,), "$100.0"),
        ("free", (100.0,), "$100.0"),
        ("$.", (100.0,), "$100.0"),
    ],
)
def test_prices(text: str, prices: tuple[float, ...], tag: str) -> None:
    assert parse_prices(text) == prices
    assert price_tag(prices) == tag


def test_sampled_price_depends_on_the_asin_alone() -> None:
    assert sampled_price("B1", (5.0,)) == 5.0
    drawn = [sampled_price(f"B{number}", (10.0, 20.0)) for number in range(200)]
    assert drawn == [sampled_price(f"B{number}", (10.0, 20.0)) for number in range(200)]
    assert all(10 <= price <= 20 for price in drawn)
    assert min(drawn) < 11 and max(drawn) > 19


@settings(deadline=None)
@given(st.floats(0.01, 2000), st.integers(0, 50))
def test_bound_is_one_of_the_next_four(price: float, instruction: int) -> None:
    bound = price_bound(price, "B1", instruction)
    above = [10.0 * step for step in range(1, 100) if 10.0 * step > price][:4]
    # The larger of two is never the smallest of all.
    assert bound in above[1:] if len(above) >= 2 else bound is None


def test_bounds_differ_between_instructions() -> None:
    assert {price_bound(15.0, "B1", number) for number in range(50)} == {30.0, 40.0, 50.0}


def test_product_of_a_record() -> None:
    product = parse_product(
        entry(
            "B01",
            "A Mug",
            customization_options={
                "Color": [{"value": " Red/Blue "}, {"value": "GREEN"}],
                "Style": None,
            },
            small_description="one text",
            pricing="$3.50",
        ),
        ("dishwasher safe",),
    )
    assert product.options == (("color", ("red | blue", "green")),)
    assert product.bullets == ("one text",)
    assert product.query == "mugs"
    assert product.price == 3.5
    assert product.document() == "a mug about b01 one text color: red | blue, green"


def test_missing_fields_are_empty() -> None:
    product = parse_product({"asin": "B01", "name": None, "small_description": None})
    assert (product.title, product.bullets, product.options) == ("", (), ())
    assert product.prices == (100.0,)


def test_last_group_owns_a_value() -> None:
    product = parse_product(
        entry("B01", "x", customization_options=options(color=["red"], size=["red", "s"]))
    )
    assert product.option_of("red") == "size"
    assert product.option_of("blue") is None


def test_asins() -> None:
    assert has_usable_asin({"asin": "B000000001"})
    assert not has_usable_asin({"asin": "nan"})
    assert not has_usable_asin({"asin": "B0000000011"})
    with pytest.raises(UserError, match="no 'asin'"):
        has_usable_asin({})


@pytest.mark.parametrize("groups", [["red"], {"color": ["red"]}, {"color": [{"v": 1}]}])
def test_other_forms_of_options_are_refused(groups: Any) -> None:
    with pytest.raises(UserError, match="product B01"):
        parse_product(entry("B01", "x", customization_options=groups))


def test_rows_give_back_products() -> None:
    product = parse_product(entry("B01", "x", customization_options=options(color=["red"])), ("a",))
    assert read_product(MemoryRows([product_row(product)]), 0) == product


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("chunk", [1, 2, 7, 1 << 20])
def test_json_in_pieces(tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonfile, "CHUNK", chunk)
    path = tmp_path / "a.json"

    @settings(deadline=None, max_examples=40)
    @given(st.lists(JSON, max_size=5), st.sampled_from([None, 1]), st.booleans())
    def same(content: list[Any], indent: int | None, ascii: bool) -> None:
        path.write_text(json.dumps(content, indent=indent, ensure_ascii=ascii), "utf-8")
        assert list(array_elements(path)) == json.loads(path.read_text("utf-8"))
        keyed = {f"k{n}": each for n, each in enumerate(content)}
        path.write_text(json.dumps(keyed, indent=indent), "utf-8")
        assert dict(object_entries(path)) == keyed

    same()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected an array"),
        ("{}", "expected an array"),
        ("[1, 2", "expected ',' or ']'"),
        ("[1 2]", "expected ',' or ']'"),
        ("[1,]", "not valid JSON"),
        ('[{"a": tru', "not valid JSON"),
        ("[1] x", "expected the end"),
        ("[1,", "the file ends where a value"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_broken_json_is_one_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(UserError, match=problem):
        list(array_elements(path))


def test_unreadable_files_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        list(array_elements(tmp_path / "none.json"))
    (tmp_path / "a.json").write_bytes(b'["\xff\xfe"]')
    with pytest.raises(UserError, match="UTF-8"):
        list(array_elements(tmp_path / "a.json"))
