"""What the commands work with: made once for a call, and replaced as a whole by the tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import paths
from grader.catalog import Catalog, Kata
from grader.cli.browser import NoBrowser
from grader.cli.browser import browse as open_in_browser
from grader.cli.console import warn
from grader.history import Clock, History, PassedOver, passed_over
from grader.packs import load_all
from grader.practice.attempts import GradeFunction
from grader.practice.trials import TryFunction
from grader.records import Grade, Submission, Trial

if TYPE_CHECKING:
    from grader.interview.moments import Moment
    from grader.interview.store import InterviewStore
    from grader.records import Options, Told
    from grader.watch.rounds import Begin, Underway


def now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


def grade(submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None) -> Grade:
    """`grader.grading.grade`, loaded when something is graded: most commands grade nothing."""
    from grader import grading

    return grading.grade(submission, kata, catalog, options)


def begin(
    submission: Submission, kata: Kata, catalog: Catalog, options: Options, told: Told | None = None
) -> Underway:
    """`grader.grading.begin`, loaded when something is graded."""
    from grader import grading

    return grading.begin(submission, kata, catalog, options, told)


def try_out(
    submission: Submission,
    kata: Kata,
    catalog: Catalog,
    options: Options | None = None,
    *,
    measure: bool = False,
) -> Trial:
    """`grader.grading.try_out`, loaded when it is wanted."""
    from grader import grading

    return grading.try_out(submission, kata, catalog, options, measure=measure)


class App:
    """The catalog, the history and the doors to the outside: clock, grader, editor, browser, person."""

    def __init__(
        self,
        *,
        clock: Clock = now,
        grade: GradeFunction = grade,
        begin: Begin = begin,
        warm_up: Callable[[], None] | None = None,
        try_out: TryFunction = try_out,
        katas: Sequence[Path] = (),
        edit: Callable[[Path], None] | None = None,
        browse: Callable[[Path], None] | None = None,
        moment: Callable[[], Moment] | None = None,
        can_ask: Callable[[], bool] | None = None,
    ) -> None:
        self.clock = clock
        self.grade = grade
        self.begin = begin
        self.warm_up = warm_up or self._warm_up
        self.try_out = try_out
        self.katas = tuple(katas)  # packs that were named
        self.edit = edit or _edit
        self.browse = browse or open_in_browser
        self.moment = moment or _moment
        self.can_ask = can_ask or _can_ask

    def show_page(self, page: Path) -> None:
        """Open a page in the browser, or say in a line that there is none."""
        try:
            self.browse(page)
        except NoBrowser as problem:
            warn(problem)

    def measure(self, kata: str, answer: Submission) -> Trial:
        """The numbers of an answer, for a question on its own lines."""
        return self.try_out(answer, self.catalog.get(kata), self.catalog, measure=True)

    @cached_property
    def home(self) -> Path:
        """The folder of this program's own files."""
        return paths.home(os.environ)

    @property
    def folder(self) -> Path:
        """Where the caller stands."""
        return Path.cwd()

    @cached_property
    def catalog(self) -> Catalog:
        """Our katas, and those of all packs there are."""
        return load_all(self.katas)

    def _warm_up(self) -> None:
        from grader import grading

        grading.warm_up(self.catalog)

    @cached_property
    def database(self) -> Path:
        """The user's own history, or that of their candidates where an interview with one is on."""
        theirs = paths.candidates(self.home)
        if theirs.is_file():
            from grader.interview.store import InterviewStore

            with InterviewStore(theirs) as store:
                if store.open_in(self.folder.resolve()) is not None:
                    return theirs
        return paths.database(self.home)

    def turn_to(self, database: Path) -> None:
        """Work with that database from now on."""
        self.close()
        for name in ("history", "interviews"):
            self.__dict__.pop(name, None)
        self.__dict__["database"] = database

    @cached_property
    def history(self) -> History:
        return History(self.database, self.clock)

    @cached_property
    def interviews(self) -> InterviewStore:
        from grader.interview.store import InterviewStore

        return InterviewStore(self.database)

    @property
    def passed_over(self) -> PassedOver | None:
        """What to say about rows of the history that the command had to leave out."""
        used = [self.__dict__[name] for name in ("history", "interviews") if name in self.__dict__]
        return passed_over(row for store in used for row in store.passed_over)

    def close(self) -> None:
        """Let go of the history, if it was used."""
        if "history" in self.__dict__:
            self.history.close()
        if "interviews" in self.__dict__:
            self.interviews.close()


pass_app = click.make_pass_decorator(App)


def _moment() -> Moment:
    from grader.interview.moments import now

    return now()


def _can_ask() -> bool:
    """Whether somebody is there to answer: a question goes to standard error, its answer comes from input."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _edit(path: Path) -> None:
    click.edit(filename=str(path))
