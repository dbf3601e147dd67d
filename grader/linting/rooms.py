"""Are the rooms of a kata fair? A sample of them, graded in every state of repair."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from grader.catalog import Catalog, Kata
from grader.debugging.content import FOLDER, has_rooms, load_stock
from grader.debugging.proof import Case, cases_of, flaw, some_sets
from grader.engine.private import PrivateEngine
from grader.linting.records import Problem
from grader.records import Grade, Options, Submission

SEED = 20481
SIZE = 3  # bugs in a room of the sample
ROOMS = 6
FEW = 1  # on a quick look


def problems_of_rooms(
    kata: Kata, catalog: Catalog, engine: PrivateEngine, *, quick: bool
) -> Iterator[Problem]:
    """Bases that are not right, bugs that pass or are told as others; nothing of a kata without rooms."""
    if not has_rooms(kata):
        return
    stock = load_stock(kata, catalog)
    rooms = some_sets(stock, FEW if quick else ROOMS, SIZE)
    if not rooms:
        yield Problem(
            path=kata.folder / FOLDER,
            message=f"No answer there takes {SIZE} bugs.",
            fix="Add edits that fit it to bugs.toml.",
        )
    for style, edits in rooms:
        for case in cases_of(style, edits):
            found = flaw(case, graded(case, kata, catalog, engine))
            if found is not None:
                yield Problem(
                    path=kata.folder / FOLDER / f"{style.name}.py",
                    message=f"Not fair, {case.name}: {found}",
                    fix="Mend the edit in bugs.toml, or say `apart` there.",
                )


def graded(case: Case, kata: Kata, catalog: Catalog, engine: PrivateEngine) -> Grade:
    """The case as a candidate would hand it in."""
    source = case.text.encode()
    submission = Submission(name=kata.file_name, source=source, sha256=hashlib.sha256(source).hexdigest())
    return engine.grade(submission, kata, catalog, Options(seed=SEED, planted=case.planted))
