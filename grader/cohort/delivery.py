"""What leaves a course's results: the gradebook, the platform's own table, feedback for each student."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from grader.catalog import Catalog
from grader.cohort.documents import write_whole
from grader.cohort.entries import Row, several
from grader.cohort.feedback import FOLDER, feedback_files, packed
from grader.cohort.gradebook import Rules, Standing, gradebook, standings
from grader.cohort.names import Book
from grader.cohort.overrides import FILE_NAME as OVERRIDES
from grader.cohort.overrides import read_overrides, unused
from grader.cohort.people import roster
from grader.cohort.templates import fill
from grader.cohort.worksheet import timed
from grader.errors import UsageError
from grader.records import Record

MOST_NAMED = 30


class Delivery(Record):
    """What is wanted. `template` is the platform's own export, `column` the one of the grades."""

    rules: Rules = Rules()
    roster: Path | None = None
    overrides: Path | None = None
    book: Book = "plain"
    template: Path | None = None
    column: str | None = None
    feedback: bool = False
    anonymous: bool = False

    def check(self) -> None:
        """Raises `UsageError` before anything is graded where something needed is not there."""
        if (self.book != "plain") != (self.template is not None):
            raise UsageError(
                "A platform's gradebook needs its own export, and the other way round.",
                "Say --gradebook moodle --template EXPORTED.csv, or canvas.",
            )
        for path in (self.roster, self.template, self.overrides):
            if path is not None and not path.is_file():
                raise UsageError(f"There is no file {path}.", "Check its name.")


class Delivered(Record):
    """What was written, what there is to say, and who counts how."""

    standings: tuple[Standing, ...]
    written: tuple[Path, ...]
    said: tuple[str, ...]


def deliver(
    output: Path, rows: Sequence[Row], catalog: Catalog, wanted: Delivery, report: Callable[[Row], Path]
) -> Delivered:
    """Write all that is wanted into the folder of the results."""
    known, said = roster(wanted.roster) if wanted.roster is not None else ([], "")
    if wanted.book == "moodle" and wanted.template is not None:
        rows = timed(rows, wanted.template)
    changes = read_overrides(wanted.overrides or output / OVERRIDES, catalog)
    told = standings(rows, known, changes, wanted.rules)
    lines = [said] if said else []
    came = {one.person for one in told if one.row is not None}
    missing = dict.fromkeys(
        f"{one.person.name} ({one.kata})" if one.person in came else one.person.name
        for one in told
        if one.row is None
    )
    if missing:
        lines.append(f"Not handed in: {several(list(missing), MOST_NAMED)}.")
    if changes:
        lost = unused(changes, [(one.person, one.kata) for one in told])
        lines.append(f"{len(changes) - len(lost)} changed by hand, see the column comment of gradebook.csv.")
        lines += [f"Changed by hand, and nobody here is meant: {'; '.join(lost)}."] if lost else []
    if wanted.rules.deadline is not None:
        unknown = sum("time unknown" in one.late for one in told)
        late = sum(bool(one.late) for one in told) - unknown
        lines.append(
            f"Deadline {wanted.rules.deadline:%Y-%m-%d %H:%M %Z}: {late} late, {unknown} of unknown time."
        )
    written = [write_whole(output / "gradebook.csv", "\ufeff" + gradebook(told))]
    if wanted.template is not None and wanted.book != "plain":
        filled = fill(wanted.template, wanted.book, told, wanted.column)
        written.append(write_whole(output / f"gradebook-{wanted.book}.csv", filled.content))
        lines += filled.said
    if wanted.feedback:
        files = feedback_files(told, report)
        written.append(write_whole(output / f"{FOLDER}.zip", packed(files)))
        lines.append(f"Feedback for {len(files)} students is in {FOLDER}.zip.")
    return Delivered(standings=tuple(told), written=tuple(written), said=tuple(lines))
