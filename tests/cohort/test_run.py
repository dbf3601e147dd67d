"""Many grades at a time: no more are taken than there is room for, and what is wrong for all ends all."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from grader.catalog import Catalog
from grader.cohort.entries import Entry, Result
from grader.cohort.run import grading, run
from grader.errors import ConfinementUnavailable
from grader.records import Grade, Options, Submission
from tests.cohort.conftest import result


def test_entries_are_taken_as_there_is_room() -> None:
    """A cohort may be larger than the memory."""
    taken: list[str] = []

    def entries() -> Iterator[Entry]:
        for number in range(20):
            taken.append(str(number))
            yield Entry(name=str(number), file="a.py")

    def grade_one(entry: Entry) -> Result:
        return result(entry.name)

    came = []
    for one in run(entries(), grade_one, jobs=2):
        came.append(one.name)
        assert len(taken) - len(came) < 2
    assert sorted(came, key=int) == taken == [str(number) for number in range(20)]


def test_a_machine_that_cannot_confine_ends_the_cohort(catalog: Catalog, submission: Submission) -> None:
    """It is no fault of one answer: all the others would meet it too."""

    def grade(*_: object) -> Grade:
        raise ConfinementUnavailable(("landlock",))

    entry = Entry(name="ada", file="a.py", kata="v3", submission=submission)
    one: Callable[[Entry], Result] = grading(grade, catalog, Options(), lambda _: "key")
    with pytest.raises(ConfinementUnavailable):
        one(entry)
    with pytest.raises(ConfinementUnavailable):
        list(run([entry] * 5, one, jobs=2))
