"""`kata interview list`, `compare`, `export`, `import`: interviews of the user's own, and with candidates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import paths
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.interview_found import databases, find
from grader.cli.params import FOLDER
from grader.errors import UsageError
from grader.interview.wording import clock

if TYPE_CHECKING:
    from grader.interview.debrief import Debrief
    from grader.interview.records import Interview

ID = 8  # signs of an id that are shown


@click.command("list", epilog="\b\nExample:\n  kata interview list")
@pass_app
def list_command(app: App) -> None:
    """All interviews, the latest first: yours, and those with candidates."""
    from rich.table import Table
    from rich.text import Text

    found: list[Interview] = []
    for database in databases(app):
        app.turn_to(database)
        found += app.interviews.readable()
    if not found:
        console.say("There was no interview yet. Begin one: kata interview v1")
        return
    table = Table("id", "when", "katas", "candidate", "points", box=None, pad_edge=False)
    for interview in sorted(found, key=lambda one: one.events[0].moment.wall, reverse=True):
        when = interview.events[0].moment.wall.astimezone()
        cells = (
            interview.plan.uuid[:ID],
            f"{when:%Y-%m-%d %H:%M}",
            " ".join(interview.plan.katas),
            console.safe(interview.candidate) or "you",
            _points(interview),
        )
        table.add_row(*map(Text, cells))
    console.show(table)


@click.command("compare", epilog="\b\nExample:\n  kata interview compare 3f2a 91c0")
@click.argument("first")
@click.argument("second")
@pass_app
def compare_command(app: App, first: str, second: str) -> None:
    """Two interviews side by side: points, time, hints, and what was missed."""
    from rich.table import Table
    from rich.text import Text

    from grader.cli.interview_debrief import debrief_of, ended

    shown = [debrief_of(app, ended(app, name)) for name in (first, second)]
    table = Table("", box=None, pad_edge=False)
    for one in shown:
        table.add_column(Text(_who(one)))
    for name, values in _rows(shown):
        table.add_row(*map(Text, (name, *values)))
    console.show(table)


@click.command("export", epilog="\b\nExample:\n  kata interview export 3f2a -o ada.json")
@click.argument("interview", metavar="ID")
@click.option("-o", "--output", type=FOLDER, required=True, metavar="FILE", help="Where to write it.")
@pass_app
def export_command(app: App, interview: str, output: Path) -> None:
    """One interview as a file to send: what was saved when, and its grades."""
    from grader.cohort.documents import write_whole
    from grader.memory.sessions import export_interview

    session = find(app, interview)
    document = export_interview(app.database, app.clock(), session.plan.uuid)
    path = write_whole(app.folder / output, document)
    console.say(f"Wrote {console.place(path)}")
    console.say(f"  Whoever gets it: kata interview import {console.safe(path.name)} --candidate NAME")


@click.command("import", epilog="\b\nExample:\n  kata interview import ada.json --candidate 'Ada Lovelace'")
@click.argument("file", type=FOLDER)
@click.option("--candidate", metavar="NAME", default="", help="Who sent it.")
@pass_app
def import_command(app: App, file: Path, candidate: str) -> None:
    """Add an interview that somebody sent; it is none of your own practice."""
    from grader.memory.sessions import import_interview

    try:
        content = (app.folder / file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file} could not be read: {error.strerror}.", "Check its name.") from error
    done = import_interview(content, paths.candidates(app.home), console.safe(file.name), candidate)
    console.say("Added. See it: kata interview list" if done.added else "Nothing new: it was here already.")


def _points(interview: Interview) -> str:
    if interview.aborted:
        return "ended without a grade"
    graded = [one.graded for one in interview.rounds if one.graded is not None]
    said = " ".join(f"{event.data['points']}/{event.data['max_points']}" for event in graded)
    return said if interview.phase == "over" else f"{said} still on".strip()


def _who(debrief: Debrief) -> str:
    return console.safe(debrief.candidate) or debrief.id[:ID]


def _rows(shown: list[Debrief]) -> list[tuple[str, list[str]]]:
    rows = [
        ("when", [f"{one.at.astimezone():%Y-%m-%d %H:%M}" for one in shown]),
        ("verdict", [one.verdict.word for one in shown]),
    ]
    katas = dict.fromkeys(part.kata for one in shown for part in one.rounds)
    for kata in katas:
        parts = [next((part for part in one.rounds if part.kata == kata), None) for one in shown]
        told = {
            "points": [f"{part.points}/{part.max_points}" if part else "" for part in parts],
            "time": [f"{clock(part.used)} of {clock(part.limit)}" if part else "" for part in parts],
            "hints": [str(part.hints) if part else "" for part in parts],
            "saves": [str(len(part.saves)) if part else "" for part in parts],
            "missed": [", ".join(one.id for one in part.review) if part else "" for part in parts],
        }
        rows += [(f"{kata} {name}", values) for name, values in told.items()]
    return rows
