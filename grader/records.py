"""The frozen records that cross between rooms: what is graded (`Submission`) and what came of it (`Grade`).

A `Grade` is the whole truth of one grading. JSON is written straight from it, the reports are views of it,
and the history keeps it. No record holds a tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, dataclass_transform

import msgspec

GRADE_VERSION = 1

Verdict = Literal["passed", "failed", "unrunnable", "grader_error"]
Status = Literal["passed", "failed", "not_reached"]
TodoStatus = Literal["right", "wrong", "written", "open"]  # written: nothing shows yet whether it is right


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all records: immutable, compared by value, encoded by msgspec."""


class Submission(Record):
    """A snapshot of the candidate's file: read once, bounded, and never read again.

    `source` is exactly the bytes on disk (a `.py` file or a notebook); the judge does not parse them.
    """

    name: str  # base name of the file, e.g. "self_attention_v3.py"
    source: bytes
    sha256: str


Told = Callable[[int, int], None]  # checks that are done, and how many there are
Isolation = Literal["strict", "standard", "process"]


class Planted(Record):
    """A mistake that was put into an answer for somebody to find. `form`: words of what it shows, where its
    label is made in several ways.
    """

    label: str
    form: str = ""


class Options(Record):
    """How to grade. `None` means: the seed is drawn afresh; the deadlines are the kata's.

    `engine` allows the user's warm engine; the outcome is the same without it. `planted` are the mistakes of
    a bug hunt, which are looked for before all others. `by_hand` asks for an example on paper, too.
    """

    seed: int | None = None
    total_seconds: float | None = None
    isolation: Isolation = "standard"
    engine: bool = True
    planted: tuple[Planted, ...] = ()
    by_hand: bool = False


class Extra(Record):
    """What a judge is asked for beside the verdict: see `Options`."""

    planted: tuple[Planted, ...] = ()
    by_hand: bool = False


class CheckRecord(Record):
    """The outcome of one hidden check. `required` ones decide the verdict."""

    id: str
    concept: str  # a concept's id, or "end_to_end" for the gates, which carry no points
    title: str
    status: Status
    required: bool = True
    message: str | None = None
    expected: str | None = None
    actual: str | None = None
    line: int | None = None
    why: str | None = None  # why an interviewer cares


class ConceptRecord(Record):
    """The points of one concept: all or nothing over its checks."""

    id: str
    title: str
    points: int
    max_points: int
    status: Status
    required: bool = True


class Diagnosis(Record):
    """A named mistake, or several made at once, with the line that is to blame.

    `certainty` is "exact" when this is the only simplest explanation of all that was observed, and
    "consistent" when others (`alternatives`) explain it as well.
    """

    mistakes: tuple[str, ...]
    concept: str
    sentence: str
    fix: str
    why: str = ""
    line: int | None = None
    certainty: Literal["exact", "consistent"] = "exact"
    alternatives: tuple[tuple[str, ...], ...] = ()


class TodoRecord(Record):
    """One TODO of an answer in which some are open. It explains, and gives no points.

    `line` is where an open one waits, or where a wrong one raised.
    """

    number: int
    text: str
    status: TodoStatus
    sentence: str = ""  # what is wrong
    line: int | None = None


class Note(Record):
    """Something worth saying that costs nothing."""

    id: str
    text: str
    line: int | None = None


class TraceStep(Record):
    """One torch call made from a line of the candidate's file: shapes in, shape out."""

    line: int
    call: str
    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...] | None


class ShapeComment(Record):
    """A shape comment of the candidate, held against what the recorder saw on that line."""

    line: int
    text: str
    claimed: tuple[str, ...]
    actual: tuple[int, ...]
    right: bool


class AttentionMap(Record):
    """The candidate's attention weights beside the expected ones, (queries, keys); where a kata has no
    weights, a result beside the expected one, or a table that was read off it, with names of its own.

    `None` stands for a value that is not finite.
    """

    title: str
    expected: tuple[tuple[float | None, ...], ...]
    actual: tuple[tuple[float | None, ...], ...]
    hidden: tuple[tuple[bool, ...], ...] = ()  # True where the mask hides the key
    head: int | None = None  # of several, counted from 0
    shows: Literal["weights", "result", "table"] = "weights"
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()


class HandMatrix(Record):
    """A tensor on paper: its rows along the last axis, one after the other. "nan", "inf" and "-inf" are
    words.
    """

    name: str
    shape: tuple[int, ...]
    rows: tuple[tuple[float | str, ...], ...]


class ByHand(Record):
    """The smallest input on which the answer is wrong for the reason that was named, worked out step by step.

    Every layer is the identity without a bias; but `layer`, if there is one, exchanges its first two features
    ("swap"), negates ("sign") or moves each feature on by one ("turn"). `right` are the right steps, `wrong`
    those of the explanation where they differ. `actual` is what the candidate's code gave; `worst` is the row
    and column that differ most.
    """

    arguments: tuple[str, ...]
    inputs: tuple[HandMatrix, ...]
    layer: str
    change: str
    has_layers: bool
    right: tuple[HandMatrix, ...]
    wrong: tuple[HandMatrix, ...]
    expected: HandMatrix
    actual: HandMatrix
    worst: tuple[int, int]


class ExperimentRecord(Record):
    """Lines to paste behind an answer that show what is wrong, what they `printed`, and what is right."""

    lines: tuple[str, ...]
    printed: str
    right: str


class Printed(Record):
    """What the candidate's code printed: the first 64 KiB, and how many bytes more there were."""

    text: str = ""
    dropped_bytes: int = 0


class SourceRecord(Record):
    """The code that was graded, as shown in the report (for a notebook: the code cells, in order)."""

    name: str
    sha256: str
    text: str = ""


class Environment(Record):
    """What graded it."""

    grader: str
    python: str
    torch: str
    isolation: str


HELD_BACK = "hidden"  # stands for each label of a bug hunt that is still on


class RoomRecord(Record):
    """What became of the mistakes of a bug hunt, by label.

    `mended`: no explanation of what was observed has it any more. `still`: each of them has it, or its step
    is wrong in another way. `unknown`: neither can be told. `new` was not planted. `touched` are lines that
    no mend needed; `rewritten` says that too little of the room is left to speak of mending.
    """

    planted: tuple[str, ...]
    mended: tuple[str, ...] = ()
    still: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    touched: tuple[int, ...] = ()
    rewritten: bool = False
    lines: dict[str, int] = {}  # of those that stand as they were planted


class Grade(Record):
    """The outcome of one grading. The JSON document of `kata grade --json`."""

    kata: str
    verdict: Verdict
    seed: int
    reason: str | None = None
    version: int = GRADE_VERSION
    points: int = 0
    max_points: int = 0
    seconds: dict[str, float] = {}
    concepts: tuple[ConceptRecord, ...] = ()
    checks: tuple[CheckRecord, ...] = ()
    diagnosis: tuple[Diagnosis, ...] = ()
    todos: tuple[TodoRecord, ...] = ()  # all of them, while one is open
    notes: tuple[Note, ...] = ()
    trace: tuple[TraceStep, ...] = ()
    shape_comments: tuple[ShapeComment, ...] = ()
    maps: tuple[AttentionMap, ...] = ()
    printed: Printed = Printed()
    source: SourceRecord | None = None
    environment: Environment | None = None
    room: RoomRecord | None = None  # of a bug hunt
    by_hand: ByHand | None = None  # where it was asked for, and there is one
    experiment: ExperimentRecord | None = None  # where there is none


class Trial(Record):
    """What forward did on an example, once: no check looked at it, and nothing is said of right or wrong.

    `output` and `weights` are of the one sample; `weights` only where the output is a mix of the inputs.
    """

    kata: str
    example: str  # what was passed in
    returned: str = ""  # "a Tensor (1, 3, 4)"; empty where it raised
    output: tuple[tuple[float | None, ...], ...] = ()
    weights: tuple[tuple[float | None, ...], ...] = ()
    reason: str | None = None  # what was raised
    line: int | None = None
    trace: tuple[TraceStep, ...] = ()
    printed: Printed = Printed()
    source: SourceRecord | None = None
    numbers: dict[str, str] = {}  # of more runs, where they were asked for
    lines: dict[str, int] = {}  # with them: the line of each concept


def encode_grade(grade: Grade) -> bytes:
    """The grade as its JSON document."""
    return msgspec.json.encode(grade)


def decode_grade(document: bytes) -> Grade:
    """A grade from its JSON document; raises `msgspec.ValidationError` on anything else."""
    return msgspec.json.decode(document, type=Grade)
