"""Help in steps: how to mend what the last grade found, then the written hints. All of it is counted."""

from __future__ import annotations

import re

from grader.answer_text import cell_starts
from grader.catalog import Kata
from grader.errors import GraderFault
from grader.history import Attempt, GradeUnreadable, History
from grader.records import Diagnosis, Record
from grader.report.code import Source

_HEADING = re.compile(r"^## Hint \d+[ \t]*$", re.MULTILINE)


class Hint(Record):
    """One hint as Markdown. `again` says that it was shown before, because there are no more."""

    number: int
    total: int
    text: str
    again: bool = False


class Fix(Record):
    """How to mend one thing that the last grade found. `spot` is the line in the answer as it was graded."""

    kata: str
    mistakes: tuple[str, ...]
    sentence: str
    fix: str
    why: str
    spot: str


def hint_texts(kata: Kata) -> tuple[str, ...]:
    """The kata's hints as Markdown, the mildest first; `hints.md` has them under `## Hint n`."""
    parts = _HEADING.split(kata.text("hints.md"))[1:]
    if not parts:
        raise GraderFault(f"{kata.folder / 'hints.md'} has no heading '## Hint 1'.", "Run `kata lint`.")
    return tuple(part.strip() for part in parts)


def next_help(kata: Kata, history: History) -> Fix | Hint:
    """A fix for what the last grade found, one thing at a time; then the written hints."""
    seen = history.fixes_seen(kata.id)
    last = _last_of_sitting(kata, history)
    for item in () if last is None else fixable(last, history):
        if " ".join(item.mistakes) not in seen:
            history.record_fix_seen(kata.id, " ".join(item.mistakes))
            return Fix(
                kata=kata.id,
                mistakes=item.mistakes,
                sentence=item.sentence,
                fix=item.fix,
                why=item.why,
                spot=_spot(item.line, last, history),
            )
    return next_hint(kata, history)


def show_fixes(kata: Kata, attempt: Attempt, history: History) -> None:
    """Record that all fixes of an attempt are shown at once."""
    for item in fixable(attempt, history):
        history.record_fix_seen(kata.id, " ".join(item.mistakes))


def fixable(attempt: Attempt, history: History) -> tuple[Diagnosis, ...]:
    """What a graded attempt has a fix for."""
    if attempt.verdict not in ("failed", "unrunnable"):
        return ()
    try:
        found = history.grade(attempt).diagnosis
    except GradeUnreadable:  # the written hints are there all the same
        return ()
    return tuple(item for item in found if item.fix and item.mistakes)


def _spot(line: int | None, attempt: Attempt | None, history: History) -> str:
    if line is None or attempt is None:
        return ""
    source, name = history.source(attempt), "" if attempt.path is None else attempt.path.name
    cells = () if source is None else cell_starts(source, name)
    return Source(name, "", cells=cells).bare(line).spot


def _last_of_sitting(kata: Kata, history: History) -> Attempt | None:
    last = next(iter(history.attempts(kata.id, limit=1)), None)
    began = next((start.at for start in history.starts(kata=kata.id) if start.kind != "found"), None)
    return None if last is None or (began is not None and last.at < began) else last


def next_hint(kata: Kata, history: History) -> Hint:
    """The next hint, recorded as taken; after the last one, the last one again."""
    texts = hint_texts(kata)
    before = history.hints_taken(kata.id)
    number = history.take_hint(kata.id, len(texts))
    return Hint(number=number, total=len(texts), text=texts[number - 1], again=before == len(texts))


def all_hints(kata: Kata, history: History) -> tuple[Hint, ...]:
    """All hints, recorded as taken."""
    texts = hint_texts(kata)
    while history.take_hint(kata.id, len(texts)) < len(texts):
        pass
    return tuple(Hint(number=i, total=len(texts), text=text) for i, text in enumerate(texts, start=1))
