"""What the text of an answer seems to define, and what helps what. It is searched, never parsed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from grader.records import Record, Submission

Kind = Literal["class", "function"]

_STATEMENT = re.compile(r"([ \t]*+)(class|def)[ \t]++(\w++)")
_USED = re.compile(r"(?<!\w)(\w++)[(.]")
_WORD = re.compile(r"\w++")
_GOES_ON = ("#", ")", "]", "}")  # a line at the left that ends no definition
# Where a line of code may begin or end in a notebook's JSON: at a newline, real or escaped, and at a quote.
_IN_JSON = re.compile(r'\n|\\n|(?<!\\)"')
_JSON = " \t,:[]{}"


class Definition(Record):
    """A class, or a function of the module, with the names that it calls, looks into or derives from."""

    kind: Kind
    name: str
    uses: frozenset[str]


def definitions(submission: Submission) -> tuple[Definition, ...]:
    """All of them in order; what is defined twice stands there twice."""
    found: list[tuple[Kind, str, set[str]]] = []
    around: list[tuple[int, set[str]]] = []  # definitions that go on: their indentation, and what they use
    bases: set[str] | None = None  # of a class whose brackets are open
    for line in _lines(submission):
        text = line.lstrip(" \t")
        indent = len(line) - len(text)
        if text and not text.startswith(_GOES_ON) and bases is None:
            around = [(left, uses) for left, uses in around if left < indent]
        statement = _STATEMENT.match(line)
        rest = line if statement is None else line[statement.end() :]
        if statement is not None:
            kind: Kind = "class" if statement[2] == "class" else "function"
            bases = None
            if kind == "class" or indent == 0:  # a method of a kata's name is no answer to it
                uses: set[str] = set()
                found.append((kind, statement[3], uses))
                around.append((indent, uses))
                bases = uses if kind == "class" and rest.startswith("(") else None
        if bases is not None:
            bases.update(_WORD.findall(rest.partition(")")[0]))
            bases = None if ")" in rest else bases
        names = _USED.findall(rest)
        for _, uses in around:
            uses.update(names)
    return tuple(Definition(kind=kind, name=name, uses=frozenset(uses)) for kind, name, uses in found)


def without_helpers(wanted: Sequence[str], found: Sequence[Definition]) -> list[str]:
    """Those of the wanted names that none of the others uses: a base class and a helper answer nothing."""
    uses: dict[str, set[str]] = {name: set() for name in wanted}
    for definition in found:
        if definition.name in uses:
            uses[definition.name] |= definition.uses
    return [
        name
        for name in wanted
        if not any(name in uses[other] and other not in uses[name] for other in wanted if other != name)
    ]


def _lines(submission: Submission) -> list[str]:
    text = submission.source.decode("utf-8", "replace")
    if not submission.name.lower().endswith(".ipynb"):
        return text.splitlines()
    return [line for line in _IN_JSON.split(text) if line.strip(_JSON)]
