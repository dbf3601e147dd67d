"""An exception of the candidate's as a record: its own frames, near names, bounded texts."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from grader.protocol import MAX_TEXT, Failure
from grader.worker.failures import MAX_FRAMES, describe

NAME = "answer.py"


def raised(code: str, **names: object) -> Failure:
    scope = {"torch": torch, "nn": nn, **names}
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - whatever the code raises is the case
        exec(compile(code, NAME, "exec"), scope)
    return describe(caught.value, "forward", NAME)


def test_only_the_candidate_s_frames_are_told() -> None:
    found = raised("def f():\n    torch.ones(2) @ torch.ones(3)\n\nf()\n")
    assert [(frame.line, frame.function) for frame in found.frames] == [(4, "<module>"), (2, "f")]
    assert (found.line, found.type, found.stage) == (2, "RuntimeError", "forward")


def test_deep_recursion_keeps_its_last_frames() -> None:
    found = raised("def f():\n    f()\nf()\n")
    assert found.type == "RecursionError"
    assert len(found.frames) == MAX_FRAMES


def test_a_syntax_error_has_line_and_column() -> None:
    found = raised("eval('1 +')")
    assert (found.type, found.line) == ("SyntaxError", 1)
    assert found.column is not None


@pytest.mark.parametrize(
    ("code", "name", "owner", "near"),
    [
        ("nn.Lineer(2, 2)", "Lineer", "module torch.nn", "Linear"),
        ("torch.sofmax", "sofmax", "module torch", "softmax"),
        ("torch.ones(2).tranpose(0, 1)", "tranpose", "Tensor", "transpose"),
        ("None.shape", "shape", "None", None),
        ("import torhc", "torhc", "import", "torch"),
        ("from torch.nn import Linaer", "Linaer", "module torch.nn", "Linear"),
        ("value = 1\nvalues", "values", "scope", "value"),
        ("m = A()\nm.k_proj", "k_proj", "self", "key_proj"),
    ],
)
def test_a_missing_name_has_its_owner_and_names_like_it(
    code: str, name: str, owner: str, near: str | None
) -> None:
    class A(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.key_proj = nn.Linear(2, 2)

    A.__module__ = "candidate"
    found = raised(code, A=A)
    assert (found.name, found.owner) == (name, owner)
    assert near is None or near in found.near


def test_texts_are_bounded_and_a_str_that_raises_does_not_matter() -> None:
    assert len(raised("raise ValueError('x' * 99999)").text) == MAX_TEXT
    bad = "class E(Exception):\n    def __str__(self):\n        raise SystemExit\nraise E\n"
    assert raised(bad).text == "(the message itself raised SystemExit)"


def test_what_came_from_elsewhere_has_no_line() -> None:
    assert describe(ValueError("x"), "load", NAME).line is None
