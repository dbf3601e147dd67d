"""Bytes become a module: encodings, line ends, notebooks, and which class is taken."""

from __future__ import annotations

import json

import pytest

from grader.answer_text import answer_text
from grader.protocol import Loaded
from grader.worker.loader import LoadError, load

CLASS = """\
import torch
from torch import nn


class Wanted(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.layer = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        return self.layer(x)
"""


def loaded(text: str | bytes, name: str = "answer.py") -> Loaded:
    return load(text.encode() if isinstance(text, str) else text, name, "Wanted")[1]


def problem(text: str | bytes, name: str = "answer.py") -> tuple[str, int | None]:
    with pytest.raises(LoadError) as caught:
        loaded(text, name)
    return caught.value.failure.type, caught.value.failure.line


def notebook(*cells: str | tuple[str, str]) -> bytes:
    made = []
    for cell in cells:
        kind, source = ("code", cell) if isinstance(cell, str) else cell
        code = {"outputs": [], "execution_count": None} if kind == "code" else {}
        made.append({"cell_type": kind, "source": source, "metadata": {}, **code})
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}).encode()


def test_the_signature_is_told() -> None:
    found = loaded(CLASS)
    assert [(a.name, a.default) for a in found.constructor] == [("hidden_dim", 728), ("dropout_rate", 0.1)]
    assert [(a.name, a.has_default) for a in found.forward] == [("x", False), ("attention_mask", True)]
    assert (found.own_constructor, found.own_forward) == (True, True)


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + CLASS.encode(),
        CLASS.replace("\n", "\r\n").encode(),
        CLASS.replace("\n", "\r").encode(),
        CLASS.replace("    ", "\t").encode(),
        ("# 注意 ü €\n" + CLASS).encode(),
        CLASS.rstrip("\n").encode(),
        ("# %%\n" + CLASS + "\n# %%\n").encode(),
    ],
    ids=["bom", "crlf", "cr", "tabs", "unicode", "no last newline", "cells in a script"],
)
def test_every_kind_of_text_file_is_read(text: bytes) -> None:
    assert loaded(text).class_name == "Wanted"


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("x = 1\nclass Wanted(:\n", "SyntaxError", 2),
        ("if True:\n\tx = 1\n        y = 1\n", "TabError", 3),
        ("def f():\nreturn 1\n", "IndentationError", 2),
        ("import nothing_of_this_name\n", "ModuleNotFoundError", 1),
        ("x = 1\n1 / 0\n", "ZeroDivisionError", 2),
        ("raise SystemExit\n", "SystemExit", 1),
        ("class Wanted:\n    pass\n", "NotAModule", 1),
        ("Wanted = 3\n", "NotAModule", 1),
        ("", "ClassMissing", None),
    ],
)
def test_what_cannot_be_loaded_has_a_kind_and_a_line(text: str, kind: str, line: int | None) -> None:
    assert problem(text) == (kind, line)


def test_bytes_that_are_no_text_are_a_problem_and_no_crash() -> None:
    assert problem(b"\xff\xfe\x00")[0] == "UnicodeDecodeError"
    assert problem(b"{", "answer.ipynb")[0] == "NotANotebook"


def test_code_after_the_class_that_raises_is_told_and_does_not_matter() -> None:
    found = loaded(CLASS + "\n\nprint(Wanted().cuda_or_not)\n")
    assert found.raised_later is not None
    assert found.raised_later.type == "AttributeError"
    assert found.raised_later.line == CLASS.count("\n") + 3


def test_of_two_definitions_the_last_one_counts() -> None:
    found, _ = load((CLASS + CLASS.replace("728", "99")).encode(), "answer.py", "Wanted")
    assert found().layer.in_features == 99


def test_one_other_class_is_taken_two_are_not_guessed_between() -> None:
    assert loaded(CLASS.replace("Wanted", "Other")).class_name == "Other"
    both = CLASS.replace("Wanted", "One") + "\n\nclass Two(One):\n    pass\n"
    with pytest.raises(LoadError) as caught:
        loaded(both)
    assert caught.value.failure.classes == ("One", "Two")


def test_a_name_that_differs_in_case_alone_is_preferred() -> None:
    assert (
        loaded(CLASS.replace("Wanted", "wanted") + "\n\nclass Helper(nn.Module):\n    pass\n").class_name
        == "wanted"
    )


@pytest.mark.parametrize(("name", "taken"), [("Wan_ted", True), ("Wantd", True), ("Wanted2", False)])
def test_a_misspelt_name_is_preferred_and_another_number_is_another_class(name: str, taken: bool) -> None:
    text = CLASS.replace("Wanted", name) + "\n\nclass Helper(nn.Module):\n    pass\n"
    if taken:
        assert loaded(text).class_name == name
    else:
        assert problem(text)[0] == "ClassMissing"


def test_imported_modules_are_not_the_candidate_s() -> None:
    assert problem("from torch.nn import Linear, Dropout\n")[0] == "ClassMissing"


def test_an_inherited_forward_and_a_missing_one() -> None:
    base = CLASS.replace("Wanted", "Base")
    inherited = loaded(base + "\n\nclass Wanted(Base):\n    pass\n")
    assert (inherited.own_constructor, inherited.own_forward) == (True, True)
    assert loaded(CLASS.replace("def forward", "def foward")).own_forward is False
    assert loaded(CLASS.replace("def __init__", "def __init")).own_constructor is False


def test_a_notebook_runs_its_code_cells_in_order() -> None:
    cells = ("markdown", "# Title"), "%matplotlib inline\n!ls\n%%time\nx = 1", CLASS, "1 / 0", "y = 2"
    file = notebook(*cells)
    found = loaded(file, "answer.ipynb")
    assert found.class_name == "Wanted"
    assert found.raised_later is not None
    assert answer_text(file, "answer.ipynb").split("\n")[found.raised_later.line - 1] == "1 / 0"  # type: ignore[operator]


def test_cell_magics_of_another_language_are_left_out() -> None:
    assert loaded(notebook("%%bash\nrm -rf nothing", CLASS), "answer.ipynb").class_name == "Wanted"


def test_an_error_in_one_cell_does_not_keep_the_next_from_running() -> None:
    assert loaded(notebook("import nothing_of_this_name", CLASS), "answer.ipynb").class_name == "Wanted"
