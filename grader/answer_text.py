"""The text of an answer, which every line number refers to: made by judge and worker, each for itself.

A notebook becomes one text: its code cells in order, magics and shell lines blanked out. Nothing here runs,
imports or compiles what it reads.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import msgspec

_MAGIC = re.compile(r"\s*(?:[%!]|\?{1,2}\w|\w+\?{1,2}\s*$)")
_KEPT_CELL_MAGICS = ("%%time", "%%timeit", "%%capture")
_BETWEEN_CELLS = "\n\n"


class NotANotebook(Exception):
    """The file's name says that it is a notebook, and its text is none."""


@dataclass(frozen=True)
class Chunk:
    """A piece of source that is compiled and run on its own; `first_line` is 1-based in the whole text."""

    text: str
    first_line: int


class _Cell(msgspec.Struct):
    cell_type: str
    source: str | list[str] = ""
    input: str | list[str] = ""  # what the source was called before notebooks of version 4

    @property
    def text(self) -> str:
        return "".join(self.source or self.input)


class _Sheet(msgspec.Struct):
    cells: list[_Cell]


class _Notebook(msgspec.Struct):
    cells: list[_Cell] | None = None
    worksheets: list[_Sheet] = []  # before version 4

    @property
    def code(self) -> list[str]:
        cells = (
            [cell for sheet in self.worksheets for cell in sheet.cells] if self.cells is None else self.cells
        )
        return [cell.text for cell in cells if cell.cell_type == "code"]


def chunks(source: bytes, file_name: str) -> tuple[Chunk, ...]:
    """A `.py` file in one piece, a notebook by its code cells.

    Raises `NotANotebook`, and `UnicodeDecodeError` for what is not UTF-8.
    """
    text = source.decode("utf-8-sig")
    if not file_name.lower().endswith(".ipynb"):
        return (Chunk(_with_newlines(text), 1),)
    made: list[Chunk] = []
    line = 1
    for cell in _read(text).code:
        body = _without_magics(_with_newlines(cell))
        made.append(Chunk(body, line))
        line += body.count("\n") + len(_BETWEEN_CELLS)
    return tuple(made)


def cell_starts(source: bytes, file_name: str) -> tuple[int, ...]:
    """The first line of each code cell in the whole text; nothing for what is no notebook."""
    if not file_name.lower().endswith(".ipynb"):
        return ()
    try:
        return tuple(piece.first_line for piece in chunks(source, file_name))
    except (NotANotebook, UnicodeDecodeError):
        return ()


def joined(pieces: tuple[Chunk, ...]) -> str:
    """The whole text."""
    return _BETWEEN_CELLS.join(piece.text for piece in pieces)


def answer_text(source: bytes, file_name: str) -> str:
    """The whole text; of a file that cannot be read as what its name says, the characters that are in it."""
    try:
        return joined(chunks(source, file_name))
    except (NotANotebook, UnicodeDecodeError):
        return _with_newlines(source.decode("utf-8-sig", errors="replace"))


def _with_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read(text: str) -> _Notebook:
    # `json`, as Jupyter: outputs may hold NaN, which msgspec refuses even where nobody reads it.
    try:
        notebook = msgspec.convert(json.loads(text), _Notebook)
    except (ValueError, RecursionError) as error:
        raise NotANotebook(f"this is no notebook that can be read: {str(error)[:200]}") from error
    if notebook.cells is None and not notebook.worksheets:
        raise NotANotebook("this notebook has no cells")
    return notebook


def _without_magics(cell: str) -> str:
    lines = cell.split("\n")
    head = next((line.strip() for line in lines if line.strip()), "")
    if head.startswith("%%") and not head.startswith(_KEPT_CELL_MAGICS):
        return "\n".join("" for _ in lines)
    return "\n".join("" if _MAGIC.match(line) else line for line in lines)
