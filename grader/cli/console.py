"""The one door to the terminal: results to standard output, everything else to standard error.

Whatever a text came from (a file's name, a stored row, an exception, a candidate's output), no sign of it
that moves a cursor, starts a link or reorders a line gets through; only the styles of ours do. Nothing else
writes to the standard streams.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from grader import paths
from grader.catalog import LeftOut
from grader.errors import KataError
from grader.report.neutral import WORD_JOINER, for_terminal, json_for_terminal, visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


# A change of colours and weights, and nothing else that a terminal understands.
_STYLE = re.compile(r"(\x1b\[[0-9;]{0,40}m)")


def safe(text: str) -> str:
    """One line of harmless text."""
    return for_terminal(text)


def place(path: Path) -> str:
    """A path for the eye: `~` for the home, one line, harmless."""
    return safe(paths.tilde(path))


def local(moment: datetime) -> str:
    """A time as a person says it, in their own zone."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def say(text: str = "", *, color: str | None = None, error: bool = False) -> None:
    """A line of ours; in a colour where standard output is a terminal."""
    line = for_terminal(text)
    _write(click.style(line, fg=color) if color else line, error=error)


def report(text: str, *, styled: bool = False) -> None:
    """A finished document on standard output, without what is harmful; `styled` keeps its colours."""
    parts = _STYLE.split(text) if styled else [text]
    parts[::2] = [visible(part, keep=WORD_JOINER) for part in parts[::2]]
    _write("".join(parts).removesuffix("\n"))


def draw(document: Callable[..., str]) -> None:
    """A document that is made for the terminal that there is: `document(width=…, color=…, unicode=…)`."""
    can = terminal()
    report(document(**can._asdict()), styled=can.color)


def data(document: str) -> None:
    """A JSON document on standard output; what is harmful in its texts is escaped, and means the same."""
    _write(json_for_terminal(document).removesuffix("\n"))


def ask(question: str, *, error: bool = False) -> str:
    """What the user types; nothing for Enter alone. `error` asks on standard error."""
    answer: str = click.prompt(for_terminal(question), default="", show_default=False, err=error)
    return answer


def confirm(question: str, *, error: bool = False) -> bool:
    """Yes or no; no for Enter alone. `error` asks on standard error."""
    return click.confirm(for_terminal(question), default=False, err=error)


def trace(text: str) -> None:
    """A traceback of ours on standard error, in full."""
    _write(for_terminal(text, limit=len(text), multiline=True), error=True)


def warn(problem: KataError | None) -> None:
    """What went wrong beside the result, on standard error; nothing when there is no problem."""
    if problem is not None:
        complain("Note", problem.message, problem.fix)


def lines_of(*problems: KataError) -> int:
    """How many lines `warn` takes for these, where standard output is as wide as it is."""
    return sum(height("Note", problem.message, problem.fix) for problem in problems)


def height(label: str, message: str, fix: str = "") -> int:
    """How many lines of the terminal `complain` takes."""
    from rich.cells import cell_len

    texts = [f"{label}: {message}", *([f"  → {fix}"] if fix else [])]
    lines = [line for text in texts for line in for_terminal(text, multiline=True).split("\n")]
    return sum(max(1, -(-cell_len(line) // terminal().width)) for line in lines)


def left_out(katas: Iterable[LeftOut]) -> None:
    """Say on standard error which packs and katas cannot be used, and why."""
    for one in katas:
        complain("Left out", one.message, one.fix)


def complain(label: str, message: str, fix: str = "") -> None:
    """What happened, and what to do next, on standard error."""
    _write(f"{click.style(f'{label}:', bold=True)} {for_terminal(message, multiline=True)}", error=True)
    if fix:
        _write(f"  → {for_terminal(fix, multiline=True)}", error=True)


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
            _write(line.rstrip())  # a file has no use for the blanks that fill a screen


def clear() -> None:
    """An empty screen, where standard output is a terminal."""
    click.clear()


def _write(text: str, *, error: bool = False) -> None:
    click.echo(text, err=error, color=False if os.environ.get("NO_COLOR") else None)


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
    from rich.segment import Segment

    class Quiet(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the reader left: the group ends the program, with its exit code

        def render(self, *words: Any, **more: Any) -> Iterator[Segment]:
            for segment in super().render(*words, **more):
                yield segment if segment.control else segment._replace(text=visible(segment.text))

    return Quiet(file=file, highlight=False, markup=False, emoji=False)
