"""`verify`: hindsight labels for recorded trajectories of any agent."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer

from trajevolve.cli.options import BackendName, DataFolder, EnvName

if TYPE_CHECKING:
    from trajevolve.formats.records import Record


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(verify)


def verify(
    env: EnvName,
    input: Annotated[
        Path, typer.Option("--input", metavar="FILE", help="JSON or JSONL; - is standard input.")
    ],
    data: DataFolder = None,
    mode: Annotated[
        Literal["cumulative", "independent"],
        typer.Option(help="Labels that hold together, or one by one as in the paper."),
    ] = "cumulative",
    order: Annotated[
        Literal["backward", "forward"],
        typer.Option(help="Of the cumulative mode: backward keeps the first of two detours."),
    ] = "backward",
    loop_prepass: Annotated[
        bool | None,
        typer.Option(
            "--loop-prepass/--no-loop-prepass",
            help="Cumulative mode: first take out stretches that end in the exact state they "
            "began in; else with backward order only.",
        ),
    ] = None,
    backend: BackendName = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Instead of standard output.")
    ] = None,
    format: Annotated[
        Literal["auto", "rows", "verl-agent", "conversations"],
        typer.Option(help="Of the input; auto goes by its first object."),
    ] = "auto",
    task_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Where a record names its task, e.g. meta.game; else usual keys."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", help="Also write what was redundant; - prints it."),
    ] = None,
) -> None:
    """Label every step of recorded trajectories as necessary (1) or redundant (0).

    Input: one object a line, {"task": PATH-OR-ID, "actions": [...]}, or conversations, or step
    records of verl-agent. Output: rows in order with task, actions, env, success, labels,
    dependents, minimal and transitions. A row that cannot be read or run becomes {"error": ...}
    in its place, and the exit status is 1.
    """
    from trajevolve.cli.options import open_environment
    from trajevolve.cli.output import note
    from trajevolve.credit.lots import helpers
    from trajevolve.credit.rows import verify_records
    from trajevolve.formats.detect import to_rows
    from trajevolve.reports.redundancy import Redundancy
    from trajevolve.wording import counted

    _check_paths(input, output, report)
    environment = open_environment(env, data, backend)
    beside = helpers(environment, lambda: open_environment(env, data, backend))
    found = Redundancy(environment.spec.name, environment.canonical)
    try:
        verified = verify_records(
            to_rows(_records(input), format, task_key),
            environment,
            mode=mode,
            order=order,
            loop_prepass=loop_prepass,
            beside=beside,
        )
        rows = found.counting(verified)
        bad = write_rows(rows, sys.stdout) if output is None else _write_file(rows, output)
    finally:
        for each in (environment, *beside):
            each.close()
    if report is not None:
        _write_report(found.markdown(), report)
    if output is not None:
        note(f"{found.summary()} -> {output}")
    if bad:
        note(f'{counted(bad, "row")} could not be verified; see "error" there')
        raise typer.Exit(1)


def _check_paths(input: Path, output: Path | None, report: Path | None) -> None:
    from trajevolve.cli.inputs import present_file
    from trajevolve.cli.outputs import new_file
    from trajevolve.errors import UserError

    if str(input) != "-":
        present_file("--input", input, "expected JSON lines of task and actions")
    for given in (output, report):
        if given is not None and given.resolve() == input.resolve():
            raise UserError(f"--input {input}: would be overwritten; write to another file")
    if output is not None:
        new_file("--output", output)
    if report is None:
        return
    if str(report) != "-":
        new_file("--report", report)
    elif output is None:
        raise UserError("--report -: standard output holds the rows; add --output FILE for them")
    if output is not None and report.resolve() == output.resolve():
        raise UserError(f"--report {report}: holds the rows already; give it a file of its own")


def _records(path: Path) -> Iterator[Record]:
    """Read undecoded: a line that is not UTF-8 then fails as a row, not the whole file."""
    from trajevolve.errors import UserError
    from trajevolve.formats.records import read_records

    if str(path) == "-":
        yield from read_records(sys.stdin.buffer)
        return
    try:
        with path.open("rb") as stream:
            yield from read_records(stream)
    except OSError as error:
        raise UserError(f"--input {path}: cannot be read: {error.strerror}") from None


def _write_report(page: str, path: Path) -> None:
    from trajevolve.files import write_atomically

    if str(path) == "-":
        typer.echo(page, nl=False)
        return
    write_atomically(path, lambda partial: partial.write_text(page, encoding="utf-8"))


def _write_file(rows: Iterable[dict[str, Any]], output: Path) -> int:
    """Write all rows or, after an interrupt, nothing; return how many are errors."""
    from trajevolve.cli.output import telling
    from trajevolve.files import write_atomically

    bad: list[int] = []

    def write(partial: Path) -> None:
        with partial.open("w", encoding="utf-8") as stream:
            bad.append(write_rows(rows, stream))

    with telling(f"interrupted; {output} is not written; without --output rows come singly"):
        write_atomically(output, write)
    return bad[0]


def write_rows(rows: Iterable[dict[str, Any]], stream: IO[str]) -> int:
    """Write rows as JSON lines and return how many are errors."""
    from trajevolve.cli.output import print_json

    bad = 0
    for row in rows:
        print_json(row, stream=stream)
        bad += "error" in row and "success" not in row
    return bad
