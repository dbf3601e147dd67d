"""`kata grade-all`, for interviewers and courses."""

from __future__ import annotations

import contextlib
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App
from grader.cli.params import DEADLINE, FOLDER, KATA, LATE, isolation_option
from grader.cohort.names import ATTEMPTS, BOOKS, LAYOUTS, Attempts, Book, Layout
from grader.confine.apply import missing_for_strict
from grader.confine.policy import Level
from grader.errors import ConfinementUnavailable
from grader.exit_codes import ExitCode
from grader.records import Options

if TYPE_CHECKING:
    from grader.cohort.entries import Entry, Result, Row
    from grader.cohort.work import Finished, Runner

OUTPUT = "kata-results"


@click.command(
    "grade-all",
    epilog="""\b
Examples:
  kata grade-all submissions/
  kata grade-all class.zip late/*.py --jobs 4 --output results
  kata grade-all list.csv              with columns name and file
  kata grade-all moodle.zip --kata v1 --kata v3 --roster course.csv
  kata grade-all class.zip --scheduler tcp://10.0.0.5:8786

\b
Exit code: 0 every entry has a verdict, 1 something was not graded, 2 wrong usage, 3 a fault of the grader,
130 interrupted.""",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@click.option("--jobs", type=click.IntRange(1, 256), help="Grades at a time; default: three a processor.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), default=OUTPUT, show_default=True,
    help="The folder for results; a run goes on from what it holds.",
)  # fmt: skip
@click.option(
    "--kata", "katas", type=KATA, multiple=True,
    help="What the files answer; may be given several times. Default: each says it itself.",
)  # fmt: skip
@click.option(
    "--layout", type=click.Choice(LAYOUTS), default="auto", show_default=True,
    help="How the files lie: as a platform's download, a folder or a file for each student.",
)  # fmt: skip
@click.option("--roster", type=FOLDER, metavar="CSV", help="Who is to hand in: those who did not are listed.")
@click.option(
    "--attempts", type=click.Choice(ATTEMPTS), default="latest", show_default=True,
    help="Which of several files to one kata counts.",
)  # fmt: skip
@click.option(
    "--gradebook", "book", type=click.Choice(BOOKS), default="plain", show_default=True,
    help="Beside gradebook.csv: the platform's own export, filled in.",
)  # fmt: skip
@click.option("--template", type=FOLDER, metavar="CSV", help="What the platform exported.")
@click.option("--column", metavar="HEADING", help="Its column of the grades, where that is not plain.")
@click.option("--missing", type=float, metavar="POINTS", help="For what is not there; default: empty.")
@click.option(
    "--deadline", type=DEADLINE, metavar="TIME",
    help="Such as 2026-11-30T23:59+01:00; without the offset it is this machine's time.",
)  # fmt: skip
@click.option("--late", type=LATE, metavar="10%/day", default="0%", help="What a day after it takes off.")
@click.option("--feedback", is_flag=True, help="Also a zip file with one report for each student.")
@click.option(
    "--anonymous", is_flag=True, help="Also a folder of the same under pseudonyms, to show to others."
)
@click.option("--fresh", is_flag=True, help="Grade also what was graded before.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="The same random numbers for all.")
@click.option(
    "--timeout", type=click.FloatRange(0, 3600, min_open=True), metavar="SECONDS",
    help="For each grade; the default is the kata's.",
)  # fmt: skip
@click.option("--scheduler", metavar="tcp://HOST:PORT", help="Grade on a Dask cluster.")
@click.option("--no-fix", is_flag=True, help="Pages without how to mend it, as feedback before the next try.")
@click.option("--open", "open_it", is_flag=True, help="Open the overview in the browser.")
@isolation_option(default="strict")
@click.pass_context
def grade_all_command(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    jobs: int | None,
    output: Path,
    katas: tuple[Kata, ...],
    layout: Layout,
    roster: Path | None,
    attempts: Attempts,
    book: Book,
    template: Path | None,
    column: str | None,
    missing: float | None,
    deadline: datetime | None,
    late: float,
    feedback: bool,
    anonymous: bool,
    fresh: bool,
    seed: int | None,
    timeout: float | None,
    scheduler: str | None,
    no_fix: bool,
    open_it: bool,
    isolation: Level,
) -> None:
    """Grade many answers, for interviewers and courses.

    PATHS are files, folders, patterns, zip files, downloads of a platform, or CSV lists of names and files. A
    later run with the same --output adds to what it holds.
    """
    from grader.cohort.delivery import Delivery
    from grader.cohort.gather import Wanted
    from grader.cohort.gradebook import Rules
    from grader.cohort.run import Stopped
    from grader.cohort.store import grader_digest
    from grader.cohort.work import Cohort, Finished, Planned

    if isolation == "strict" and scheduler is None and (lacking := missing_for_strict()):
        raise ConfinementUnavailable(lacking)
    app = ctx.ensure_object(App)
    options = Options(seed=seed, total_seconds=timeout, isolation=isolation)
    delivery = Delivery(
        rules=Rules(attempts=attempts, missing=missing, deadline=deadline, late=late),
        roster=roster and app.folder / roster,
        book=book,
        template=template and app.folder / template,
        column=column,
        feedback=feedback,
        anonymous=anonymous,
    )
    delivery.check()
    code = grader_digest(app.catalog.roots)
    cohort = Cohort(app.folder / output, app.catalog, options, code, delivery, fixes=not no_fix)
    finished: Finished | None = None
    try:
        with (
            ending_on_sigterm(),
            _runner(app, options, jobs, scheduler) as runner,
            console.bar("Grading") as advance,
        ):
            wanted = Wanted(katas=katas, layout=layout)
            for event in cohort.grade(paths, app.folder, runner, wanted=wanted, fresh=fresh):
                if isinstance(event, Planned):
                    advance(event.done, event.total)
                    for line in event.said:
                        console.say(line)
                    if event.done:
                        console.say(f"{event.done} of {event.total} are graded already.")
                elif isinstance(event, Finished):
                    finished = event
                else:
                    advance(1, None)
                    console.say(_line(event), color=_look(event)[1])
        assert finished is not None
    except (KeyboardInterrupt, Stopped) as stop:
        _interrupted(cohort.show(), str(stop))
        ctx.exit(ExitCode.INTERRUPTED)
    _summary(finished)
    if open_it:
        app.show_page(finished.page)
    ctx.exit(_code(finished.rows))


def _code(rows: Iterable[Row]) -> ExitCode:
    verdicts = {row.verdict for row in rows}
    if "grader_error" in verdicts:
        return ExitCode.GRADER_FAULT
    return ExitCode.NOT_PASSED if "skipped" in verdicts else ExitCode.PASSED


@contextlib.contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """A request to end is as good as Ctrl-C: what is done is shown first."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupted(finished: Finished, why: str) -> None:
    _summary(finished)
    console.complain(
        "Interrupted",
        f"{why + ' ' if why else ''}{finished.left} still to be graded.",
        "Run the same command again: it goes on from here.",
    )


@contextlib.contextmanager
def _runner(app: App, options: Options, jobs: int | None, scheduler: str | None) -> Iterator[Runner]:
    """Here, with an engine of its own, or on the cluster."""
    if scheduler is not None:
        from grader.cohort.cluster import run_on_cluster

        yield lambda todo, keys: run_on_cluster(todo, scheduler, app.catalog, options, keys)
        return
    from grader.cohort.run import grading, run, usual_jobs
    from grader.engine.private import private_engine

    with private_engine(app.catalog) as engine:

        def local(todo: Iterable[Entry], keys: Callable[[Entry], str]) -> Iterator[Result]:
            return run(todo, grading(engine.grade, app.catalog, options, keys), jobs or usual_jobs())

        yield local


def _line(row: Row) -> str:
    points = f"{row.points}/{row.max_points}" if row.max_points else ""
    words = " ".join(row.mistakes) or ("" if row.verdict == "passed" else row.reason)
    return f"{_look(row)[0]} {row.name}  {row.kata or '-'}  {points}  {words}"


def _look(row: Row) -> tuple[str, str]:
    """The sign and the colour of a verdict."""
    looks = {
        "passed": ("✓", "green"),
        "skipped": ("·", "yellow"),
        "aside": ("·", "white"),
        "grader_error": ("!", "yellow"),
    }
    return looks.get(row.verdict, ("✕", "red"))


def _summary(finished: Finished) -> None:
    rows = finished.rows
    counts = Counter(row.verdict for row in rows)
    graded = len(rows) - counts["skipped"] - counts["aside"]
    skipped, faults = counts["skipped"], counts["grader_error"]
    console.say(
        f"{counts['passed']} of {graded} passed."
        + (f" {skipped} not graded." if skipped else "")
        + (f" {faults} where the grader failed: the same command tries them again." if faults else "")
    )
    for line in finished.said:
        console.say(line)
    console.say(f"Overview: {console.place(finished.page)}")
    console.say(f"Tables:   {', '.join(os.path.basename(path) for path in finished.written)} beside it")  # noqa: PTH119
