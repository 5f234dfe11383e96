"""What commands print: JSON on stdout, tables for people, notes on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import typer


def print_json(value: Any, indent: int | None = None, stream: IO[str] | None = None) -> None:
    """Write `value` as one JSON document and flush, so that a reader at a pipe sees it at once.

    Raises:
        ValueError: it holds NaN or infinity, which JSON cannot say; nothing is written.
    """
    target = sys.stdout if stream is None else stream
    target.write(json.dumps(value, indent=indent, allow_nan=False) + "\n")
    target.flush()


def note(message: str) -> None:
    """Tell the person at the terminal, on stderr."""
    typer.echo(message, err=True)


@contextmanager
def telling(*said: str) -> Iterator[None]:
    """After an interrupt, tell what became of the work."""
    try:
        yield
    except KeyboardInterrupt:
        for message in said:
            note(message)
        raise


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None, texts: int = 1
) -> None:
    """Print a table on stdout; the first `texts` columns are text, the others figures."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position < texts else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console()
    piped = not console.is_terminal
    if piped:
        console = Console(width=200)
    if title:
        console.print(Text(title), soft_wrap=True)
    if not piped:
        console.print(table)
        return
    with console.capture() as drawn:
        console.print(table)
    typer.echo("\n".join(line.rstrip() for line in drawn.get().splitlines()))
