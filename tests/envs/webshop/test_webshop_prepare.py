"""Preparing a catalogue: the same as in memory, after any stop, and checked when opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trajevolve.envs.webshop import prepare as preparing
from trajevolve.envs.webshop.assembly import assemble
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.folder import check_files, open_catalogue
from trajevolve.envs.webshop.generated import generate
from trajevolve.envs.webshop.nouns import make_tagger, word_nouns
from trajevolve.envs.webshop.parts import PartFiles, make_part
from trajevolve.envs.webshop.prepare import Inputs, prepare
from trajevolve.errors import UserError

COUNT = 60


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    folder = tmp_path_factory.mktemp("original")
    generate(COUNT, 3).write(folder)
    return Inputs(
        folder / "items_shuffle.json",
        folder / "items_ins.json",
        folder / "items_human_ins.json",
        nouns="words",
    )


def silent(line: str) -> None:
    """Say nothing."""


def content(shop: Catalogue) -> list[Any]:
    queries = ("running shoes", "green tea pack of 3", "soft rug")
    return [
        [shop.goal(number) for number in range(shop.goals)],
        {name: numbers.tolist() for name, numbers in shop.splits.items()},
        [[shop.listing(row) for row in shop.hits(query)] for query in queries],
        [shop.product(asin) for asin in shop.products.column("asin")],
    ]


def test_same_as_in_memory(inputs: Inputs, tmp_path: Path) -> None:
    prepare(inputs, tmp_path / "shop", silent, part_size=17)
    original = generate(COUNT, 3)
    memory = assemble("memory", [make_part(0, original.products, original, word_nouns)])
    assert content(open_catalogue(tmp_path / "shop")) == content(memory)
    assert not (tmp_path / "shop" / preparing.UNFINISHED).exists()


def test_goes_on_after_a_stop(
    inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in the third part, and again while the arrays are written."""
    whole = prepare(inputs, tmp_path / "whole", silent, part_size=20)
    saved = PartFiles.save
    made: list[int] = []

    def save(self: PartFiles, part: Any) -> None:
        made.append(self.number)
        if made == [0, 1, 2]:
            raise KeyboardInterrupt
        saved(self, part)

    monkeypatch.setattr(PartFiles, "save", save)
    shop = tmp_path / "shop"
    with pytest.raises(KeyboardInterrupt):
        prepare(inputs, shop, silent, part_size=20)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(preparing.assembly, "write_order", stop)
        with pytest.raises(KeyboardInterrupt):
            prepare(inputs, shop, silent, part_size=20)
    with pytest.raises(UserError, match="holds no prepared"):
        open_catalogue(shop)
    prepare(inputs, shop, silent, part_size=20)
    assert made == [0, 1, 2, 2]
    assert check_files(shop)["files"] == check_files(whole)["files"]


def test_again_is_a_check(inputs: Inputs, tmp_path: Path) -> None:
    shop = prepare(inputs, tmp_path / "shop", silent)
    said: list[str] = []
    prepare(inputs, shop, said.append)
    assert said == [f"{shop}: complete already, all files as they were written"]
    with pytest.raises(UserError, match="other inputs"):
        prepare(Inputs(inputs.products, inputs.attributes, None, "words"), shop, silent)
    with (shop / "goal_order.npy").open("r+b") as stream:
        stream.seek(-1, 2)
        stream.write(b"\xff")
    with pytest.raises(UserError, match=r"goal_order.npy: missing, or not what was written"):
        prepare(inputs, shop, silent)


def test_damage_is_one_line(inputs: Inputs, tmp_path: Path) -> None:
    shop = prepare(inputs, tmp_path / "shop", silent)
    file = shop / "products.arrow"
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(UserError, match=r"products.arrow: missing, or not"):
        open_catalogue(shop)
    manifest = json.loads((shop / "catalogue.json").read_text())
    (shop / "catalogue.json").write_text(json.dumps(manifest | {"schema_version": 9}))
    with pytest.raises(UserError, match="schema version 9"):
        open_catalogue(shop)
    (shop / "catalogue.json").write_text("{")
    with pytest.raises(UserError, match=r"catalogue.json: cannot be read"):
        open_catalogue(shop)


def test_records_that_webshop_passes_over(tmp_path: Path) -> None:
    original = generate(2, 0)
    first, second = original.products
    passed = [{**first, "asin": "nan"}, {**first, "asin": "B0000000011"}, first]
    original.products = [first, *passed, second]
    original.write(tmp_path)
    inputs = Inputs(tmp_path / "items_shuffle.json", tmp_path / "items_ins.json", None, "words")
    shop = open_catalogue(prepare(inputs, tmp_path / "shop", silent))
    assert shop.products.column("asin") == [first["asin"], second["asin"]]


@pytest.mark.parametrize(
    ("products", "attributes", "human", "problem"),
    [
        ("[]", "{}", None, "holds no product"),
        ("[1]", "{}", None, "record 1: expected an object"),
        ('[{"name": "x"}]', "{}", None, "record 1: no 'asin'"),
        ('[{"asin": "a", "customization_options": [1]}]', "{}", None, "product a: custom"),
        ('[{"asin": "a"}]', "[]", None, "expected an object"),
        ('[{"asin": "a"}]', '{"a": []}', None, "'a': expected attributes, got list"),
        ('[{"asin": "a"}]', "{}", '["a sentence"]', "expected an object"),
        ('[{"asin": "a"}]', "{}", '{"a": {}}', "'a': expected a list of instructions"),
    ],
)
def test_bad_inputs_are_one_line(
    tmp_path: Path, products: str, attributes: str, human: str | None, problem: str
) -> None:
    for name, text in (("p", products), ("a", attributes), ("h", human or "")):
        (tmp_path / name).write_text(text)
    inputs = Inputs(tmp_path / "p", tmp_path / "a", tmp_path / "h" if human else None, "words")
    with pytest.raises(UserError, match=problem):
        prepare(inputs, tmp_path / "shop", silent)


def test_folders_in_use_are_left_alone(inputs: Inputs, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        prepare(inputs, tmp_path / "full", silent)
    with pytest.raises(UserError, match="is a file"):
        prepare(inputs, inputs.products, silent)
    missing = Inputs(tmp_path / "none", inputs.attributes, None, "words")
    with pytest.raises(UserError, match=r"--products .*none: no such file"):
        prepare(missing, tmp_path / "shop", silent)
    with pytest.raises(UserError, match="expected spacy or words"):
        make_tagger("other")


def test_word_nouns() -> None:
    assert list(word_nouns(["The Red Mug, 12oz and Mug"])) == [("red", "mug", "mug")]


def test_index_is_mapped_not_read(inputs: Inputs, tmp_path: Path) -> None:
    shop = open_catalogue(prepare(inputs, tmp_path / "shop", silent))
    assert isinstance(shop.index.posting_rows.base, np.memmap)
    assert isinstance(shop.goal_order, np.memmap)
