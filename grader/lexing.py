"""Python text cut into pieces, as a highlighted line or a fingerprint needs them; the text may be anything.

One pattern that never looks back: each character is read once. (A general highlighter looks ahead from every
line; on a few thousand blank lines that takes minutes.)
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from typing import Literal

Kind = Literal[
    "space", "comment", "docstring", "string", "number", "keyword", "builtin", "name", "word", "sign"
]

# A string that is never closed ends with its line, in three quotes with the text. The inside is atomic:
# up to Python 3.11.4 a possessive repetition forgets a group's alternatives and matches nothing.
_PIECE = re.compile(
    r"""
    (?P<space>\s+)
    | (?P<comment>\#[^\n]*+)
    | (?P<string>[rRbBuUfF]{0,2}(?:
          \"{3}(?>(?:[^"\\]|\\.|"(?!""))*)(?:\"{3}|\\?\Z)
        | '{3}(?>(?:[^'\\]|\\.|'(?!''))*)(?:'{3}|\\?\Z)
        | "(?>(?:[^"\\\n]|\\.)*)"?
        | '(?>(?:[^'\\\n]|\\.)*)'?
      ))
    | (?P<number>\d[\w.]*+(?:(?<=[eE])[-+]\d\w*+)?)
    | (?P<word>\w++)
    | (?P<sign>[!=<>:]=|<<|>>|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TRIPLE = re.compile("""[rRbBuUfF]{0,2}(?:\"{3}|'{3})""")
_KEYWORDS = frozenset(keyword.kwlist)
_BUILTINS = frozenset(name for name in dir(builtins) if name.islower() and name[0] != "_") | {"self", "cls"}


def pieces(text: str) -> Iterator[tuple[Kind, str]]:
    """All of the text, in order. A `name` is one that is being defined, or a decorator's."""
    last, starts_line = "", True
    for found in _PIECE.finditer(text):
        part = found.group()
        kind = _kind(str(found.lastgroup), part, last, starts_line)
        yield kind, part
        if kind == "space":
            starts_line = starts_line or "\n" in part
        else:
            last, starts_line = ("@" if part == "@" and starts_line else part.replace("@", "")), False


def _kind(group: str, part: str, last: str, starts_line: bool) -> Kind:
    match group:
        case "string":
            return "docstring" if starts_line and _TRIPLE.match(part) else "string"
        case "word":
            return _kind_of_word(part, last)
        case "space" | "comment" | "number":
            return group
    return "sign"


def _kind_of_word(word: str, last: str) -> Kind:
    if word in _KEYWORDS:
        return "keyword"
    if last in ("def", "class", "@"):
        return "name"
    return "builtin" if word in _BUILTINS and last != "." else "word"
