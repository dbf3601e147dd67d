"""An interview that is on is shown by the other commands, and what costs it is asked first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App
from grader.errors import UsageError
from grader.exit_codes import ExitCode

if TYPE_CHECKING:
    from grader.interview.price import Deed
    from grader.interview.session import Session

YES = click.option("-y", "--yes", is_flag=True, help="Do it even if that costs the interview that is on.")


def tell_interviews(app: App) -> tuple[Session, ...]:
    """Say on standard error which interviews are on, and how to get back; returns them."""
    from grader.interview.price import running
    from grader.interview.status import way_back

    found = running(app.interviews, app.moment)
    for session in found:
        console.complain("Interview", *way_back(session, app.folder))
    return found


def lines_told(sessions: tuple[Session, ...], app: App) -> int:
    """How many lines it took to say which interviews are on."""
    if not sessions:
        return 0
    from grader.interview.status import way_back

    return sum(console.height("Interview", *way_back(session, app.folder)) for session in sessions)


def ask_first(
    app: App, deed: Deed, kata: Kata, *, yes: bool, ask: bool = True, folder: Path | None = None
) -> tuple[Session, ...]:
    """Show the interviews that are on, and let nothing happen unasked that costs one of them.

    `folder` restricts it to an interview there. Where nobody can be asked (`ask` is false, or there is no
    terminal), it is refused. Returns the interviews.
    """
    from grader.interview.price import costs

    found = tell_interviews(app)
    if yes:
        return found
    for cost in costs(deed, kata.id, found, app.history, app.catalog, folder):
        if not (ask and app.can_ask()):
            raise UsageError(cost, "To do it all the same, add --yes.")
        console.say(cost, error=True)
        if not console.confirm("Do it all the same?", error=True):
            console.say("Nothing was done; the interview goes on.", error=True)
            click.get_current_context().exit(ExitCode.USAGE)
    return found
