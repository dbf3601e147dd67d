"""A cell as an answer: what goes along, which lines it has, and how a grade is told in them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from grader.notebook.cells import Cell, answer_of, last_with, spoken, told_in_cell
from grader.records import CheckRecord, Diagnosis, Grade, SourceRecord
from grader.snapshot import NotAnAnswer

CELL = "%%kata v3\n\nclass SelfAttentionV3(nn.Module):\n    ...\n"


def cells(*texts: str) -> list[Cell]:
    return [Cell(number=number, text=text) for number, text in enumerate(texts, start=1)]


def text_of(cell: str, *before: str) -> str:
    return answer_of(Cell(number=7, text=cell), cells(*before)).submission.source.decode()


def test_the_imports_of_cells_before_go_along_once_and_nothing_else_does() -> None:
    before = (
        "import torch\nx = 1\nprint(x)",
        "from torch import (\n    nn,\n    Tensor,\n)\nimport torch",
        "def f():\n    import os",
        "from __future__ import annotations",
        "%%bash\nimport sys",
        "%matplotlib inline\nimport math",
        "this is ! no python\nimport json",
    )
    expected = [
        "from __future__ import annotations",
        "import torch",
        "from torch import nn, Tensor",
        "import math",
    ]
    assert text_of(CELL, *before).splitlines()[:4] == expected
    assert text_of(CELL, *before).endswith("\n\n\nclass SelfAttentionV3(nn.Module):\n    ...\n")


def test_a_line_has_the_number_that_it_has_in_the_notebook() -> None:
    text = text_of(CELL)
    assert text.splitlines().index("class SelfAttentionV3(nn.Module):") + 1 == 3


def test_magics_and_shell_lines_are_blank() -> None:
    assert text_of("%time\nimport torch\n!ls\n?torch\nx = 1") == "\nimport torch\n\n\nx = 1"


def test_an_empty_cell_is_no_answer() -> None:
    with pytest.raises(NotAnAnswer):
        answer_of(Cell(number=1, text="%%kata v3\n"), [])


def test_the_last_definition_counts() -> None:
    found = cells(
        "class SelfAttentionV3: ...", "x = 1", CELL, "# class SelfAttentionV3", "class SelfAttentionV33: ..."
    )
    assert last_with("SelfAttentionV3", found) == 2
    assert last_with("SelfAttentionV1", found) is None
    assert last_with("softmax", cells("def softmax(x): ...", "softmax(x)")) == 0


def test_a_grade_is_told_in_the_cells_own_lines(make_grade: Callable[..., Grade]) -> None:
    answer = answer_of(Cell(number=7, text=CELL), cells("import torch\nfrom torch import nn"))
    grade = make_grade("v3", missed=("scale",))
    source = SourceRecord(name="cell-7.py", sha256="a" * 64, text=answer.submission.source.decode())
    found = told_in_cell(
        Grade(
            kata="v3",
            verdict="failed",
            seed=1,
            reason="cell-7.py:5: TODO in cell-7.py; mycell-7.py:5 is another",
            concepts=grade.concepts,
            checks=(CheckRecord(id="a", concept="scale", title="A", status="failed", line=1),),
            diagnosis=(
                Diagnosis(mistakes=("a",), concept="scale", sentence="At cell-7.py:6.", fix="", line=6),
            ),
            source=source,
        ),
        answer,
    )
    assert found.reason == "In [7]:3: TODO in In [7]; mycell-7.py:5 is another"
    assert (found.diagnosis[0].line, found.diagnosis[0].sentence) == (4, "At In [7]:4.")
    assert found.checks[0].line == 1  # an import from another cell: there is no such line here
    assert found.source is not None
    assert found.source.text.splitlines() == ["", "", *CELL.splitlines()[2:]]
    assert spoken(found.reason).startswith("In [7], line 3: TODO")


def test_without_ipython_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['IPython'] = None\n"
        "import grader.notebook\n"
        "try:\n    grader.notebook.load_ipython_extension(None)\n"
        "except Exception as error:\n    print(error.message, error.fix)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "IPython" in said
    assert "pip install 'attention-kata[notebook]'" in said
