"""The page over a cohort: who passed, who has which concept, what is got wrong, who wrote the same."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from grader.catalog import Catalog
from grader.cohort.entries import Row
from grader.cohort.similarity import Found, Group
from grader.records import Record
from grader.report.neutral import bounded, one_line
from grader.report.render import html_engine

MOST_MISTAKES = 12
LONGEST = 200  # characters of a name or a reason
_WORDS = {
    "passed": ("passed", "good"),
    "failed": ("failed", "bad"),
    "unrunnable": ("could not run", "bad"),
    "grader_error": ("grader's fault", "open"),
    "skipped": ("not graded", "open"),
    "aside": ("passed over", "calm"),
}
_SIGNS = {"passed": "✓", "failed": "✕", "not_reached": "○"}


class Line(Record):
    """One answer in the table. `order` sorts verdicts from best to worst."""

    name: str
    file: str
    link: str
    kata: str
    verdict: str
    tone: str
    order: int
    points: str
    percent: int
    mistakes: str
    reason: str
    seconds: str


class Cell(Record):
    """One candidate's outcome in one concept."""

    status: str
    sign: str


class HeatRow(Record):
    """One candidate over the concepts."""

    name: str
    link: str
    cells: tuple[Cell, ...]


class HeatMap(Record):
    """The candidates of one kata over its concepts; `rates` are percentages of those who have it right."""

    kata: str
    title: str
    concepts: tuple[str, ...]
    rates: tuple[int, ...]
    rows: tuple[HeatRow, ...]


class Mistake(Record):
    """One label, and how many made that mistake."""

    label: str
    sentence: str
    count: int
    percent: int


class Twin(Record):
    """Two answers that are nearly the same."""

    first: str
    first_link: str
    second: str
    second_link: str
    percent: int


class Copies(Record):
    """Answers that are the same: names and links, and what there is to say of them."""

    names: tuple[tuple[str, str], ...]
    kata: str
    sign: str
    said: str


class Overview(Record):
    """The whole page."""

    title: str
    graded: int
    passed: int
    skipped: int
    faults: int
    left: int
    said: tuple[str, ...]
    lines: tuple[Line, ...]
    maps: tuple[HeatMap, ...]
    mistakes: tuple[Mistake, ...]
    copies: tuple[Copies, ...]
    twins: tuple[Twin, ...]


def overview(
    rows: Sequence[Row],
    found: Found,
    catalog: Catalog,
    title: str,
    left: int = 0,
    said: Sequence[str] = (),
) -> Overview:
    """Everything the page shows. `found` counts the rows by their place; `left` are still to be graded;
    `said` is about the gradebook.
    """
    graded = [row for row in rows if has_grade(row)]
    return Overview(
        title=title,
        graded=len(graded),
        passed=sum(row.verdict == "passed" for row in graded),
        skipped=sum(row.verdict == "skipped" for row in rows),
        faults=sum(row.verdict == "grader_error" for row in graded),
        left=left,
        said=tuple(said),
        lines=tuple(_line(row) for row in rows),
        maps=_maps(graded, catalog),
        mistakes=_mistakes(graded),
        copies=tuple(_copies(rows, group) for group in found.groups),
        twins=tuple(
            Twin(
                first=_short(rows[pair.first].name),
                first_link=_link(rows[pair.first]),
                second=_short(rows[pair.second].name),
                second_link=_link(rows[pair.second]),
                percent=round(100 * pair.share),
            )
            for pair in found.pairs
        ),
    )


def _copies(rows: Sequence[Row], group: Group) -> Copies:
    members = [rows[place] for place in group.members]
    said = (
        f"Any two others of the {group.of} share at most {round(100 * group.others)} % of their statements."
    )
    if group.is_usual:
        said = f"As similar as independent answers are here. {said}"
    return Copies(
        names=tuple((_short(row.name), _link(row)) for row in members),
        kata=members[0].kata or "",
        sign=group.sign,
        said=said,
    )


def render_overview(page: Overview, templates: Path) -> str:
    """The page. Its one script, which sorts the table, is named in the page's policy by its digest."""
    engine = html_engine(templates)
    script = (templates / "overview.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rendered: str = engine.get_template("overview.html.j2").render(
        page=page, script=Markup(script), digest=Markup(digest)
    )
    return rendered


def _line(row: Row) -> Line:
    verdict, tone = _WORDS[row.verdict]
    percent = round(100 * row.points / row.max_points) if row.max_points else 0
    return Line(
        name=_short(row.name),
        file=_short(row.file),
        link=_link(row),
        kata=row.kata or "",
        verdict=verdict,
        tone=tone,
        order=list(_WORDS).index(row.verdict),
        points=f"{row.points} / {row.max_points}" if row.max_points else "",
        percent=percent,
        mistakes=" ".join(row.mistakes),
        reason=_short(f"The file is no longer there. {row.reason}" if row.gone else row.reason),
        seconds=f"{row.seconds:.2f}" if row.seconds else "",
    )


def _maps(rows: Sequence[Row], catalog: Catalog) -> tuple[HeatMap, ...]:
    maps = []
    for kata in catalog.katas:
        own = [row for row in rows if row.kata == kata.id and row.verdict != "grader_error"]
        ids = [concept.id for concept in kata.concepts]
        if not own:
            continue
        found = [{name: status for name, status, _ in row.concepts} for row in own]
        maps.append(
            HeatMap(
                kata=kata.id,
                title=kata.title,
                concepts=tuple(ids),
                rates=tuple(
                    round(100 * sum(statuses.get(name) == "passed" for statuses in found) / len(own))
                    for name in ids
                ),
                rows=tuple(
                    HeatRow(
                        name=_short(row.name),
                        link=_link(row),
                        cells=tuple(
                            Cell(status=status, sign=_SIGNS.get(status, ""))
                            for status in (statuses.get(name, "not_reached") for name in ids)
                        ),
                    )
                    for row, statuses in zip(own, found, strict=True)
                ),
            )
        )
    return tuple(maps)


def _mistakes(rows: Sequence[Row]) -> tuple[Mistake, ...]:
    counted = Counter(label for row in rows for label in set(row.mistakes))
    said: dict[str, str] = {}
    for row in rows:
        if len(row.mistakes) == 1 and row.sentences:
            said.setdefault(row.mistakes[0], row.sentences[0])
    return tuple(
        Mistake(
            label=label,
            sentence=said.get(label, ""),
            count=count,
            percent=round(100 * count / max(1, len(rows))),
        )
        for label, count in counted.most_common(MOST_MISTAKES)
    )


def _link(row: Row) -> str:
    return f"reports/{row.slug}.html" if has_grade(row) else ""


def has_grade(row: Row) -> bool:
    """Whether there is a grade, and a report of it; it may be that the grader failed."""
    return row.verdict not in ("skipped", "aside")


def _short(text: str) -> str:
    return one_line(bounded(text, LONGEST))
