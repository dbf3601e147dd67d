"""Writing to the terminal: results to standard output, everything else to standard error.

Text that a candidate could have chosen goes through `safe`, so that it cannot move the cursor or hide a line.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from grader import paths
from grader.errors import KataError
from grader.report.neutral import for_terminal

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def safe(text: str) -> str:
    """One line of harmless text."""
    return for_terminal(text)


def place(path: Path) -> str:
    """A path for the eye: `~` for the home, one line, harmless."""
    return safe(paths.tilde(path))


def local(moment: datetime) -> str:
    """A time as a person says it, in their own zone."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def say(text: str = "") -> None:
    """A line of ours on standard output."""
    click.echo(text)


def report(text: str) -> None:
    """A finished document on standard output. It is harmless already, and ends with a newline of its own."""
    click.echo(text, nl=not text.endswith("\n"))


def warn(problem: KataError | None) -> None:
    """What went wrong beside the result, on standard error; nothing when there is no problem."""
    if problem is not None:
        complain("Note", problem.message, problem.fix)


def complain(label: str, message: str, fix: str = "") -> None:
    """What happened, and what to do next, on standard error."""
    click.echo(f"{click.style(f'{label}:', bold=True)} {for_terminal(message, multiline=True)}", err=True)
    if fix:
        click.echo(f"  → {for_terminal(fix, multiline=True)}", err=True)


def show(*renderables: RenderableType) -> None:
    """Tables, Markdown and styled text on standard output, as wide as the terminal."""
    console = _console(sys.stdout)
    for renderable in renderables:
        whole = getattr(renderable, "no_wrap", False) is True
        if console.is_terminal:
            console.print(renderable, soft_wrap=whole)
            continue
        with console.capture() as captured:
            console.print(renderable, soft_wrap=whole)
        for line in captured.get().splitlines():
            click.echo(line.rstrip())  # a file has no use for the blanks that fill a screen


class Terminal(NamedTuple):
    """What standard output can show: columns (the terminal's, `COLUMNS`, or 80), colours, all signs."""

    width: int
    color: bool
    unicode: bool


def terminal() -> Terminal:
    """What standard output can show."""
    console = _console(sys.stdout)
    color = console.is_terminal and not console.no_color and not console.is_dumb_terminal
    return Terminal(console.width, color, console.encoding.startswith("utf"))


@contextlib.contextmanager
def progress(text: str) -> Iterator[None]:
    """A spinner on standard error while the block runs, where that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with _console(sys.stderr).status(safe(text)):
        yield


@contextlib.contextmanager
def bar(text: str) -> Iterator[Callable[[int, int | None], None]]:
    """A progress bar on standard error, where that is a terminal: `advance(steps, total)`."""
    if not sys.stderr.isatty():
        yield lambda _, __: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(safe(text)), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_console(sys.stderr), transient=True) as progress:
        task = progress.add_task(text, total=None)

        def advance(steps: int, total: int | None) -> None:
            progress.update(task, advance=steps, total=total)

        yield advance


def _console(file: Any) -> Console:
    from rich.console import Console

    class Quiet(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the reader left: the group ends the program, with its exit code

    return Quiet(file=file, highlight=False, markup=False, emoji=False)
