"""`kata grade-all`, for interviewers and courses."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App
from grader.cli.params import KATA, isolation_option
from grader.confine.apply import missing_for_strict
from grader.confine.policy import Level
from grader.errors import ConfinementUnavailable
from grader.exit_codes import ExitCode
from grader.grading import Options

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
  kata grade-all roster.csv            with columns name and file
  kata grade-all class.zip --scheduler tcp://10.0.0.5:8786

\b
Exit code: 0 every answer has a verdict, 2 wrong usage, 3 a fault of the grader.""",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@click.option("--jobs", type=click.IntRange(1, 256), help="Grades at a time; default: three a processor.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), default=OUTPUT, show_default=True,
    help="The folder for results; a run goes on from what it holds.",
)  # fmt: skip
@click.option("--kata", type=KATA, help="What all the files answer; default: each says it itself.")
@click.option("--fresh", is_flag=True, help="Grade also what was graded before.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="The same random numbers for all.")
@click.option(
    "--timeout", type=click.FloatRange(0, 3600, min_open=True), metavar="SECONDS",
    help="For each grade; the default is the kata's.",
)  # fmt: skip
@click.option("--scheduler", metavar="tcp://HOST:PORT", help="Grade on a Dask cluster.")
@click.option("--open", "open_it", is_flag=True, help="Open the overview in the browser.")
@isolation_option(default="strict")
@click.pass_context
def grade_all_command(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    jobs: int | None,
    output: Path,
    kata: Kata | None,
    fresh: bool,
    seed: int | None,
    timeout: float | None,
    scheduler: str | None,
    open_it: bool,
    isolation: Level,
) -> None:
    """Grade many answers, for interviewers and courses.

    PATHS are files, folders, patterns, zip files, or CSV lists of names and files.
    """
    from grader.cohort.store import grader_digest
    from grader.cohort.work import Cohort, Finished, Planned

    if isolation == "strict" and scheduler is None and (missing := missing_for_strict()):
        raise ConfinementUnavailable(missing)
    app = ctx.ensure_object(App)
    options = Options(seed=seed, total_seconds=timeout, isolation=isolation)
    cohort = Cohort(app.folder / output, app.catalog, options, grader_digest(app.catalog.root))
    finished: Finished | None = None
    with _runner(app, options, jobs, scheduler) as runner, console.bar("Grading") as advance:
        for event in cohort.grade(paths, app.folder, runner, kata=kata, fresh=fresh):
            if isinstance(event, Planned):
                advance(event.done, event.total)
                if event.done:
                    console.say(f"{event.done} of {event.total} are graded already.")
            elif isinstance(event, Finished):
                finished = event
            else:
                advance(1, None)
                console.say(_line(event), color=_look(event)[1])
    assert finished is not None
    _summary(finished)
    if open_it:
        app.show_page(finished.page)
    faults = any(row.verdict == "grader_error" for row in finished.rows)
    ctx.exit(ExitCode.GRADER_FAULT if faults else ExitCode.PASSED)


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
    looks = {"passed": ("✓", "green"), "skipped": ("·", "white"), "grader_error": ("!", "yellow")}
    return looks.get(row.verdict, ("✕", "red"))


def _summary(finished: Finished) -> None:
    rows = finished.rows
    passed = sum(row.verdict == "passed" for row in rows)
    skipped = sum(row.verdict == "skipped" for row in rows)
    console.say(f"{passed} of {len(rows) - skipped} passed." + (f" {skipped} not graded." if skipped else ""))
    console.say(f"Overview: {console.place(finished.page)}")
    console.say(f"Tables:   {', '.join(os.path.basename(path) for path in finished.written)} beside it")  # noqa: PTH119
