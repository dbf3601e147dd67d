"""`kata watch`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from grader.cli import console
from grader.cli.app import App
from grader.cli.interview_guard import YES, ask_first
from grader.cli.keys import keys
from grader.cli.params import ANSWER_OR_KATA, isolation_option
from grader.confine.policy import Level
from grader.exit_codes import OF_VERDICT, ExitCode
from grader.practice.hints import next_hint
from grader.practice.reports import document, write_report
from grader.practice.targets import resolve_target

if TYPE_CHECKING:
    from grader.watch.rounds import Event, Round, Watch

HELP_ON_KEYS = "h hint · r report · g grade again · q quit"


@click.command(
    "watch",
    epilog="\b\nExamples:\n  kata watch\n  kata watch v3\n  kata watch self_attention_v3.py --keep-going",
)
@click.argument("what", nargs=-1, type=ANSWER_OR_KATA, metavar="[FILE] [ID]")
@click.option("--keep-going", is_flag=True, help="Do not stop after a pass.")
@click.option("--no-engine", is_flag=True, help="Without the warm process: slower, the same verdict.")
@isolation_option(default="standard")
@YES
@click.pass_context
def watch_command(
    ctx: click.Context,
    *,
    what: tuple[str, ...],
    keep_going: bool,
    no_engine: bool,
    isolation: Level,
    yes: bool,
) -> None:
    """Grade on every save, until it passes.

    FILE and ID are found as `kata grade` finds them. A save while a grade is under way starts it over.
    """
    from grader.grading import Options
    from grader.watch.rounds import Round, Watch

    app = ctx.ensure_object(App)
    target = resolve_target(what, app.folder, app.catalog, app.history)
    ask_first(app, "watch", target.kata, yes=yes)
    options = Options(isolation=isolation, engine=not no_engine)
    watch = Watch(target, options, app.catalog, app.history, app.begin, app.folder)
    console.say(f"Watching {console.place(target.path)} as {target.kata.id}. Ctrl-C ends.")
    last: Round | None = None
    with keys(watch.press) as typing:
        if typing:
            console.say(HELP_ON_KEYS)
        for event in watch.events():
            if isinstance(event, Round):
                last = event
                _show(event, app)
                if event.graded.grade.verdict == "passed" and not keep_going:
                    break
            elif _told(event, app, watch, last):
                break
    ctx.exit(OF_VERDICT[last.graded.grade.verdict] if last else ExitCode.PASSED)


def _show(shown: Round, app: App) -> None:
    grade = shown.graded.grade
    time = f"── {app.clock().astimezone():%H:%M:%S} ──"
    if grade.verdict == "unrunnable" and not grade.diagnosis:  # as a rule half typed
        console.say(f"{time} {console.safe(grade.reason or 'could not be run')}")
        return
    console.say()
    console.say(time)
    for change in shown.changes:
        sign, words, color = ("+", "now right", "green") if change.gained else ("-", "not right now", "red")
        console.say(f"{sign} {change.title}: {words}", color=color)
    console.draw(partial(document, shown.graded, "text"))
    console.warn(shown.graded.warning)


def _told(event: Event, app: App, watch: Watch, last: Round | None) -> bool:
    """Answer to everything but a verdict; whether that was the last."""
    from grader.watch.rounds import Absent, Typed

    if isinstance(event, Absent):
        console.warn(event.problem)
    if not isinstance(event, Typed):
        return False
    if event.key == "h":
        from grader.cli import screens
        from grader.interview.price import price, running

        for session in running(app.interviews, app.moment):
            if cost := price("hint", watch.kata.id, session, app.history, app.catalog):
                console.complain("Interview", cost, f"To take it all the same: kata hint {watch.kata.id}")
                return False
        console.show(*screens.hints((next_hint(watch.kata, app.history),), watch.kata))
    elif event.key == "r" and last is not None:
        written = write_report(last.graded, "html", None, app.home)
        console.say(f"Report: {console.place(written)}")
        app.show_page(written)
    elif event.key == "g":
        watch.again()
    return event.key == "q"
