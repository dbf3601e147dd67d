"""The reference solution, beside the candidate's own code. Looking at it is recorded."""

from __future__ import annotations

from pathlib import Path

from grader import workspace
from grader.catalog import Kata
from grader.database import HistoryUnavailable
from grader.errors import GraderFault, UsageError
from grader.history import History
from grader.records import Record
from grader.snapshot import UnreadableSubmission, read_submission


class Solution(Record):
    """The reference, and the candidate's own code: the file in the folder, else what was last graded."""

    kata: Kata
    text: str
    own: str | None
    own_name: str
    warning: HistoryUnavailable | None = None


def solution(kata: Kata, folder: Path, history: History, *, give_up: bool) -> Solution:
    """The solution after a pass, or for someone who gives up; raises `UsageError` for all others."""
    if not give_up and not _passed(kata, history):
        raise UsageError(
            f"You have not passed {kata.id} yet, so its solution stays closed.",
            f"Take a hint (kata hint {kata.id}), or give up: kata solution {kata.id} --give-up",
        )
    try:
        text = kata.solution.read_text(encoding="utf-8")
    except OSError as error:
        raise GraderFault(f"{kata.id} has no solution ({error}).", "Run `kata lint`.") from error
    warning = None
    own, name = None, ""
    try:
        own, name = _own_code(kata, folder, history)
        history.record_solution_seen(kata.id, gave_up=not _passed(kata, history))
    except HistoryUnavailable as error:
        warning = error
    return Solution(kata=kata, text=text, own=own, own_name=name, warning=warning)


def _passed(kata: Kata, history: History) -> bool:
    best = history.best().get(kata.id)
    return best is not None and best.passed


def _own_code(kata: Kata, folder: Path, history: History) -> tuple[str | None, str]:
    start = workspace.find(folder, history, kata)
    path = folder / kata.file_name if start is None else start.path
    try:
        text = read_submission(path).source.decode("utf-8-sig")
    except (UsageError, UnreadableSubmission):  # not here, or not readable: what was graded will do
        text = ""
    if text and not _is_a_page(text, kata):
        return text, path.name
    for attempt in history.attempts(kata.id):
        source = history.grade(attempt).source
        if source is not None and not _is_a_page(source.text, kata):
            return source.text, source.name
    return None, ""


def _is_a_page(text: str, kata: Kata) -> bool:
    """Whether nothing was written yet: it is the stub, or the blank page."""
    return any(text.split() == kata.text(page).split() for page in ("stub.py", "blank.py"))
