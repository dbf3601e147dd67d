"""What the templates show: frozen sections in which everything is already computed.

A section's `kind` names its templates: `templates/html/<kind>.j2`, `templates/md/<kind>.j2`,
`templates/txt/<kind>.j2`. A new section is a new record and three new files; nothing here changes.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from grader.records import Record, Status, TodoStatus, Verdict

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


class Bug(Record):
    """A mistake of a bug hunt: its label, what is wrong, and where."""

    label: str
    text: str = ""
    spot: str = ""


class HuntSection(Section):
    """What became of a bug hunt. Where labels are held back, `still` and `new` are only counted."""

    kind: ClassVar[str] = "hunt"

    planted: int
    mended: int
    unknown: int
    still: tuple[Bug, ...]
    new: tuple[Bug, ...]
    held_back: bool
    touched: str = ""
    rewritten: bool = False
    done: bool = False
    points: int = 0
    max_points: int = 0
    reason: str = ""  # why it did not run


class Place(Record):
    """Where to look: the file, the line, and the lines around it. `cell` is the notebook's, from 1.

    In a notebook lines are counted from the top of their cell.
    """

    file: str
    line: int
    excerpt: tuple[CodeLine, ...] = ()
    cell: int | None = None

    @property
    def spot(self) -> str:
        """`line 31`, or `cell 3, line 7`."""
        return f"line {self.line}" if self.cell is None else f"cell {self.cell}, line {self.line}"

    @property
    def where(self) -> str:
        """`answer.py:31`, or `answer.ipynb, cell 3, line 7`."""
        return f"{self.file}:{self.line}" if self.cell is None else f"{self.file}, {self.spot}"


class TodoGroup(Record):
    """The TODOs of one status, by their numbers: `1, 2 and 4`."""

    status: TodoStatus
    numbers: str
    many: bool


class TodoItem(Record):
    number: int
    text: str
    status: TodoStatus
    tone: Tone
    sentence: str
    place: Place | None


class Todos(Record):
    """Half-done work: what is said of it in one sentence, and of each TODO."""

    groups: tuple[TodoGroup, ...]
    items: tuple[TodoItem, ...]


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
    todos: Todos | None = None  # while one is open: then nothing is said of points


class DiagnosisItem(Record):
    sentence: str
    fix: str
    why: str
    labels: tuple[str, ...]
    concept: str
    exact: bool
    alternatives: tuple[str, ...]
    place: Place | None
    asked: bool = True  # for its fix: a fix that nobody asked for stays out, or folded


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
    shows: Literal["weights", "result", "table"]
    row_names: tuple[str, ...]  # of what is drawn
    column_names: tuple[str, ...]
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

    @property
    def noun(self) -> str:
        """What a cell is."""
        return "weight" if self.shows == "weights" else "number"

    def naming(self, cell: HeatCell) -> str:
        """Which cell it is."""
        if self.shows == "table":
            return f"{self.row_names[cell.row]}, {self.column_names[cell.column]}"
        return f"query {cell.row} → key {cell.column}"

    def place(self, cell: HeatCell) -> str:
        """Whose value a cell is, as the beginning of a sentence that ends with it."""
        if self.shows == "weights":
            return f"query {cell.row} gives key {cell.column} a weight of"
        if self.shows == "table":
            return f"{self.naming(cell)} is"
        return f"row {cell.row}, column {cell.column} is"


class MapsSection(Section):
    kind: ClassVar[str] = "maps"

    pairs: tuple[MapPair, ...]
    rest: tuple[str, ...] = ()  # titles of maps that are as expected

    @property
    def heading(self) -> str:
        return "Your attention, measured" if self.pairs[0].shows == "weights" else "Your result, measured"


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
    spot: str  # `line 7`; empty where it is about no line


class NotesSection(Section):
    kind: ClassVar[str] = "notes"

    items: tuple[NoteItem, ...]


class Effort(Section):
    """How the candidate got here."""

    kind: ClassVar[str] = "effort"

    time: str | None
    paused: bool  # the time leaves pauses out
    hints: tuple[str, ...]
    fixes: tuple[str, ...]  # mistakes whose fix was shown; each counts as a hint
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
