"""`%%kata v3` grades the cell; `%kata show|hint|solution|next|start|grade` do what the commands do."""

from __future__ import annotations

import html
import os
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from IPython.core.error import UsageError as Complaint
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display
from msgspec.structs import replace

from grader import grading, paths
from grader.catalog import Catalog, Kata
from grader.errors import KataError, UsageError
from grader.history import History
from grader.interview.moments import now as moment
from grader.interview.price import Deed, costs, give_help, running
from grader.interview.store import InterviewStore
from grader.memory.advice import what_next
from grader.notebook.cells import Cell, answer_of, last_with, spoken, told_in_cell
from grader.packs import load_all
from grader.practice.attempts import Graded, grade_text
from grader.practice.hints import Hint
from grader.practice.reports import document
from grader.practice.solutions import solution
from grader.records import Grade, Options, Submission
from grader.report.neutral import for_markdown, json_for_terminal

USAGE = "%%kata v3 above a cell, or %kata grade v3, show v3, hint v3, solution v3, start v3, next"
SHOWN = 3
_HEIGHT = "44rem"
FLAGS = ("--json", "--define", "--yes", "--blank", "--give-up")
SEED = "--seed="


class Words:
    """What stands behind `%kata`."""

    def __init__(self, line: str) -> None:
        words = shlex.split(line)
        self.flags = {word for word in words if word in FLAGS}
        seeds = [word.removeprefix(SEED) for word in words if word.startswith(SEED)]
        self.rest = [word for word in words if word not in self.flags and not word.startswith(SEED)]
        if any(word.startswith("-") for word in self.rest) or any(not seed.isdecimal() for seed in seeds):
            raise UsageError(f"What does '{line}' mean?", USAGE)
        self.seed = int(seeds[-1]) if seeds else None


@magics_class
class KataMagics(Magics):
    """Nothing here touches the candidate's names; only `--define` runs the cell, as it would be run."""

    @line_cell_magic
    def kata(self, line: str, cell: str | None = None) -> None:
        """Grade a cell, or do what `kata` does in a terminal."""
        try:
            words = Words(line)
            if cell is None:
                self._line(words)
            else:
                self._cell(words, cell)
        except KataError as problem:
            raise Complaint(
                f"{problem.message}\n  → {problem.fix}" if problem.fix else problem.message
            ) from None

    @cached_property
    def catalog(self) -> Catalog:
        return load_all()

    @property
    def _kernel(self) -> InteractiveShell:
        """The shell that the magic was registered with."""
        assert self.shell is not None
        return self.shell

    @property
    def _home(self) -> Path:
        return paths.home(os.environ)

    def _line(self, words: Words) -> None:
        deeds: dict[str, Callable[[Kata, Words], None]] = {
            "grade": self._grade_last,
            "show": self._show,
            "hint": self._hint,
            "solution": self._solution,
            "start": self._start,
        }
        if words.rest == ["next"]:
            self._next()
        elif len(words.rest) == 2 and words.rest[0] in deeds:
            deeds[words.rest[0]](self.catalog.get(words.rest[1]), words)
        else:
            raise UsageError("What shall be done?", USAGE)

    def _cell(self, words: Words, cell: str) -> None:
        if len(words.rest) != 1:
            raise UsageError("Which kata is this?", USAGE)
        kata = self.catalog.get(words.rest[0])
        before = self._cells()
        this = Cell(number=len(before) + 1, text=f"%%kata\n{cell}")  # the magic is its first line
        self._grade(kata, this, before, words)
        if "--define" in words.flags:
            self._kernel.run_cell(cell)

    def _grade_last(self, kata: Kata, words: Words) -> None:
        cells = self._cells()
        place = last_with(kata.class_name, cells)
        if place is None:
            raise UsageError(
                f"No cell that was executed defines {kata.class_name}.",
                f"Execute it first, or write %%kata {kata.id} above it.",
            )
        self._grade(kata, cells[place], cells[:place], words)

    def _grade(self, kata: Kata, cell: Cell, before: list[Cell], words: Words) -> None:
        answer = answer_of(cell, before)
        with self._history() as history:
            self._agree("grade", kata, history, words)
            graded = grade_text(
                answer.submission,
                kata,
                Options(seed=words.seed),
                self.catalog,
                history,
                _grade,
                folder=Path.cwd(),
            )
        if "--json" in words.flags:
            print(json_for_terminal(document(graded, "json")), end="")
            return
        self._report(replace(graded, grade=told_in_cell(graded.grade, answer)))

    def _report(self, graded: Graded) -> None:
        text, page = (spoken(document(graded, form)) for form in ("text", "html"))
        frame = (
            f'<iframe sandbox srcdoc="{html.escape(page)}" title="Report of {graded.kata.id}"'
            f' style="width: 100%; height: {_HEIGHT}; border: 0"></iframe>'
        )
        display({"text/html": frame, "text/plain": text}, raw=True)
        if graded.warning is not None:
            print(f"Note: {graded.warning.message} {graded.warning.fix}")

    def _show(self, kata: Kata, words: Words) -> None:  # noqa: ARG002
        _markdown(kata.text("brief.md"))

    def _hint(self, kata: Kata, words: Words) -> None:
        with self._history() as history, InterviewStore(history.path) as store:
            self._agree("hint", kata, history, words)
            given = give_help(kata, running(store, moment), history)
        if isinstance(given, Hint):
            _markdown(f"**{kata.id} · hint {given.number} of {given.total}**\n\n{given.text}")
            return
        parts = {"": given.sentence, "**Fix** ": given.fix, "**Why** ": given.why}
        said = [title + for_markdown(part, spans=True) for title, part in parts.items() if part]
        _markdown("\n\n".join([f"**{kata.id} · how to mend it**", *said]))

    def _solution(self, kata: Kata, words: Words) -> None:
        with self._history() as history:
            self._agree("solution", kata, history, words)
            found = solution(kata, Path.cwd(), history, give_up="--give-up" in words.flags)
        _markdown(f"```python\n{found.text}```")

    def _next(self) -> None:
        with self._history() as history, InterviewStore(history.path) as store:
            found = what_next(self.catalog, history, store, datetime.now(UTC))
        rows = (f"- **{one.kata}** {one.title}: {one.why} `%kata start {one.kata}`" for one in found[:SHOWN])
        _markdown("\n".join(rows))

    def _start(self, kata: Kata, words: Words) -> None:
        """Into a new cell, where the front end makes one of it; else to be copied."""
        stub = kata.text("blank.py" if "--blank" in words.flags else "stub.py")
        text = f"%%kata {kata.id}\n{stub}"
        if getattr(self._kernel, "kernel", None) is None:
            print(text)
        else:
            self._kernel.set_next_input(text, replace=False)

    def _agree(self, deed: Deed, kata: Kata, history: History, words: Words) -> None:
        if "--yes" in words.flags:
            return
        with InterviewStore(history.path) as store:
            on = running(store, moment)
            for cost in costs(deed, kata.id, on, history, self.catalog):
                raise UsageError(cost, "To do it all the same, add --yes.")

    def _history(self) -> History:
        return History(paths.database(self._home), lambda: datetime.now(UTC))

    def _cells(self) -> list[Cell]:
        """The cells of this session before the one that runs now, which is the last that was noted.

        IPython counts on before or after a cell runs, as its version is; what was noted has no such doubt.
        """
        past = self._kernel.history_manager
        texts = [] if past is None else past.input_hist_raw[:-1]
        return [Cell(number=number, text=text) for number, text in enumerate(texts) if number]


def _grade(submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None) -> Grade:
    """Through an engine or in a process of its own: nothing may be forked from a kernel's threads."""
    underway = grading.begin(submission, kata, catalog, options or Options())
    try:
        return underway.result()
    except KeyboardInterrupt:
        underway.cancel()
        raise


def _markdown(text: str) -> None:
    display({"text/markdown": text, "text/plain": text}, raw=True)
