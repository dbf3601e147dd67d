"""Python text cut into pieces: all of it, in order, each piece of the kind that a reader sees."""

from __future__ import annotations

import pytest

from grader.lexing import Kind, pieces

CLASS = '''@torch.no_grad()
class Head(nn.Module):  # one
    """Reads."""

    def forward(self, x):
        return super().forward(x * 2.5e-3) != "a" if x is None else f'b{x}'
'''


def kinds(text: str) -> list[tuple[Kind, str]]:
    return [(kind, part) for kind, part in pieces(text) if kind != "space"]


@pytest.mark.parametrize("text", [CLASS, "", "'open", '"""open', "\\", "\x00\u00e9\U0001f600", "1__a..5e-"])
def test_nothing_is_lost(text: str) -> None:
    assert "".join(part for _, part in pieces(text)) == text


def test_a_class_reads_as_one() -> None:
    found = kinds(CLASS)
    assert ("keyword", "class") in found
    assert ("name", "Head") in found
    assert ("comment", "# one") in found
    assert ("docstring", '"""Reads."""') in found
    assert ("number", "2.5e-3") in found
    assert ("string", "f'b{x}'") in found
    assert ("builtin", "self") in found
    assert ("word", "forward") in found
    assert ("sign", "!=") in found


def test_a_string_that_is_not_the_first_of_its_line_is_no_documentation() -> None:
    assert kinds('x = """a"""')[-1] == ("string", '"""a"""')
    assert kinds('"""a"""')[-1] == ("docstring", '"""a"""')
