"""`doctor`: what is installed, what is missing, and how to get it."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command()(doctor)


def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Say what is installed, what is missing and how to get it.

    Exit status 1 when something that the default needs is missing; optional parts never fail.
    """
    from dataclasses import asdict

    from trajevolve.cli.output import print_json, print_table
    from trajevolve.diagnosis import examine

    findings = examine()
    if json:
        print_json([asdict(finding) for finding in findings], indent=2)
    else:
        rows = [
            (finding.name, "ok" if finding.ok else "missing", finding.found, finding.advice)
            for finding in findings
        ]
        print_table(("", "state", "found", "what to do"), rows, texts=4)
    if any(finding.required and not finding.ok for finding in findings):
        raise typer.Exit(1)
