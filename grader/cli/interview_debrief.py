"""`kata interview debrief`, and the follow-up questions at a plain terminal."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import paths
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.errors import UsageError
from grader.interview import followups, opening, round_grading
from grader.interview.debrief import Debrief, build_debrief
from grader.interview.sections import FORMATS, Format, debrief_document
from grader.interview.wording import clock, load_wording

if TYPE_CHECKING:
    from grader.interview.session import Session


@click.command(
    "debrief",
    epilog="""\b
Examples:
  kata interview debrief              the last interview, in the terminal
  kata interview debrief 3f2a         that one; the ids: kata interview list
  kata interview debrief --open       as a page in the browser
  kata interview debrief --format md""",
)
@click.argument("interview", required=False, metavar="[ID]")
@click.option("--open", "open_it", is_flag=True, help="Write it as HTML and open it in the browser.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: text, and html with --open.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write it to this file."
)
@pass_app
def debrief_command(
    app: App, interview: str | None, open_it: bool, form: Format | None, output: Path | None
) -> None:
    """The debrief of the last interview again, or of the one with that ID, in any format."""
    session = ended(app, interview)
    if not (open_it or output):
        say_debrief(app, session, form or "text")
        return
    form = form or ("html" if open_it else "text")
    written = output or paths.reports(app.home) / f"interview-{session.plan.uuid[:8]}.{form}"
    text = debrief_document(debrief_of(app, session), form, app.catalog)
    try:
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"The debrief could not be written to {written}: {error.strerror}.", "Name another file."
        ) from error
    console.say(f"Debrief: {console.place(written.absolute())}")
    if open_it:
        app.show_page(written.absolute())


def ended(app: App, interview: str | None) -> Session:
    """The last interview, or the one whose id begins like that, with every save graded."""
    from grader.cli.interview_found import find

    if interview is None:
        session = opening.latest(app.folder, app.interviews, app.moment)
    else:
        session = find(app, interview)
    session.observe()
    if not session.interview.aborted:
        session.require("questions", "over")
        with console.progress("Grading every save …"):
            round_grading.grade_timeline(session, app.interviews, app.catalog, app.grade)
    return session


def say_debrief(app: App, session: Session, form: Format) -> Debrief:
    """Print the debrief."""
    debrief = debrief_of(app, session)
    if form == "text":
        console.draw(partial(debrief_document, debrief, form, app.catalog))
    elif form == "json":
        console.data(debrief_document(debrief, form, app.catalog))
    else:
        console.report(debrief_document(debrief, form, app.catalog))
    return debrief


def ask_follow_ups(app: App, session: Session, *, answer: bool) -> None:
    """Choose the questions, and let the candidate answer them now or not."""

    asked = followups.ask(session, app.catalog, app.interviews, app.measure)
    if not answer:
        return
    console.say(f"Three more questions, about {clock(followups.SECONDS)} each. Enter alone skips one.")
    for entry in asked:
        if entry.done:
            continue
        console.say()
        console.say(f"? {entry.question.question}")
        began = time.monotonic()
        text = console.ask("Your answer")
        session.answer(entry.question.id, text, time.monotonic() - began)
        console.say()
        console.say(f"A good answer: {entry.question.answer}")
        console.say("Which of these did you say?")
        marks = [console.confirm(f"  {point}") for point in entry.question.key_points]
        session.mark(entry.question.id, marks)


def debrief_of(app: App, session: Session) -> Debrief:
    return build_debrief(session, app.history, app.interviews, app.catalog, load_wording(app.catalog))
