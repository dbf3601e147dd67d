"""`kata grade`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from grader.cli import console
from grader.cli.app import App
from grader.cli.app import grade as default_grade
from grader.cli.interview_guard import YES, ask_first, lines_told
from grader.cli.params import ANSWER_OR_KATA, BY_HAND, isolation_option, shown_options
from grader.confine.policy import Level
from grader.exit_codes import OF_VERDICT
from grader.practice.attempts import Shown, grade_target
from grader.practice.on_paper import on_paper, paper
from grader.practice.reports import document, format_of, write_report
from grader.practice.targets import resolve_target

if TYPE_CHECKING:
    from grader.catalog import Catalog, Kata
    from grader.records import Grade, Options, Submission


@click.command(
    "grade",
    epilog="""\b
Examples:
  kata grade                          what was last started in this folder
  kata grade v3                       the file of v3
  kata grade notebook.ipynb v3        one class of a notebook
  kata grade answer.py --report html  with a report to look at
  kata grade answer.py --json         one JSON document, for programs

\b
Exit code: 0 passed, 1 not passed, 2 wrong usage, 3 a fault of the grader.""",
)
@click.argument("what", nargs=-1, type=ANSWER_OR_KATA, metavar="[FILE] [ID]")
@click.option("--json", "as_json", is_flag=True, help="The grade as one JSON document on standard output.")
@click.option("--report", metavar="html|md|json|PATH", help="Write a report; its path is printed.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Repeat a grade with its random numbers.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, 3600, min_open=True),
    metavar="SECONDS",
    help="For the whole grade; the default is the kata's.",
)
@isolation_option(default="standard")
@click.option("--no-engine", is_flag=True, help="Without the warm process: slower, the same verdict.")
@shown_options
@BY_HAND
@YES
@click.pass_context
def grade_command(
    ctx: click.Context,
    *,
    what: tuple[str, ...],
    as_json: bool,
    report: str | None,
    seed: int | None,
    timeout: float | None,
    isolation: Level,
    no_engine: bool,
    full: bool,
    fix: bool,
    by_hand: bool,
    yes: bool,
) -> None:
    """Grade an answer: a .py file or a notebook.

    Without FILE it is the kata last started in this folder, or the one file whose class tells its kata.
    """
    from grader.interview.hunting import is_timed
    from grader.records import Options

    app = ctx.ensure_object(App)
    form, path = (None, None) if report is None else format_of(report)
    target = resolve_target(what, app.folder, app.catalog, app.history)
    told = ask_first(app, "grade", target.kata, yes=yes, ask=not as_json)
    with console.progress(f"Grading {target.path.name} as {target.kata.id} …"):
        graded = grade_target(
            target,
            Options(seed=seed, total_seconds=timeout, isolation=isolation, engine=not no_engine),
            app.catalog,
            app.history,
            grade_and_load if app.grade is default_grade and not as_json else app.grade,
            folder=app.folder,
            shown=Shown(brief=not full, verbose=full, fixes=fix),
            timed=is_timed(target.path, told),
        )
    from grader.practice.isolation import isolation_note

    notes = [note for note in (graded.warning, isolation_note(isolation, app.home)) if note is not None]
    by_hand = by_hand and graded.grade.verdict == "failed"
    if by_hand:
        graded = on_paper(graded, app.catalog, app.grade, isolation=isolation, engine=not no_engine)
    if as_json:
        console.data(document(graded, "json"))
    else:
        beside = console.lines_of(*notes, *filter(None, (app.passed_over,))) + lines_told(told, app)
        console.draw(partial(document, graded, "text", beside=beside))
        if by_hand:
            console.draw(partial(paper, graded))
    for note in notes:
        console.warn(note)
    if form is not None:
        written = write_report(graded, form, path, app.home)
        console.say(f"Report: {console.place(written)}", error=as_json)
    ctx.exit(OF_VERDICT[graded.grade.verdict])


def grade_and_load(
    submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
) -> Grade:
    """Grade, and load what the report in the terminal needs while an engine is at it, instead of after it."""
    from grader import grading

    return grading.grade(submission, kata, catalog, options, meanwhile=_load_report)


def _load_report() -> None:
    from grader.practice import isolation  # noqa: F401
    from grader.report import short, terminal  # noqa: F401

    terminal.prepare()
