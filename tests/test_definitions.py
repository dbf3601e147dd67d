"""What a file seems to define, read from its text: which of the names answers, and which only helps."""

from __future__ import annotations

import json

import pytest

from grader.definitions import definitions, without_helpers
from grader.records import Submission

TEXT = """
class Base(nn.Module):
    def softmax(self, x): ...

class Other(
    Base,
): ...

def softmax(x):
    def inner(y):
        return torch.exp(y)
    return inner(x) / helper.total(x)

total = softmax(1)
class Last(Other): softmax = 1
"""


def submission(text: str, name: str = "answer.py") -> Submission:
    return Submission(name=name, source=text.encode(), sha256="")


def notebook(text: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": text.splitlines(keepends=True)}]}, indent=1)


@pytest.mark.parametrize(
    "answer", [submission(TEXT), submission(notebook(TEXT), "a.ipynb")], ids=["text", "notebook"]
)
def test_classes_and_functions_of_the_module_are_found_with_what_they_use(answer: Submission) -> None:
    found = definitions(answer)
    assert [(one.kind, one.name) for one in found] == [
        ("class", "Base"),
        ("class", "Other"),
        ("function", "softmax"),
        ("class", "Last"),
    ]
    uses = {one.name: one.uses for one in found}
    assert "Module" in uses["Base"]
    assert "Base" in uses["Other"]
    assert {"torch", "exp", "inner", "helper"} <= uses["softmax"]
    assert "Other" in uses["Last"]


def test_what_is_defined_twice_stands_there_twice() -> None:
    assert len(definitions(submission("def f(): ...\ndef f(): ...\n"))) == 2


def test_a_base_class_and_a_helper_answer_nothing() -> None:
    found = definitions(submission(TEXT))
    assert without_helpers(["Base", "Other"], found) == ["Other"]
    assert without_helpers(["Base", "Other", "Last"], found) == ["Last"]
    assert without_helpers(["Base", "softmax"], found) == ["Base", "softmax"]


def test_who_use_one_another_both_stay() -> None:
    found = definitions(submission("def f(x): return g(x)\ndef g(x): return f(x)\n"))
    assert without_helpers(["f", "g"], found) == ["f", "g"]
