"""`webshop prepare`, `webshop check`, `webshop generate`: catalogues."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trajevolve.cli.options import AsJson


def register(app: typer.Typer) -> None:
    """Add the group of commands to `app`."""
    group = typer.Typer(no_args_is_help=True, help="Make and check WebShop catalogues.")
    group.command()(prepare)
    group.command()(check)
    group.command()(generate)
    app.add_typer(group, name="webshop")


def prepare(
    products: Annotated[
        Path, typer.Option(metavar="FILE", help="items_shuffle.json or items_shuffle_1000.json.")
    ],
    attributes: Annotated[
        Path, typer.Option(metavar="FILE", help="items_ins_v2.json or items_ins_v2_1000.json.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The catalogue; made.")],
    human: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="items_human_ins.json: people's instructions, not synthetic ones."
        ),
    ] = None,
    nouns: Annotated[
        str,
        typer.Option(
            metavar="spacy|words", help="Finds the nouns of titles; words: without spaCy, rougher."
        ),
    ] = "spacy",
    json: AsJson = False,
) -> None:
    """Make a catalogue of WebShop's own files; the same command again goes on after a stop."""
    from trajevolve.cli.output import note
    from trajevolve.cli.outputs import new_folder
    from trajevolve.envs.webshop.prepare import Inputs, prepare

    new_folder("--out", out)
    prepare(Inputs(products, attributes, human, nouns), out, note)
    _show(out, json)


def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A prepared catalogue.")],
    json: AsJson = False,
) -> None:
    """Compare every file of a catalogue with the hash it was made with."""
    from trajevolve.envs.webshop.folder import check_files

    check_files(folder)
    _show(folder, json)


def generate(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the three files go.")],
    count: Annotated[int, typer.Option(min=1, metavar="N", help="How many products.")] = 480,
    seed: Annotated[int, typer.Option(min=0, metavar="S", help="Other seeds, others.")] = 0,
    json: AsJson = False,
) -> None:
    """Write a generated shop in the form of WebShop's own files, for prepare."""
    from trajevolve.cli.output import note, print_json
    from trajevolve.cli.outputs import new_folder
    from trajevolve.envs.webshop.generated import generate as generated
    from trajevolve.wording import counted

    new_folder("--out", out)
    generated(count, seed).write(out)
    if json:
        print_json({"products": count, "folder": str(out)}, indent=2)
        return
    typer.echo(f"{counted(count, 'product')} -> {out}")
    files = f"--products {out / 'items_shuffle.json'} --attributes {out / 'items_ins.json'}"
    note(f"to play it: trajevolve webshop prepare {files} --out DIR, then --data DIR")


def _show(folder: Path, json: bool) -> None:
    from trajevolve.cli.output import print_json
    from trajevolve.envs.webshop.folder import read_manifest
    from trajevolve.wording import counted

    manifest = read_manifest(folder)
    if json:
        print_json(manifest, indent=2)
        return
    parts = ", ".join(f"{name} {part['goals']}" for name, part in manifest["splits"].items())
    products = counted(manifest["products"], "product")
    typer.echo(f"{folder}: {products}, {counted(manifest['goals'], 'goal')} ({parts})")
