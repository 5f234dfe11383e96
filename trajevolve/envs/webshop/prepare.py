"""From WebShop's own files to a catalogue that opens at once.

The products are read one after the other and leave in parts; killed at any moment, the same call
goes on after the last complete part.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from trajevolve.envs.webshop import assembly, splits
from trajevolve.envs.webshop.annotations import AnnotationFile
from trajevolve.envs.webshop.folder import (
    MANIFEST,
    SCHEMA_VERSION,
    check_files,
    file_sha256,
    read_manifest,
)
from trajevolve.envs.webshop.goals import RECORDS
from trajevolve.envs.webshop.jsonfile import array_elements
from trajevolve.envs.webshop.nouns import Tagger, make_tagger
from trajevolve.envs.webshop.parts import PART_SIZE, PartFiles, make_part
from trajevolve.envs.webshop.products import has_usable_asin
from trajevolve.envs.webshop.store import PRODUCTS, MappedRows, write_rows
from trajevolve.errors import UserError
from trajevolve.files import check_room, make_folder, write_json, writing
from trajevolve.wording import counted

UNFINISHED = "unfinished"
"""Folder of the parts inside the catalogue's, gone when it is complete."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class Inputs:
    """The original files.

    Attributes:
        products: ``items_shuffle.json`` or ``items_shuffle_1000.json``.
        attributes: ``items_ins_v2.json`` or ``items_ins_v2_1000.json``.
        human: ``items_human_ins.json``; without it the goals are the synthetic ones.
        nouns: tagger of titles, see :func:`~trajevolve.envs.webshop.nouns.make_tagger`.
    """

    products: Path
    attributes: Path
    human: Path | None = None
    nouns: str = "spacy"

    def identity(self) -> dict[str, Any]:
        """Hash all that the result depends on. Raises UserError for a file that is not there."""
        files = {"products": self.products, "attributes": self.attributes, "human": self.human}
        hashes: dict[str, Any] = {"nouns": self.nouns}
        for name, path in files.items():
            if path is not None and path.is_dir():
                raise UserError(f"--{name} {path}: is a folder; give WebShop's JSON file")
            if path is not None and not path.is_file():
                raise UserError(f"--{name} {path}: no such file; give WebShop's JSON file")
            hashes[name] = None if path is None else file_sha256(path)
        return hashes


def prepare(inputs: Inputs, out: Path, report: Report, part_size: int = PART_SIZE) -> Path:
    """Make the catalogue of `inputs` in the folder `out`.

    Args:
        inputs: the original files.
        out: made; an unfinished one of the same inputs is gone on with, a complete one checked.
        report: takes lines of progress.
        part_size: products that are worked on at a time.

    Returns:
        `out`.

    Raises:
        UserError: an input cannot be used, or `out` holds something else.
    """
    identity = inputs.identity()
    if (out / MANIFEST).is_file():
        if read_manifest(out)["inputs"] != identity:
            raise UserError(f"{out}: holds a catalogue of other inputs; choose another folder")
        check_files(out)
        shutil.rmtree(out / UNFINISHED, ignore_errors=True)
        report(f"{out}: complete already, all files as they were written")
        return out
    tag = make_tagger(inputs.nouns)
    work = out / UNFINISHED
    _claim(out, work, identity)
    with writing(out):
        parts = _make_parts(inputs, work, tag, part_size, report)
        report(f"merging {counted(len(parts), 'part')}")
        facts = _write(out, parts)
        _finish(out, identity, facts)
        shutil.rmtree(work)
    return out


def _claim(out: Path, work: Path, identity: dict[str, Any]) -> None:
    """Make the work folder, or make sure that the one there is of the same inputs."""
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out}: is a file; give a folder")
    marker = work / "inputs.json"
    if marker.is_file():
        if json.loads(marker.read_text()) != identity:
            raise UserError(
                f"{out}: holds the beginning of a catalogue of other inputs; delete it, or choose "
                "another folder"
            )
    elif out.is_dir() and any(out.iterdir()):
        raise UserError(f"--out {out}: is not empty and holds no catalogue; choose a new folder")
    make_folder(work)
    check_room(work)
    write_json(marker, identity)


def _make_parts(
    inputs: Inputs, work: Path, tag: Tagger, size: int, report: Report
) -> list[PartFiles]:
    """Make the parts that are not there yet, and return all."""
    parts: list[PartFiles] = []
    while (part := PartFiles(work, len(parts))).complete:
        parts.append(part)
    seen = {asin for part in parts for asin in part.products().column("asin")}
    if parts:
        report(f"going on after {counted(len(seen), 'product')}")
    entries = _usable(inputs.products, seen)
    path = work / "annotations.sqlite"
    with closing(AnnotationFile(path, inputs.attributes, inputs.human)) as annotations:
        while batch := list(islice(entries, size)):
            part = PartFiles(work, len(parts))
            first = len(seen) - len(batch)
            try:
                made = make_part(first, batch, annotations, tag)
            except UserError as error:
                raise UserError(f"{inputs.products}: {error}") from None
            part.save(made)
            parts.append(part)
            report(counted(len(seen), "product"))
    if not parts:
        raise UserError(f"{inputs.products}: holds no product")
    return parts


def _usable(path: Path, seen: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the records to take and note their asins.

    An asin that was seen before, is too long or is none is passed over, as WebShop does.
    """
    for number, entry in enumerate(array_elements(path), start=1):
        if not isinstance(entry, dict):
            raise UserError(f"{path}: record {number}: expected an object")
        try:
            usable = has_usable_asin(entry)
        except UserError as error:
            raise UserError(f"{path}: record {number}: {error}") from None
        if usable and entry["asin"] not in seen:
            seen.add(entry["asin"])
            yield entry


def _write(out: Path, parts: list[PartFiles]) -> dict[str, Any]:
    """Write all files of the catalogue but its manifest, and return what it says of them."""

    def allocate(name: str, length: int, kind: Any) -> Any:
        return np.lib.format.open_memmap(
            out / f"{name}.npy", mode="w+", dtype=kind, shape=(length,)
        )

    write_rows(out / "products.arrow", PRODUCTS, (b for p in parts for b in p.products().batches))
    write_rows(out / "goals.arrow", RECORDS, (b for p in parts for b in p.records().batches))
    products = MappedRows.open(out / "products.arrow")
    records = MappedRows.open(out / "goals.arrow")
    assembly.write_index([part.segment for part in parts], products, allocate)
    assembly.write_order(records, allocate)
    first, order = (np.load(out / f"{name}.npy") for name in ("goal_first", "goal_order"))
    cut = splits.cut(assembly.goal_digests(products, records, first, order))
    for name, split in cut.items():
        np.save(out / f"split_{name}.npy", split.numbers)
    return {
        "products": len(products),
        "goals": len(order),
        "splits": {name: split.summary() for name, split in cut.items()},
    }


def _finish(out: Path, identity: dict[str, Any], facts: dict[str, Any]) -> None:
    """Hash the files and write the manifest, which makes the catalogue complete."""
    files = sorted(path for path in out.iterdir() if path.is_file())
    write_json(
        out / MANIFEST,
        {
            "schema_version": SCHEMA_VERSION,
            "inputs": identity,
            **facts,
            "files": {
                path.name: {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
                for path in files
            },
        },
    )
