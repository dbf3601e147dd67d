"""What a report tells beyond the grade itself: how the candidate got there, and how to see it again."""

from __future__ import annotations

from grader.records import Record


class ReportContext(Record):
    """Everything a report needs that is not in the `Grade`. All of it may be missing."""

    hints: tuple[str, ...] | int = ()  # the texts of the hints that were taken, or how many there were
    fixes: tuple[str, ...] = ()  # mistakes whose fix was asked for: each counts as a hint
    without_fixes: bool = False  # none is in the report at all, folded or not
    fixes_on_request: bool = False  # a fix is shown when it is among `fixes`; else all are
    cells: tuple[int, ...] = ()  # of a notebook: the first line of each code cell in the joined text
    brief: bool = False  # the short form in the terminal: the verdict, what is wrong first, what to type
    seconds_taken: float | None = None  # the candidate's time, not the grader's
    paused: bool = False  # there were pauses, and they are not in it
    attempt: int | None = None  # counted from 1
    previous_points: int | None = None  # of the attempt before this one
    when: str | None = None  # ISO 8601
    command: str = ""  # reproduces this grade: `kata grade FILE v3 --seed 20481`
    file: str = ""  # the file as the candidate named it; default: the base name in the grade
    show_printed: bool = False  # what the code printed explains a failure, or was asked for
    verbose: bool = False  # the long form in the terminal: also the walk-through, all maps, what was printed
    questions: tuple[str, ...] = ()  # what an interviewer could ask next
    next_kata: str | None = None  # id of the kata to go on with after a pass
