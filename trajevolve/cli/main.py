"""`trajevolve`: the commands, and how failures become one line and an exit status.

Exit status: 0 done; 1 the work failed or some input rows were bad; 2 the command or its input
could not be used; 130 interrupted, or nobody reads the output any more; 143 told to end by SIGTERM.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from trajevolve.cli import (
    environments,
    evaluating,
    playing,
    results,
    training,
    upkeep,
    verifying,
    viewing,
    webshop,
)
from trajevolve.cli.bars import terminal_bars
from trajevolve.errors import UserError, say
from trajevolve.telemetry import switch_off

INTERRUPTED = 130
TERMINATED = 143

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Train language-model agents with hindsight step credit and trajectory evolution.",
    epilog="Every command explains itself with --help; the manual is docs/commands.md.",
)
for module in (
    training,
    evaluating,
    playing,
    verifying,
    environments,
    results,
    viewing,
    upkeep,
    webshop,
):
    module.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"trajevolve {version('trajevolve')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print it and stop."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of a failure. Works anywhere.")
    ] = False,
) -> None:
    """Options of all commands; ``main`` takes --debug out before they are read."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; never raises."""
    switch_off()
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    command = typer.main.get_command(app)
    try:
        without = [argument for argument in given if argument != "--debug"]
        with (
            _ending_when_told(),
            terminal_bars(),
            command.make_context("trajevolve", without) as context,
        ):
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as stop:
        return stop.exit_code
    except _Terminated:
        return TERMINATED
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes once more on its way out; give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    except Exception as error:
        return _report(error, debug)
    return 0


class _Terminated(KeyboardInterrupt):
    """SIGTERM, of a batch system or of `kill`: a command ends as after Ctrl-C."""


@contextmanager
def _ending_when_told() -> Iterator[None]:
    """Have SIGTERM raise, unless whoever calls this decided what it does."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end(*_: object) -> None:
    raise _Terminated


def _report(error: Exception, debug: bool) -> int:
    """Print `error` as one line on stderr and return the exit status it means."""
    usage = getattr(error, "format_message", None)
    if callable(usage):
        return _report_usage(error, usage())
    if debug:
        traceback.print_exc()
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        error = UserError(f"{error.filename!r}: longer than the name of a file can be")
    if isinstance(error, UserError):
        _say(str(error))
        return 2
    hint = "" if debug else "; run again with --debug for the traceback"
    _say(f"{type(error).__name__}: {error}{hint}")
    return 1


def _report_usage(error: Exception, message: str) -> int:
    """Print a mistake in the command's own arguments; no command at all is a plea for help."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(message)
        return 2
    path = context.command_path if context else "trajevolve"
    _say(f"{message.rstrip('.')}; see {path} --help")
    return int(getattr(error, "exit_code", 2))


def _say(message: str) -> None:
    say(f"error: {' '.join(message.split())}")


def run() -> None:
    """Entry point of the installed command."""
    sys.exit(main())
