"""Interviews by the beginning of their id: the user's own, and those that somebody sent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader import paths
from grader.cli.app import App
from grader.errors import UsageError
from grader.interview import opening

if TYPE_CHECKING:
    from grader.interview.session import Session


def find(app: App, beginning: str) -> Session:
    """The interview whose id begins like that; from then on its database is worked with."""
    from grader.interview.session import Session

    found = []
    for database in databases(app):
        app.turn_to(database)
        found += [(database, plan) for plan in opening.named(app.interviews, beginning)]
    if len(found) != 1:
        which = "There is no interview" if not found else "There are several interviews"
        raise UsageError(f"{which} with the id {beginning}.", "See them: kata interview list")
    database, plan = found[0]
    app.turn_to(database)
    return Session(app.interviews, plan, app.moment)


def databases(app: App) -> list[Path]:
    """The user's own, and the candidates', as far as they are there."""
    both = (paths.database(app.home), paths.candidates(app.home))
    return [path for path in both if path.is_file()]
