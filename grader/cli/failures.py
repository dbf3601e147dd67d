"""Every way a command can end badly, made into a message and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from grader import __version__, paths
from grader.cli import console
from grader.cli.console import complain, place
from grader.errors import KataError, UsageError
from grader.exit_codes import ExitCode


class ReaderLeft(Exception):
    """Nobody reads standard output any more, as after `kata history | head -1`."""


@contextlib.contextmanager
def noticing_that_the_reader_left() -> Iterator[None]:
    """Raises `ReaderLeft` for a broken pipe, which Click would end with 1: "not passed"."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderLeft from error


def run(command: Callable[[], object], home: Callable[[], Path]) -> int:
    """Run a command and return the exit code; whatever it raises becomes a message on standard error."""
    try:
        code = command()
        sys.stdout.flush()
    except (ReaderLeft, BrokenPipeError):
        return _reader_left()
    except (click.ClickException, click.Abort, KataError) as problem:
        return _told(problem)
    except Exception as error:  # noqa: BLE001 -- the last resort, for what is our fault
        return _our_fault(error, home)
    return code if isinstance(code, int) else ExitCode.PASSED


def _told(problem: click.ClickException | click.Abort | KataError) -> ExitCode:
    if isinstance(problem, click.Abort):
        complain("Interrupted", "nothing more was done.")
        return ExitCode.INTERRUPTED
    if isinstance(problem, click.ClickException):
        context = getattr(problem, "ctx", None)
        example = f"{context.command_path} --help" if context else "kata --help"
        complain("Error", problem.format_message(), f"See how it is used: {example}")
        return ExitCode.USAGE
    complain("Error", problem.message, problem.fix)
    return ExitCode.USAGE if isinstance(problem, UsageError) else ExitCode.GRADER_FAULT


def _reader_left() -> int:
    # Nobody reads any more; without this, Python complains when it flushes at the end.
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.BROKEN_PIPE


def told_of(error: Exception, home: Callable[[], Path]) -> str:
    """A fault of ours beside a command that goes on: its traceback is kept, and this says where."""
    where = _traced(error, home)
    return f"This is a fault in kata, not in your code: {type(error).__name__}. {where}"


def _our_fault(error: Exception, home: Callable[[], Path]) -> int:
    where = _traced(error, home)
    complain(
        "Error",
        f"This is a fault in kata, not in your code: {type(error).__name__}: {error}",
        f"{where}\n  → Please report it, with the output of `kata doctor`.",
    )
    return ExitCode.GRADER_FAULT


def _traced(error: Exception, home: Callable[[], Path]) -> str:
    """Keep or show the traceback; returns where it is."""
    trace = "".join(traceback.format_exception(error))
    if os.environ.get("KATA_DEBUG"):
        console.trace(trace)
        return "The traceback is above."
    try:
        return f"The traceback is in {place(_keep(trace, home()))}"
    except OSError:
        return "KATA_DEBUG=1 shows the traceback."


def _keep(trace: str, home: Path) -> Path:
    folder = paths.crashes(home)
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        note = folder / f"crash-{number}.txt"
        try:
            with note.open("x", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"attention-kata {__version__}, Python {sys.version}\n\n{trace}")
        except FileExistsError:
            number += 1
        else:
            return note
