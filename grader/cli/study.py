"""`kata questions` and `kata plan`."""

from __future__ import annotations

from datetime import datetime

import click
import msgspec

from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.interview_guard import tell_interviews
from grader.cli.params import KATA
from grader.errors import UsageError

MOST_DAYS = 366


@click.command(
    "questions", epilog="\b\nExamples:\n  kata questions v3\n  kata questions v3 2\n  kata questions v3 --all"
)
@click.argument("kata", type=KATA)
@click.argument("number", type=click.IntRange(min=1), required=False)
@click.option("--all", "every", is_flag=True, help="All of them with their answers.")
@pass_app
def questions_command(app: App, kata: Kata, number: int | None, every: bool) -> None:
    """What an interviewer could ask next, with answers.

    NUMBER shows one of them with a model answer, to compare with your own.
    """
    from grader.cli import screens
    from grader.practice.questions import questions

    tell_interviews(app)
    known = questions(kata)
    if number is not None and number > len(known):
        way = f"See them: kata questions {kata.id}"
        raise UsageError(f"There are {len(known)} questions about {kata.id}.", way)
    shown = range(1, len(known) + 1) if every else () if number is None else (number,)
    console.show(*screens.questions(known, kata, tuple(shown)))


@click.command(
    "plan", epilog="\b\nExamples:\n  kata plan 2026-12-14\n  kata plan 2026-12-14 --minutes 30 --json"
)
@click.argument("date", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE")
@click.option(
    "--minutes", type=click.IntRange(5, 24 * 60), default=45, show_default=True, help="Of each day."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@pass_app
def plan_command(app: App, date: datetime, minutes: int, as_json: bool) -> None:
    """Which kata on which day, until a date.

    From prerequisites, minutes, and what you are about to forget. DATE is the day of the interview.
    """
    from grader.memory.plan import plan
    from grader.memory.schedule import memories
    from grader.memory.sittings import sittings

    now = app.clock()
    days = (date.date() - now.astimezone().date()).days
    if not 0 < days <= MOST_DAYS:
        raise UsageError(f"{date:%Y-%m-%d} is not within the next {MOST_DAYS} days.", "Name a day to come.")
    found = sittings(app.catalog, app.history, app.interviews)
    made = plan(app.catalog, found, memories(found, now), now, date.date(), minutes)
    if as_json:
        console.data(msgspec.json.format(msgspec.json.encode(made), indent=2).decode())
        return
    from grader.cli import screens

    tell_interviews(app)
    console.show(*screens.plan(made))
