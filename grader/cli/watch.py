"""`kata watch`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from grader import workspace
from grader.cli import console
from grader.cli.app import App
from grader.cli.interview_guard import YES, ask_first
from grader.cli.keys import keys
from grader.cli.params import ANSWER_OR_KATA, isolation_option
from grader.confine.policy import Level
from grader.errors import KataError, UsageError
from grader.exit_codes import OF_VERDICT
from grader.practice.on_paper import on_paper, paper
from grader.practice.overview import next_kata
from grader.practice.reports import document, in_short, write_report
from grader.practice.targets import Target, resolve_target
from grader.practice.trials import page, try_target

if TYPE_CHECKING:
    from grader.catalog import Catalog, Kata
    from grader.records import Options, Submission
    from grader.watch.rounds import Begin, Event, Round, Underway, Watch

HELP_ON_KEYS = "h hint · x run · b by hand · r report · g again · q quit"


@click.command(
    "watch",
    epilog="\b\nExamples:\n  kata watch\n  kata watch answer.py --keep-going\n  kata watch v1 --next",
)
@click.argument("what", nargs=-1, type=ANSWER_OR_KATA, metavar="[FILE] [ID]")
@click.option("--keep-going", is_flag=True, help="Do not stop after a pass.")
@click.option("--next", "onward", is_flag=True, help="After a pass, go on to the next kata.")
@click.option("--no-engine", is_flag=True, help="Without the warm process: slower, the same verdict.")
@isolation_option(default="standard")
@YES
@click.pass_context
def watch_command(
    ctx: click.Context,
    *,
    what: tuple[str, ...],
    keep_going: bool,
    onward: bool,
    no_engine: bool,
    isolation: Level,
    yes: bool,
) -> None:
    """Grade on every save, until it passes.

    FILE and ID are found as `kata grade` finds them. A save while a grade is under way starts it over.
    """
    from grader.interview.hunting import is_timed
    from grader.records import Options

    app = ctx.ensure_object(App)
    target = resolve_target(what, app.folder, app.catalog, app.history)
    options = Options(isolation=isolation, engine=not no_engine)
    before = ""
    while True:
        told = ask_first(app, "watch", target.kata, yes=yes)
        agreed = frozenset(session.plan.uuid for session in told)
        begin = app.begin if yes else partial(_unless_it_costs, app, agreed)
        timed = is_timed(target.path, told)
        last = _watched(app, target, options, begin, before, keep_going=keep_going, timed=timed)
        verdict = "passed" if last is None else last.graded.grade.verdict
        ahead = next_kata(app.catalog, app.history, after=target.kata)
        if not (onward and last is not None and verdict == "passed" and ahead is not None):
            ctx.exit(OF_VERDICT[verdict])
        started = workspace.start(ahead, target.path.parent, app.history)
        console.say(f"On to {ahead.id}, {ahead.title}: {console.place(started.path)}")
        console.say(f"  The task: kata show {ahead.id}")
        before = f"{target.kata.id} {in_short(last.graded)}"
        target = Target(path=started.path, kata=ahead)


def _watched(
    app: App,
    target: Target,
    options: Options,
    begin: Begin,
    before: str,
    *,
    keep_going: bool,
    timed: bool,
) -> Round | None:
    """Watch until a pass, or until somebody ends it; the last verdict."""
    from grader.watch.rounds import Round, Watch

    watch = Watch(target, options, app.catalog, app.history, begin, app.folder, timed=timed)
    with keys(watch.press) as typing:
        screen = Screen(app, watch, live=typing and console.terminal().color, before=before)
        screen.begin()
        for event in watch.events():
            if isinstance(event, Round):
                screen.show(event)
                if event.graded.grade.verdict == "passed" and not keep_going:
                    break
            elif screen.answer(event):
                break
    return screen.last


def _unless_it_costs(
    app: App, agreed: frozenset[str], submission: Submission, kata: Kata, catalog: Catalog, options: Options
) -> Underway:
    """Begin a grade; where an interview has begun since, which that would cost, the watch ends."""
    from grader.interview.price import price, running

    for session in running(app.interviews, app.moment):
        cost = price("watch", kata.id, session, app.history, app.catalog)
        if cost is not None and session.plan.uuid not in agreed:
            raise UsageError(cost, f"To watch all the same: kata watch {kata.id} --yes")
    return app.begin(submission, kata, catalog, options)


class Screen:
    """What the watch shows. At a terminal each answer takes the place of the one before it.

    The verdict and the keys are on the last line, whatever stands above them.
    """

    def __init__(self, app: App, watch: Watch, *, live: bool, before: str = "") -> None:
        self._app = app
        self._watch = watch
        self._live = live
        self._before = before
        self.last: Round | None = None

    def begin(self) -> None:
        console.say(f"Watching {console.place(self._watch.path)} as {self._watch.kata.id}. Ctrl-C ends.")
        self._keys()

    def show(self, shown: Round) -> None:
        """A new verdict."""
        self.last = shown
        grade = shown.graded.grade
        time = f"── {self._app.clock().astimezone():%H:%M:%S} ──"
        if grade.verdict == "unrunnable" and not (grade.diagnosis or grade.todos):  # as a rule half typed
            console.say(f"{time} {console.safe(grade.reason or 'could not be run')}")
        else:
            self._fresh()
            console.say(time)
            for change in shown.changes:
                sign, words, color = (
                    ("+", "now right", "green") if change.gained else ("-", "not right now", "red")
                )
                console.say(f"{sign} {change.title}: {words}", color=color)
            beside = 3 + len(shown.changes) + console.lines_of(*filter(None, (shown.graded.warning,)))
            console.draw(partial(document, shown.graded, "text", beside=beside))
            console.warn(shown.graded.warning)
        self._keys()

    def answer(self, event: Event) -> bool:
        """What is done about everything but a verdict; whether that was the last."""
        from grader.watch.rounds import Absent, Typed

        if isinstance(event, Absent):
            console.warn(event.problem)
        if not isinstance(event, Typed):
            return False
        if event.key == "h":
            self._hint()
        elif event.key == "x":
            self._run()
        elif event.key == "r" and self.last is not None:
            written = write_report(self.last.graded, "html", None, self._app.home)
            console.say(f"Report: {console.place(written)}")
            self._app.show_page(written)
        elif event.key == "b" and self.last is not None:
            self._by_hand(self.last)
        elif event.key == "g":
            self._watch.again()
        else:
            return event.key == "q"
        self._keys()
        return False

    def _by_hand(self, shown: Round) -> None:
        try:
            found = on_paper(shown.graded, self._app.catalog, self._app.grade)
        except KataError as problem:
            console.warn(problem)
            return
        self._fresh()
        console.draw(partial(paper, found))

    def _hint(self) -> None:
        from grader.cli import screens
        from grader.interview.price import give_help, price, running

        app, kata = self._app, self._watch.kata
        sessions = running(app.interviews, app.moment)
        for session in sessions:
            if cost := price("hint", kata.id, session, app.history, app.catalog):
                console.complain("Interview", cost, f"To take it all the same: kata hint {kata.id}")
                return
        self._fresh()
        console.show(*screens.hints([give_help(kata, sessions, app.history)], kata))

    def _run(self) -> None:
        """The file as it is, on an example; what cannot be run is told, and the watch goes on."""
        target = Target(path=self._watch.path, kata=self._watch.kata)
        try:
            tried = try_target(
                target, self._watch.options, self._app.catalog, self._app.try_out, folder=self._app.folder
            )
        except KataError as problem:
            console.warn(problem)
            return
        self._fresh()
        console.draw(partial(page, tried))

    def _fresh(self) -> None:
        if self._live:
            console.clear()
        console.say(self._before)

    def _keys(self) -> None:
        """The last line."""
        if self._live:
            verdict = "" if self.last is None else f"{in_short(self.last.graded)} · "
            console.say(f"{verdict}{HELP_ON_KEYS}")
