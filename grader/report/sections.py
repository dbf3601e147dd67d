"""What the templates show: frozen sections in which everything is already computed.

A section's `kind` names its templates: `templates/html/<kind>.j2`, `templates/md/<kind>.j2`,
`templates/txt/<kind>.j2`. A new section is a new record and three new files; nothing here changes.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from grader.records import Record, Status, Verdict

Tone = Literal["good", "bad", "open", "calm"]  # passed, failed, not reached or not decided, neutral


class Section(Record):
    """Base of all sections of a report."""

    kind: ClassVar[str]


class CodeLine(Record):
    """One line of the candidate's code as highlighted pieces: (class of token, text)."""

    number: int
    pieces: tuple[tuple[str, str], ...]
    blamed: bool = False

    @property
    def text(self) -> str:
        return "".join(piece for _, piece in self.pieces)

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip(" "))


class Place(Record):
    """Where to look: the file, the line, and the lines around it."""

    file: str
    line: int
    excerpt: tuple[CodeLine, ...] = ()


class Headline(Section):
    """The verdict in one glance, with the reason and what can be done next."""

    kind: ClassVar[str] = "headline"

    verdict: Verdict
    tone: Tone
    kata: str
    title: str
    class_name: str
    points: int
    max_points: int
    percent: int
    arc: str  # length of the ring's arc for a circumference of 100
    gained: int | None  # points more than in the attempt before
    attempt: int | None
    reason: str | None
    place: Place | None
    mistakes: int  # how many mistakes were named
    failed_checks: int
    command: str
    next_kata: str | None


class DiagnosisItem(Record):
    sentence: str
    fix: str
    why: str
    labels: tuple[str, ...]
    concept: str
    exact: bool
    alternatives: tuple[str, ...]
    place: Place | None


class DiagnosisSection(Section):
    kind: ClassVar[str] = "diagnosis"

    items: tuple[DiagnosisItem, ...]


class HeatCell(Record):
    """One weight of an attention map: how dark it is drawn, and what is said about it."""

    row: int
    column: int
    value: str  # "0.420", "NaN"
    short: str  # "42", "nan": what fits into the cell
    other: str  # the same cell of the other map
    opacity: str  # "0.42"
    strong: bool  # dark enough to need light text
    negative: bool
    finite: bool
    hidden: bool
    blank: bool  # hidden, and without a weight: as it should be
    off: bool  # differs from the expected map
    far: bool  # differs by more than a tenth of the largest expected weight
    shade: str  # two characters of a terminal
    digit: str  # the same in ASCII


class HeatMap(Record):
    """(rows, columns) cells; rows are queries, columns are keys."""

    rows: tuple[tuple[HeatCell, ...], ...]
    sums: tuple[str, ...]  # the sum of each row
    sums_off: tuple[bool, ...]  # where it is not 1


class MapPair(Record):
    """The candidate's attention map beside the expected one, and what differs."""

    title: str
    actual: HeatMap
    expected: HeatMap
    queries: int  # size that is drawn
    keys: int
    all_queries: int  # size that was measured
    all_keys: int
    cells_off: int
    cells: int
    worst: HeatCell | None
    rows_off: int  # rows that do not sum to 1 although they should
    leaks: int  # hidden keys with a weight
    not_finite: int


class MapsSection(Section):
    kind: ClassVar[str] = "maps"

    pairs: tuple[MapPair, ...]
    rest: tuple[str, ...] = ()  # titles of maps that are as expected


class ConceptBar(Record):
    id: str
    title: str
    points: int
    max_points: int
    percent: int
    share: str  # width within all points, "17.65"
    status: Status
    tone: Tone
    required: bool


class ConceptsSection(Section):
    kind: ClassVar[str] = "concepts"

    bars: tuple[ConceptBar, ...]
    points: int
    max_points: int


class FailedCheck(Record):
    id: str
    title: str
    concept: str
    gate: bool
    required: bool
    message: str | None
    expected: str | None
    actual: str | None
    why: str | None
    place: Place | None


class NotReached(Record):
    """Checks that could not be made, by the reason."""

    reason: str | None
    titles: tuple[str, ...]


class ChecksSection(Section):
    kind: ClassVar[str] = "checks"

    failed: tuple[FailedCheck, ...]
    not_reached: tuple[NotReached, ...]
    not_reached_count: int
    passed: tuple[str, ...]


class Step(Record):
    """A torch call of a line: `inputs` and `output` as text, how often it was seen."""

    call: str
    inputs: str
    output: str
    times: int = 1


class Claim(Record):
    """A shape comment and whether it is true."""

    text: str
    actual: str
    right: bool


class WalkLine(Record):
    code: CodeLine
    steps: tuple[Step, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: int = 0  # lines left out before this one

    @property
    def seen(self) -> bool:
        return bool(self.steps or self.claims)


class WalkThrough(Section):
    """The candidate's code with the shapes that the recorder saw beside it."""

    kind: ClassVar[str] = "walkthrough"

    file: str
    lines: tuple[WalkLine, ...]
    skipped: int  # lines left out after the last one
    traced: int  # lines that the recorder saw
    right_claims: int
    wrong_claims: int

    @property
    def core(self) -> tuple[WalkLine, ...]:
        """The lines that something is said about."""
        return tuple(line for line in self.lines if line.seen or line.code.blamed)


class NoteItem(Record):
    text: str
    line: int | None


class NotesSection(Section):
    kind: ClassVar[str] = "notes"

    items: tuple[NoteItem, ...]


class Effort(Section):
    """How the candidate got here."""

    kind: ClassVar[str] = "effort"

    time: str | None
    paused: bool  # the time leaves pauses out
    hints: tuple[str, ...]
    hint_count: int
    attempt: int | None
    minutes: int  # what the kata gives
    over_time: bool


class PrintedSection(Section):
    """What the candidate's code printed: lines that differ in their numbers only are shown once."""

    kind: ClassVar[str] = "printed"

    text: str
    lines: tuple[str, ...]
    printed_lines: int  # how many there were
    brief: bool  # a terminal says only that there are some
    dropped_bytes: int


class Questions(Section):
    kind: ClassVar[str] = "questions"

    items: tuple[str, ...]
    next_kata: str | None


class Origin(Section):
    """What was graded, with what, and how to see the same again."""

    kind: ClassVar[str] = "origin"

    command: str
    seed: int
    file: str
    sha256: str
    when: str | None
    when_iso: str | None
    seconds: str | None
    environment: tuple[tuple[str, str], ...]
