"""`kata grade-all` as a function: gather, grade what is not done, keep, and write what is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from grader.catalog import Catalog, Kata
from grader.cohort import tables
from grader.cohort.entries import Entry, Result, Row, slug
from grader.cohort.gather import gather
from grader.cohort.likeness import alike, fingerprints
from grader.cohort.overview import overview, render_overview
from grader.cohort.store import FILE_NAME, Store, key
from grader.errors import UsageError
from grader.grading import Options
from grader.records import Record
from grader.report.context import ReportContext
from grader.report.render import Renderer
from grader.report.view import build_view

KeyFunction = Callable[[Entry], str]
Runner = Callable[[Iterable[Entry], KeyFunction], Iterator[Result]]


class Planned(Record):
    """What there is to do. `done` were graded in an earlier run, and have not changed."""

    total: int
    done: int


class Finished(Record):
    """What was done, and where it is shown."""

    rows: tuple[Row, ...]
    page: Path
    written: tuple[Path, ...]


Progress = Planned | Row | Finished


class Cohort:
    """One cohort and the folder that holds its results."""

    def __init__(self, output: Path, catalog: Catalog, options: Options, code: str) -> None:
        self._output = output
        self._catalog = catalog
        self._options = options
        self._code = code
        self._renderer = Renderer(catalog.templates)

    def grade(
        self,
        paths: Sequence[str],
        folder: Path,
        runner: Runner,
        *,
        kata: Kata | None = None,
        fresh: bool = False,
    ) -> Iterator[Progress]:
        """Grade what is not done yet, telling each result as it comes; then write the tables and the page.

        Stopped half-way, the next call goes on from there. `fresh` grades everything again.
        """
        entries = _distinct(gather(paths, folder, self._catalog, kata))
        with Store(self._output) as store:
            todo = [entry for entry in entries if fresh or not store.has(entry, self._key(entry))]
            yield Planned(total=len(entries), done=len(entries) - len(todo))
            for result in runner(todo, self._key):
                store.add(result)
                self._write_one(result)
                yield Row.of(result)
            yield self._finish(store, entries)

    def _key(self, entry: Entry) -> str:
        return key(entry, self._options, self._code)

    def _write_one(self, result: Result) -> None:
        """The result's own report, and its document for Gradescope."""
        grade = result.grade
        if grade is None:
            return
        view = build_view(grade, self._catalog.get(grade.kata), ReportContext(file=result.file))
        _write(self._output / "reports" / f"{slug(result)}.html", self._renderer.render(view, "html"))
        _write(self._output / "gradescope" / slug(result) / "results.json", tables.gradescope(grade))

    def _finish(self, store: Store, entries: Sequence[Entry]) -> Finished:
        rows, prints = [], []
        for result in store.results((entry.name, entry.file) for entry in entries):
            rows.append(Row.of(result))
            text = result.grade.source.text if result.grade and result.grade.source else ""
            prints.append(fingerprints(text))
        given = [fingerprints(kata.text("stub.py")) for kata in self._catalog.katas]
        page = overview(rows, alike(prints, given), self._catalog, f"{len(rows)} answers")
        documents = {
            "index.html": render_overview(page, self._catalog.templates),
            "results.csv": tables.csv_table(rows),
            "junit.xml": tables.junit(rows),
        }
        written = [_write(self._output / name, text) for name, text in documents.items()]
        return Finished(rows=tuple(rows), page=written[0], written=(*written[1:], self._output / FILE_NAME))


def _distinct(entries: Iterable[Entry]) -> list[Entry]:
    """Each answer once, though several paths lead to it."""
    return list({(entry.name, entry.file): entry for entry in entries}.values())


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}.", "Name another folder with --output."
        ) from error
    return path
