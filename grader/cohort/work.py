"""`kata grade-all` as a function: gather, grade what is not done, keep, and write what is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from grader.catalog import Catalog
from grader.cohort import tables
from grader.cohort.anonymous import FOLDER as ANONYMOUS
from grader.cohort.anonymous import Pseudonyms
from grader.cohort.delivery import Delivery, deliver
from grader.cohort.documents import write_whole
from grader.cohort.entries import Entry, Identity, Result, Row, slug
from grader.cohort.gather import Wanted, gather
from grader.cohort.overview import has_grade, overview, render_overview
from grader.cohort.run import at_once
from grader.cohort.similarity import Found, Print, look, print_of
from grader.cohort.store import FILE_NAME, Store, key
from grader.records import Options, Record
from grader.report.context import ReportContext
from grader.report.render import Renderer
from grader.report.view import build_view

KeyFunction = Callable[[Entry], str]
Runner = Callable[[Iterable[Entry], KeyFunction], Iterator[Result]]


class Planned(Record):
    """What there is to do. `done` were graded in an earlier run, and have not changed."""

    total: int
    done: int
    said: tuple[str, ...] = ()  # how what lies there was read


class Finished(Record):
    """What was done, and where it is shown. `left` were to be graded, and the run was interrupted."""

    rows: tuple[Row, ...]
    page: Path
    written: tuple[Path, ...]
    left: int = 0
    said: tuple[str, ...] = ()  # about the gradebook: who is missing, what was changed by hand


Progress = Planned | Row | Finished


class Cohort:
    """One cohort and the folder that holds its results. `delivery` is what is written beside the page."""

    def __init__(
        self,
        output: Path,
        catalog: Catalog,
        options: Options,
        code: str,
        delivery: Delivery | None = None,
        *,
        fixes: bool = True,
    ) -> None:
        self._output = output
        self._catalog = catalog
        self._options = options
        self._code = code
        self._fixes = fixes
        self._delivery = delivery or Delivery()
        self._renderer = Renderer(catalog.templates)
        self._order: tuple[Identity, ...] = ()
        self._left: set[Identity] = set()

    def grade(
        self,
        paths: Sequence[str],
        folder: Path,
        runner: Runner,
        *,
        wanted: Wanted | None = None,
        fresh: bool = False,
    ) -> Iterator[Progress]:
        """Grade what is not done yet, telling each result as it comes; then write the tables and the page.

        Stopped half-way, the next call goes on from there. `fresh` grades everything again. What the folder
        holds of earlier calls stays, and is shown with the rest.
        """
        found = gather(paths, folder, self._catalog, wanted, self._output.parent)
        self._order = tuple(entry.identity for entry in found.entries)
        with Store(self._output) as store:
            todo = [entry for entry in found.entries if fresh or not store.has(entry, self._key(entry))]
            self._left = {entry.identity for entry in todo}
            done = sum(entry.kata is not None for entry in found.entries if entry.identity not in self._left)
            yield Planned(total=len(found.entries), done=done, said=found.said)
            store.settle(found.entries, found.scopes)
            yield from self._results(store, found.entries, todo, runner)
            yield self._finish(store)

    def show(self) -> Finished:
        """Write the page and the tables for what the folder holds, after a run that was interrupted."""
        with Store(self._output) as store:
            return self._finish(store)

    def _results(
        self, store: Store, entries: Sequence[Entry], todo: Sequence[Entry], runner: Runner
    ) -> Iterator[Row]:
        """The rows as they come: first of what needs no grader, last of what was tried a second time."""
        for_grader = []
        for entry in entries:
            result = at_once(entry, self._catalog, self._options, self._key(entry))
            if result is not None:
                is_new = entry.identity in self._left
                if is_new:
                    self._keep(store, result)
                if is_new or result.grade is None:  # what has no grade is told every time
                    yield Row.of(result)
            elif entry.identity in self._left:
                for_grader.append(entry)
        again: set[Identity] = set()
        for result in runner(for_grader, self._key):
            self._keep(store, result)
            if Row.of(result).verdict == "grader_error":
                again.add(result.identity)
            else:
                yield Row.of(result)
        if again:
            for result in runner([entry for entry in todo if entry.identity in again], self._key):
                self._keep(store, result)
                yield Row.of(result)

    def _key(self, entry: Entry) -> str:
        return key(entry, self._options, self._code)

    def _keep(self, store: Store, result: Result) -> None:
        store.add(result)
        self._left.discard(result.identity)
        for path, text in self._reports(result, self._output):
            write_whole(path, text())

    def _reports(self, result: Result, folder: Path) -> Iterator[tuple[Path, Callable[[], str]]]:
        """The result's own report, and its document for Gradescope."""
        grade = result.grade
        if grade is None or grade.kata not in {kata.id for kata in self._catalog.katas}:
            return

        def report() -> str:
            context = ReportContext(file=result.file, without_fixes=not self._fixes)
            view = build_view(grade, self._catalog.get(grade.kata), context)
            return self._renderer.render(view, "html")

        yield _report(folder, slug(result)), report
        document = folder / "gradescope" / slug(result) / "results.json"
        yield document, lambda: tables.gradescope(grade, fixes=self._fixes)

    def _finish(self, store: Store) -> Finished:
        """The page and the tables; a report that a killed run left out is made of the grade that was kept."""
        rows: list[Row] = []
        masked: list[Row] = []
        prints: list[Print] = []
        names = Pseudonyms(self._output) if self._delivery.anonymous else None
        for result, gone in store.results(self._order):
            self._make_missing(result, self._output)
            rows.append(Row.of(result, gone=gone))
            if names is not None:
                hidden = names.masked(result)
                self._make_missing(hidden, self._output / ANONYMOUS)
                masked.append(Row.of(hidden, gone=gone))
            source = result.grade.source.text if result.grade and result.grade.source else ""
            prints.append(print_of(source))
        given = [print_of(kata.text("stub.py")) for kata in self._catalog.katas]
        found = look([row.kata for row in rows], [row.student for row in rows], prints, given)
        delivered = deliver(
            self._output, rows, self._catalog, self._delivery, lambda row: _report(self._output, row.slug)
        )
        written = self._tables(self._output, rows, found, delivered.said)
        if names is not None:
            names.keep()
            self._tables(self._output / ANONYMOUS, masked, found, ())
        return Finished(
            rows=tuple(rows),
            page=written[0],
            written=(*written[1:], *delivered.written, self._output / FILE_NAME),
            said=delivered.said,
            left=len(self._left),
        )

    def _make_missing(self, result: Result, folder: Path) -> None:
        for path, text in self._reports(result, folder):
            if not path.is_file():
                write_whole(path, text())

    def _tables(self, folder: Path, rows: Sequence[Row], found: Found, said: Sequence[str]) -> list[Path]:
        """The page and the tables of the files; the page is the first."""
        title = f"{sum(map(has_grade, rows))} answers"
        page = overview(rows, found, self._catalog, title, left=len(self._left), said=said)
        documents = {
            "index.html": render_overview(page, self._catalog.templates),
            "results.csv": tables.csv_table(rows),
            "junit.xml": tables.junit(rows),
        }
        return [write_whole(folder / name, text) for name, text in documents.items()]


def _report(folder: Path, name: str) -> Path:
    return folder / "reports" / f"{name}.html"
