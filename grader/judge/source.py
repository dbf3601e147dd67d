"""The candidate's text, searched and never parsed: definitions, returns, written numbers.

The text is anything. So every pattern, here and of a caller, reads it in one go: what it repeats without a
bound stands at the start of a line or behind a sign that cannot repeat, all else has a bound (`\\w{0,40}`).
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterator
from functools import cached_property

from grader.lexing import pieces

MAX_DEFINITIONS = 500  # that a missing one is compared with
MAX_NAME = 80
MAX_NAMES = 24  # of one line, whose definitions are looked for
LONG_LINE = 400

NAME = re.compile(r"(?:self\.)?[A-Za-z_]\w{0,60}")


class Source:
    """The lines that all line numbers refer to, counted from 1."""

    def __init__(self, text: str) -> None:
        self.lines: tuple[str, ...] = tuple(text.split("\n"))  # as Python counts

    def text(self, line: int | None) -> str:
        return self.lines[line - 1] if line is not None and 0 < line <= len(self.lines) else ""

    def find(self, pattern: str) -> int | None:
        """The first line of code (no comment, no docstring) that matches."""
        return self._first(re.compile(pattern).search, 0)

    def find_in_forward(self, pattern: str) -> int | None:
        """The first line of forward's body that matches, or of what stands behind it."""
        start = self._body_of_forward()
        return None if start is None else self._first(re.compile(pattern).search, start)

    def last_return(self) -> int | None:
        """The last `return` of forward."""
        return next(reversed(self.returns()), None)

    def returns(self) -> list[int]:
        """The lines of forward with a `return`: up to the next `def` or `class`."""
        start = self._body_of_forward()
        if start is None:
            return []
        body = itertools.takewhile(lambda line: not re.match(r"\s*(def|class)\b", line[1]), self._code(start))
        return [number for number, code in body if re.match(r"\s+return\b", code)]

    def returns_several(self) -> int | None:
        """The first `return` of forward with more than one thing in it, written on one line."""
        return next((line for line in self.returns() if _is_several(self.code(line))), None)

    def unpacks_three(self, first: int) -> int | None:
        """The first line from there on that gives three names or more at once."""
        return next((number for number, code in self._code(first - 1) if len(_assigned(code)) >= 3), None)

    def last_use_of_helper(self, line: int) -> int | None:
        """The last call of the function that the line belongs to; None in a method that torch calls."""
        above = (re.match(r"\s*def\s+(\w+)", self.code(number)) for number in range(line, 0, -1))
        name = next((found.group(1) for found in above if found), "forward")
        if name in ("forward", "__init__") or len(name) > MAX_NAME:
            return None
        called = re.compile(rf"(?<!def )\b{re.escape(name)}\(")
        return max((number for number, code in self._code(0) if called.search(code)), default=None)

    def definition_like(self, name: str) -> int | None:
        """The definition whose name looks most like `name` without being it."""
        found = (
            (match.group(1), number)
            for number, code in self._code(0)
            if (match := re.match(r"\s+def\s+(\w+)", code)) and len(match.group(1)) <= MAX_NAME
        )
        some = dict(itertools.islice(found, MAX_DEFINITIONS))
        bare = {other.strip("_"): line for other, line in some.items() if other != name}
        near = difflib.get_close_matches(name.strip("_"), bare, n=1, cutoff=0.5)
        if near:
            return bare[near[0]]
        plain = [line for other, line in some.items() if not other.startswith("__")]
        return next(reversed(plain or list(bare.values())), None)

    def code(self, line: int | None) -> str:
        """The line without its comment, none of a docstring; of a very long one its beginning."""
        return "" if line is None or not 0 < line <= len(self._codes) else self._codes[line - 1][:LONG_LINE]

    def names_on(self, line: int | None) -> list[str]:
        """The names on a line, `self.name` as one, the first ones of many."""
        return NAME.findall(self.code(line))[:MAX_NAMES]

    def definition_of(self, name: str, before: int) -> int | None:
        """Where a name gets its value: the nearest line above, for `self.name` else the first."""
        first = above = None
        for number, code in self._code(0):
            if name in _assigned(code):
                first = first or number
                above = number if number < before else above
        return above or (first if name.startswith("self.") else None)

    def changes_in_place(self, name: str) -> int | None:
        """Where the argument `name` of forward or of a function is changed: `x += …`, `x.add_(…)`."""
        if not name.isidentifier():
            return None  # a worker tells it
        n = re.escape(name)
        assigned = rf"^\s*{n}\s*(\[.*\]\s*=[^=]|(\[.*\]\s*)?[-+*/]{{1,2}}=)"
        changed = re.compile(rf"{assigned}|\b{n}(\[.{{0,80}}\])?(\.data)?\.\w{{1,40}}_\(")
        return self._first(changed.search, self._body_of_forward() or 0)

    def written_size(self) -> int | None:
        """The line with the largest whole number that is no default of a signature."""
        best: tuple[int, int] | None = None
        for number, code in self._code(0):
            if re.match(r"\s*def\b", code):
                continue
            sizes = [int(digits) for digits in re.findall(r"(?<![\w.])\d{1,4}(?![\w.])", code)]
            largest = max(sizes, default=0)
            if largest > 2 and (best is None or largest > best[0]):
                best = (largest, number)
        return best[1] if best else None

    def _body_of_forward(self) -> int | None:
        """The last line of forward's signature."""
        start = self.find(r"def forward\b")
        if start is None:
            return None
        return self._first(lambda code: code.rstrip().endswith(":"), start - 1) or start

    @cached_property
    def _codes(self) -> tuple[str, ...]:
        """The lines without what is not run: comments and docstrings."""
        read = (
            "\n" * part.count("\n") if kind in ("comment", "docstring") else part
            for kind, part in pieces("\n".join(self.lines))
        )
        return tuple("".join(read).split("\n"))

    def _code(self, after: int) -> Iterator[tuple[int, str]]:
        return enumerate(itertools.islice(self._codes, after, None), after + 1)

    def _first(self, matches: Callable[[str], object], after: int) -> int | None:
        return next((number for number, code in self._code(after) if matches(code)), None)


def _is_several(code: str) -> bool:
    """Whether a `return` gives `a, b`, `(a, b)`, `[a, b]` or `{…: a, …: b}`."""
    value = code.partition("return")[2].strip()
    wrapped = value[:1] + value[-1:] in ("()", "[]", "{}")
    depth = 0
    for place, sign in enumerate(value):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth <= wrapped:
            return True
        if wrapped and not depth and place < len(value) - 1:
            wrapped = False  # the brackets at both ends are not a pair
    return False


def _assigned(code: str) -> list[str]:
    """The names that a line assigns: `a = b = …`, `a, b = …`, `self.a: int = …`."""
    *targets, _ = code.split("=")
    names: list[str] = []
    for target in targets:
        if not target.strip() or "(" in target or target.rstrip()[-1] in "!<>+-*/%@&|^":
            break
        names += NAME.findall(target.partition(":")[0])
    return names
