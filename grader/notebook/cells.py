"""A cell as an answer, and a grade of it told in the cell's own lines. The cell is read, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from grader.records import Grade, Record, Submission
from grader.snapshot import submission_of

MAGIC = re.compile(r"[ \t]*(?:%|!|\?)")
_KATA = re.compile(r"[ \t]*%%kata\b")


class Cell(Record):
    """A cell that was executed: its number, and its text as it stands in the notebook."""

    number: int
    text: str


class CellAnswer(Record):
    """What is graded: `above` lines of imports, then the cell. `number` is the cell's."""

    submission: Submission
    number: int
    above: int

    @property
    def name(self) -> str:
        """As IPython calls the cell."""
        return f"In [{self.number}]"


def answer_of(cell: Cell, before: Sequence[Cell]) -> CellAnswer:
    """The cell, with the imports of the cells executed before it; raises `UnreadableSubmission`.

    Lines with a magic are blank: a line has the number that it has in the notebook.
    """
    imports = list(dict.fromkeys(line for other in before for line in _imports(other.text)))
    imports.sort(key=lambda line: not line.startswith("from __future__"))  # they come first in a file
    text = "\n".join([*imports, _without_magics(cell.text)])
    source = text.encode()
    submission = submission_of(Path(f"cell-{cell.number}.py"), lambda limit: source[:limit])
    return CellAnswer(submission=submission, number=cell.number, above=len(imports))


def last_with(name: str, cells: Sequence[Cell]) -> int | None:
    """The place of the last cell that defines the class, or the function, of that name."""
    wanted = re.compile(rf"^(?:class|def)[ \t]+{re.escape(name)}\b", re.MULTILINE)
    return next((place for place in reversed(range(len(cells))) if wanted.search(cells[place].text)), None)


def told_in_cell(grade: Grade, answer: CellAnswer) -> Grade:
    """The same grade, with the cell's name, the cell's text and its lines."""
    changed = _told(msgspec.to_builtins(grade), answer)
    if changed["source"] is not None:
        lines = changed["source"]["text"].split("\n")
        changed["source"] |= {"name": answer.name, "text": "\n".join(lines[answer.above :])}
    return msgspec.convert(changed, Grade)


def spoken(document: str) -> str:
    """`In [7]:3` as one says it."""
    return re.sub(r"(In \[\d+\]):(\d+)", r"\1, line \2", document)


def _told(value: Any, answer: CellAnswer) -> Any:
    if isinstance(value, dict):
        told = {key: _told(inner, answer) for key, inner in value.items()}
        if isinstance(told.get("line"), int):
            told["line"] = max(1, told["line"] - answer.above)
        return told
    if isinstance(value, list | tuple):
        return [_told(inner, answer) for inner in value]
    return _renamed(value, answer) if isinstance(value, str) else value


def _renamed(text: str, answer: CellAnswer) -> str:
    name = answer.submission.name

    def moved(place: re.Match[str]) -> str:
        return f"{answer.name}:{max(1, int(place[1]) - answer.above)}"

    text = re.sub(rf"\b{re.escape(name)}:(\d{{1,6}})", moved, text)
    return re.sub(rf"\b{re.escape(name)}\b", answer.name, text)


def _imports(cell: str) -> Iterator[str]:
    """The import statements at the left margin, one line each; none of a cell that is no Python."""
    try:
        body = ast.parse(_without_magics(cell)).body
    except (SyntaxError, ValueError):
        return
    yield from (ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom))


def _without_magics(cell: str) -> str:
    """The cell's Python; of a cell that another magic has, nothing."""
    lines = cell.split("\n")
    if lines[0].lstrip().startswith("%%") and not _KATA.match(lines[0]):
        return ""
    return "\n".join("" if MAGIC.match(line) else line for line in lines)
