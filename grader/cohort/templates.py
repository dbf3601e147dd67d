"""A platform's own export of its gradebook, with the grades filled in: every other cell stays byte for byte.

Only the cells of the grade, and Moodle's of the feedback, are written; who has no grade keeps what is there.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from grader.cohort.gradebook import Standing, number
from grader.cohort.names import Book
from grader.cohort.people import People, Person
from grader.cohort.sheets import decoded, delimiter_of, meanings
from grader.cohort.tables import cell as harmless
from grader.errors import UsageError
from grader.records import Record

_NUMBERED = re.compile(r".*\(\d+\)")  # Canvas writes an assignment's number behind its name
_MOODLE_ID = re.compile(r"\D*(\d+)")  # Participant 12345
_POSSIBLE = "points possible"


class Span(Record):
    """Where a cell stands in the text, with its quotes, and what it says."""

    start: int
    end: int
    text: str


class Filled(Record):
    """The new file, and what there is to say about it."""

    content: bytes
    said: tuple[str, ...]


def fill(path: Path, book: Book, told: Sequence[Standing], column: str | None = None) -> Filled:
    """The export at `path` with the points of each student, summed over their katas.

    Points are brought to the platform's maximum where it names another. Raises `UsageError` when the columns
    are not there.
    """
    try:
        content = path.read_bytes()
        encoding = decoded(content)[1]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name} cannot be read: {error}", "Export it again.") from error
    codec = _codec(content, encoding)
    text = content.decode(codec)
    lines = spans(text, delimiter_of(text.removeprefix("\ufeff")))
    if not lines:
        raise UsageError(f"{path.name} is empty.", "Export it again.")
    heads = [span.text.removeprefix("\ufeff").strip() for span in lines[0]]
    plan = (_moodle if book == "moodle" else _canvas)(heads, lines, column, path.name)
    return _filled(text, codec, lines, plan, told)


class Plan(Record):
    """Which columns are filled, and whose the lines are; `most` is the platform's maximum of a line."""

    grade: int
    feedback: int | None
    first: int  # line of the first student
    most: Mapping[int, float]
    people: tuple[tuple[int, Person], ...]  # beside their lines


def _moodle(heads: Sequence[str], lines: Sequence[Sequence[Span]], column: str | None, name: str) -> Plan:
    lower = [head.lower() for head in heads]
    grade = _at(heads, column or "Grade", name)
    most = lower.index("maximum grade") if "maximum grade" in lower else None
    identifier = lower.index("identifier") if "identifier" in lower else None

    def person(line: Sequence[Span]) -> Person:
        at = meanings(heads)
        found = _MOODLE_ID.match(_text(line, identifier)) if identifier is not None else None
        return Person(
            name=_text(line, at.get("name")), id=found[1] if found else "", email=_text(line, at.get("email"))
        )

    return Plan(
        grade=grade,
        feedback=lower.index("feedback comments") if "feedback comments" in lower else None,
        first=1,
        most={
            at: value for at, line in enumerate(lines) if (value := _number(_text(line, most))) is not None
        },
        people=_people(lines, 1, person),
    )


def _canvas(heads: Sequence[str], lines: Sequence[Sequence[Span]], column: str | None, name: str) -> Plan:
    if column is None:
        numbered = [head for head in heads if _NUMBERED.fullmatch(head)]
        if len(numbered) != 1:
            raise UsageError(
                f"Which column of {name} gets the grades?",
                f"Name it with --column: {', '.join(numbered) or heads}",
            )
        column = numbered[0]
    grade = _at(heads, column, name)
    above = [at for at, line in enumerate(lines[:4]) if _text(line, 0).strip().lower() == _POSSIBLE]
    first = above[0] + 1 if above else 1
    most = _number(_text(lines[above[0]], grade)) if above else None
    at = meanings(heads)
    number_at = heads.index("ID") if "ID" in heads else at.get("id")

    def person(line: Sequence[Span]) -> Person:
        return Person(
            name=_text(line, at.get("name")), id=_text(line, number_at), email=_text(line, at.get("email"))
        )

    return Plan(
        grade=grade,
        feedback=None,
        first=first,
        most={} if most is None else dict.fromkeys(range(len(lines)), most),
        people=_people(lines, first, person),
    )


def _filled(
    text: str, codec: str, lines: Sequence[Sequence[Span]], plan: Plan, told: Sequence[Standing]
) -> Filled:
    everybody = People([person for _, person in plan.people])
    of: dict[int, list[Standing]] = {}
    lost = []
    for one in told:
        place = everybody.find(one.person)
        if place is None and one.points is not None:
            lost.append(one.person.name)
        elif place is not None:
            of.setdefault(plan.people[place][0], []).append(one)
    edits: list[tuple[int, int, str]] = []
    scaled = set()
    short = []
    for at, own in of.items():
        graded = [one for one in own if one.points is not None]
        if not graded:
            continue
        if plan.grade >= len(lines[at]):
            short.append(graded[0].person.name)
            continue
        points = sum(one.points or 0.0 for one in graded)
        size = sum(one.max_points for one in graded)
        most = plan.most.get(at)
        if most and size and most != size:
            points *= most / size
            scaled.add(f"from {size} to {number(most)}")
        edits.append(_edit(lines[at][plan.grade], number(points)))
        if plan.feedback is not None and plan.feedback < len(lines[at]):
            edits.append(_edit(lines[at][plan.feedback], _quoted(harmless(" ".join(map(feedback, graded))))))
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    said = [f"{len(of)} of {len(plan.people)} lines of the export are students of these results."]
    said += [f"Points were brought {', '.join(sorted(scaled))}, the platform's maximum."] if scaled else []
    said += [f"Not in the export: {', '.join(sorted(set(lost)))}."] if lost else []
    said += [f"Lines without the column: {', '.join(short)}."] if short else []
    return Filled(content=text.encode(codec), said=tuple(said))


def feedback(one: Standing) -> str:
    """What a student reads about one kata, in a line."""
    row = one.row
    said = [f"{one.kata}: {number(one.points)} of {one.max_points} points."]
    if row is not None and row.has_verdict:
        said += row.sentences or ([row.reason] if row.reason else ["Passed."])
    said += [f"Late: {one.late}."] if one.late else []
    said += [f"{one.comment}."] if one.comment else []
    return " ".join(said)


def spans(text: str, delimiter: str) -> list[list[Span]]:
    """The cells of every line, with their places."""
    lines: list[list[Span]] = []
    line: list[Span] = []
    start = at = 0
    quoted = False
    for at, sign in enumerate(text):
        if sign == '"':
            quoted = not quoted
        elif not quoted and sign in (delimiter, "\n"):
            end = at - 1 if sign == "\n" and text[at - 1 : at] == "\r" else at
            line.append(_span(text, start, end))
            start = at + 1
            if sign == "\n":
                lines.append(line)
                line = []
    if start < len(text) or line:
        line.append(_span(text, start, len(text)))
        lines.append(line)
    return lines


def _span(text: str, start: int, end: int) -> Span:
    raw = text[start:end]
    inner = raw.strip()
    said = inner[1:-1].replace('""', '"') if len(inner) > 1 and inner[0] == inner[-1] == '"' else raw
    return Span(start=start, end=end, text=said)


def _people(
    lines: Sequence[Sequence[Span]], first: int, person: Callable[[Sequence[Span]], Person]
) -> tuple[tuple[int, Person], ...]:
    found = [(at, person(line)) for at, line in enumerate(lines) if at >= first]
    return tuple((at, one) for at, one in found if one.name or one.id or one.email)


def _at(heads: Sequence[str], column: str, name: str) -> int:
    if column not in heads:
        raise UsageError(f"{name} has no column '{column}'.", f"It has: {', '.join(heads)}")
    return heads.index(column)


def _text(line: Sequence[Span], at: int | None) -> str:
    return line[at].text.strip() if at is not None and at < len(line) else ""


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def _edit(span: Span, new: str) -> tuple[int, int, str]:
    return span.start, span.end, new


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _codec(content: bytes, encoding: str) -> str:
    """One that leaves a mark at the beginning where it is."""
    if encoding == "UTF-16":
        return "utf-16-le" if content.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    return "utf-8" if encoding == "UTF-8" else "cp1252"
