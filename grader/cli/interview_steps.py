"""`kata interview start`, `status`, `submit`, `next`, `ask` and `abort`: the interview without a room."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.interview_wish import begin, plan_options, read_first
from grader.errors import UsageError
from grader.exit_codes import OF_VERDICT
from grader.interview import opening
from grader.interview.status import document, lines, short, status
from grader.interview.wording import count

if TYPE_CHECKING:
    from grader.interview.session import Session


@click.command("start", epilog="\b\nExamples:\n  kata interview start v3\n  kata interview start --ladder")
@plan_options
@pass_app
def start_command(app: App, /, **wish: Any) -> None:
    """Start the clock; write in any editor, then submit.

    At a terminal you read the brief first, and Enter starts the clock. In a script it starts at once.
    """
    say_how_it_stands(app, begin(app, **wish))


@click.command("status", epilog="\b\nExamples:\n  kata interview status\n  kata interview status --short\n")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--short", "as_line", is_flag=True, help="One line for a prompt; empty when none is on.")
@pass_app
def status_command(app: App, as_json: bool, as_line: bool) -> None:
    """How much time is left."""
    if not (as_json or as_line):
        say_how_it_stands(app, opening.current(app.folder, app.interviews, app.moment))
        return
    try:
        found = status(opening.current(app.folder, app.interviews, app.moment))
    except UsageError:  # none is on: for a program that is an answer
        found = None
    if as_json:
        console.data(document(found))
    elif found is not None:
        console.say(short(found))


@click.command("submit", epilog="\b\nExamples:\n  kata interview submit\n  kata interview submit --json")
@click.option("--json", "as_json", is_flag=True, help="The debrief as one JSON document.")
@click.option(
    "--questions/--no-questions",
    default=None,
    help="Answer the follow-up questions now; the default is to do so at a terminal.",
)
@click.pass_context
def submit_command(ctx: click.Context, as_json: bool, questions: bool | None) -> None:
    """Hand in: stop the clock, be graded, see the debrief.

    After the deadline the last state before it is what counts.
    """
    from grader.cli.interview_debrief import ask_follow_ups, say_debrief
    from grader.interview import round_grading

    app = ctx.ensure_object(App)
    session = opening.current(app.folder, app.interviews, app.moment)
    session.observe()
    if session.phase == "writing":
        session.submit()
    with console.progress("Grading what you handed in …"):
        round_grading.settle(session, app.history, app.interviews, app.catalog, app.grade)
    if session.phase == "between":
        following = app.catalog.get(session.plan.katas[len(session.interview.rounds)])
        console.say(
            f"{session.round.kata} is handed in. The next level is {following.id}: {following.title}."
        )
        console.say("  Its clock starts when you say so: kata interview next")
        return
    with console.progress("Grading every save …"):
        round_grading.grade_timeline(session, app.interviews, app.catalog, app.grade)
    at_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    ask_follow_ups(app, session, answer=at_terminal if questions is None else questions)
    session.finish()
    debrief = say_debrief(app, session, "json" if as_json else "text")
    lost = [one.verdict for one in debrief.rounds if one.verdict != "passed"]
    ctx.exit(OF_VERDICT[lost[0] if lost else "passed"])


@click.command("next", epilog="\b\nExample:\n  kata interview next")
@pass_app
def next_command(app: App) -> None:
    """Begin the ladder's next level."""
    session = opening.current(app.folder, app.interviews, app.moment)
    session.observe()
    session.require("between")
    number = len(session.interview.rounds)
    read_first(app, app.catalog.get(session.plan.katas[number]), session.plan.limits[number])
    opening.go_on(session, app.catalog, app.history, app.moment)
    say_how_it_stands(app, session)


@click.command("ask", epilog="\b\nExamples:\n  kata interview ask\n  kata interview ask 2")
@click.argument("number", type=click.IntRange(min=1), required=False)
@pass_app
def ask_command(app: App, number: int | None) -> None:
    """Ask the interviewer a clarifying question. It costs nothing.

    Without NUMBER: the questions there are.
    """
    from grader.interview.clarify import clarifications

    session = opening.current(app.folder, app.interviews, app.moment)
    known = clarifications(app.catalog.get(session.round.kata))
    if number is None:
        for place, entry in enumerate(known, start=1):
            console.say(f"{place:3}  {entry.question}")
        return
    if number > len(known):
        raise UsageError(f"There are {len(known)} questions.", "See them: kata interview ask")
    entry = known[number - 1]
    session.ask(entry.id)
    console.say(f"You: {entry.question}")
    console.say(f"Interviewer: {entry.answer}")


@click.command("abort", epilog="\b\nExample:\n  kata interview abort")
@pass_app
def abort_command(app: App) -> None:
    """End the interview without a grade. Your file stays as it is.

    What was graded already keeps its grade.
    """
    session = opening.current(app.folder, app.interviews, app.moment)
    session.abort()
    if session.round.graded is None:
        console.say(f"The interview on {session.round.kata} is over, without a grade.")
    else:
        console.say(f"The interview on {session.round.kata} is over; its grade is kept.")
        console.say("  See how it went: kata interview debrief")
    console.say(f"  Your file stays: {console.place(session.round.path)}")


def say_how_it_stands(app: App, session: Session) -> None:
    """The state of an interview, and what can be done in it."""
    found = status(session)
    kata = app.catalog.get(found.kata)
    if session.round.backup is not None and not found.saves:
        console.say(f"Your work is kept in {console.place(session.round.backup)}")
    cost = count(kata.rules.hint_cost, "point")
    for line in lines(found):
        console.say(line)
    console.say(f"  File:     {console.place(found.path)}")
    if found.phase == "writing":
        hint = f"    Hint: kata hint {kata.id} (costs {cost})" if session.round.room is None else ""
        console.say(f"  Ask:      kata interview ask{hint}")
        console.say("  Hand in:  kata interview submit")
    elif found.phase == "between":
        console.say("  Go on:    kata interview next")
    else:
        console.say("  Debrief:  kata interview submit")
