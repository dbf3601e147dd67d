"""Which file is to be graded, and which kata it answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader import paths, workspace
from grader.catalog import Catalog, Kata
from grader.database import HistoryUnavailable
from grader.debugging.desk import entered_at, latest_in
from grader.errors import UsageError
from grader.history import History, Start
from grader.records import Record, Submission
from grader.snapshot import UnreadableSubmission, is_answer_name, read_submission, which_kata

_MOST_FILES = 200  # answers looked at in a folder whose work is not known


class Target(Record):
    """What to grade. `submission` is what was read before, or why it could not be: it is not read again."""

    path: Path
    kata: Kata
    submission: Submission | UnreadableSubmission | None = None


def resolve_target(words: Sequence[str], folder: Path, catalog: Catalog, history: History) -> Target:
    """The file and kata that the words of a command mean: a file, an id, both in any order, or neither.

    Without a file it is the kata or the bug hunt last started in `folder`, else the one file there whose
    class tells its kata. Raises `UsageError` when that is nothing, or more than one thing.
    """
    file, kata = _sort(words, folder, catalog)
    if file is not None and kata is not None:
        return Target(path=paths.identity(file), kata=kata)
    if file is not None:
        return _with_kata(paths.identity(file), catalog, history)
    if kata is not None:
        return Target(path=_file_of(kata, folder, history), kata=kata)
    return _last_here(folder, catalog, history) or _only_answer_in(folder, catalog)


def _sort(words: Sequence[str], folder: Path, catalog: Catalog) -> tuple[Path | None, Kata | None]:
    files = [word for word in words if not catalog.names(word) and _names_a_file(word, folder)]
    katas = [catalog.get(word) for word in words if word not in files]
    if len(files) > 1 or len(katas) > 1:
        raise UsageError(
            "One file and one kata can be graded at a time.",
            "For example: kata grade self_attention_v3.py v3",
        )
    return (folder / files[0] if files else None), (katas[0] if katas else None)


def _names_a_file(word: str, folder: Path) -> bool:
    path = Path(word)
    return is_answer_name(word) or len(path.parts) != 1 or (folder / path).exists()


def _with_kata(path: Path, catalog: Catalog, history: History) -> Target:
    entered = entered_at(path, history)
    if entered is not None and catalog.names(entered.room.kata):
        return Target(path=path, kata=catalog.get(entered.room.kata))
    known = _starts(history, path=path)
    if known and _is_known(known[0], catalog):
        return Target(path=path, kata=catalog.get(known[0].kata))
    try:
        submission = read_submission(path)
    except UnreadableSubmission as problem:
        raise UsageError(problem.message, problem.fix) from problem  # no kata, so there is no verdict to give
    return Target(path=path, kata=which_kata(submission, catalog), submission=submission)


def _file_of(kata: Kata, folder: Path, history: History) -> Path:
    """The file of that kata: started here, named so here, or started elsewhere, the latest first."""
    elsewhere = _starts(history, kata=kata.id)
    here = [start for start in elsewhere if start.path.parent == folder.resolve()]
    usual = paths.identity(folder / kata.file_name)
    for path in (*(start.path for start in here), usual, *(start.path for start in elsewhere)):
        if path.is_file():
            return path
    raise UsageError(f"There is no work on {kata.id} here.", f"Begin with: kata start {kata.id}")


def _last_here(folder: Path, catalog: Catalog, history: History) -> Target | None:
    try:
        start = workspace.find(folder, history)
    except HistoryUnavailable:  # the files themselves may tell
        return None
    room = latest_in(folder, history)
    if room is not None and catalog.names(room.room.kata) and (start is None or start.at < room.at):
        return Target(path=room.path, kata=catalog.get(room.room.kata))
    if start is None or not _is_known(start, catalog):
        return None
    return Target(path=start.path, kata=catalog.get(start.kata))


def _only_answer_in(folder: Path, catalog: Catalog) -> Target:
    found = []
    names = sorted(path for path in folder.iterdir() if is_answer_name(path.name))
    for path in names[:_MOST_FILES]:
        try:
            submission = read_submission(path)
            kata = which_kata(submission, catalog)
        except (UnreadableSubmission, UsageError):  # not an answer to one kata
            continue
        found.append(Target(path=paths.identity(path), kata=kata, submission=submission))
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(target.path.name for target in found[:5])
        raise UsageError(
            f"Several files here answer a kata: {listed}.",
            f"Say which one to grade: kata grade {found[0].path.name}",
        )
    first = catalog.first
    raise UsageError(
        "Nothing to grade: no kata was started here, and no file here has the class of one.",
        f"Begin with `kata start {first.id}`, or name a file: kata grade FILE {first.id}",
    )


def _starts(history: History, *, path: Path | None = None, kata: str | None = None) -> list[Start]:
    try:
        return history.starts(path=path, kata=kata)
    except HistoryUnavailable:  # nothing is known then; recording the attempt says why
        return []


def _is_known(start: Start, catalog: Catalog) -> bool:
    return any(kata.id == start.kata for kata in catalog.katas)
