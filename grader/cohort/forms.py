"""The form of an answer: what is left of it when its own names are changed and its statements moved.

A statement is its tokens, with every name of the author's own replaced by where that name stands, over all
statements, in any order. With each goes the one that last wrote what it reads: so what may change places is
free to, and what may not is not. Layout, comments and documentation do not count. The text may be anything.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

from grader.lexing import Kind, pieces

MOST_PIECES = 40_000  # of one answer; what is longer is compared by its beginning
ROUNDS = 3  # how far around a name is looked at, in steps from statement to statement
Token = tuple[Kind, str]
Statement = list[Token]
_Name = tuple[int, str]  # the function it belongs to, and itself; attributes and functions belong to 0

_PASSED_OVER: frozenset[Kind] = frozenset({"comment", "docstring"})
_WORDS: frozenset[Kind] = frozenset({"word", "name", "builtin"})
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_BEFORE_A_PART = frozenset({"", "=", "return", "assert", "yield", "in", ":", ",", "(", "[", "{"})
_AFTER_A_PART = frozenset({"", ",", ":", ")", "]", "}"})
_IMPORTS = frozenset({"import", "from"})
_DEFINE = frozenset({"def", "class"})


def tokens(source: str) -> list[str]:
    """The words of a source, one after another, as they are but for layout."""
    return [text for _, statement in _lines(source) for _, text in statement]


def form(source: str) -> tuple[str, ...]:
    """The statements of a source, each as a digest, sorted; imports do not count."""
    lines = [line for line in _lines(source) if line[1][0][1] not in _IMPORTS]
    whole = [statement for _, statement in lines]
    named = _named(lines)
    labels: dict[_Name, str] = defaultdict(str)
    for _ in range(ROUNDS):
        contexts: dict[_Name, list[str]] = defaultdict(list)
        for statement, names in zip(whole, named, strict=True):
            for name in set(names):
                if name is not None:
                    pairs = _pairs(statement, names)
                    marked = ("@" if own == name else _shown(token, own, labels) for token, own in pairs)
                    contexts[name].append(digest(marked))
        labels.update({name: digest(sorted(found)) for name, found in contexts.items()})
    shown = [
        digest(_shown(token, own, labels) for token, own in _pairs(statement, names))
        for statement, names in zip(whole, named, strict=True)
    ]
    return tuple(
        sorted(
            digest((one, *before)) for one, before in zip(shown, _writers(whole, named, shown), strict=True)
        )
    )


def _lines(source: str) -> list[tuple[int, Statement]]:
    """The logical lines, and how far each is indented. What a formatter adds is left out: brackets around a
    whole value, a comma before a bracket closes.
    """
    found: list[tuple[int, Statement]] = []
    now: Statement = []
    depth = indent = 0
    for kind, text in islice(pieces(source), MOST_PIECES):
        if kind in _PASSED_OVER or text == "\\":
            continue
        if kind == "space" or (text == ";" and depth == 0):
            if depth == 0 and now and ("\n" in text or text == ";"):
                found.append((indent, now))
                now = []
            if "\n" in text:
                indent = len(text) - text.rfind("\n") - 1
            continue
        if text in _CLOSE:
            depth = max(0, depth - 1)
            if now and now[-1][1] == ",":
                now.pop()
        elif text in _OPEN:
            depth += 1
        now.append((kind, _unquoted(text) if kind == "string" else text))
    return [(far, _bare(statement)) for far, statement in (*found, (indent, now)) if statement]


def _unquoted(text: str) -> str:
    body = text.lstrip("rRbBuUfF")
    formatted = "f" if "f" in text[: len(text) - len(body)].lower() else ""
    return f"{formatted}'{body.strip(body[:1])}'"


def _bare(statement: Statement) -> Statement:
    """The statement without brackets around a whole part of it: `return (a + b)`, `f((a + b), c)`."""
    texts = ["", *(text for _, text in statement), ""]
    opened: list[tuple[int, bool]] = []  # where, and whether a comma is directly within
    dropped: set[int] = set()
    for at, (_, text) in enumerate(statement, 1):
        if text in _OPEN:
            opened.append((at, False))
        elif text == "," and opened:
            opened[-1] = (opened[-1][0], True)
        elif text in _CLOSE and opened:
            start, has_comma = opened.pop()
            is_whole = texts[start - 1] in ("=", "return") and not texts[at + 1]
            is_part = texts[start - 1] in _BEFORE_A_PART and texts[at + 1] in _AFTER_A_PART
            if texts[start] == "(" and start + 1 < at and (is_whole or (is_part and not has_comma)):
                dropped |= {start, at}
    return [token for at, token in enumerate(statement, 1) if at not in dropped]


def _pairs(statement: Statement, names: Sequence[_Name | None]) -> Iterator[tuple[Token, _Name | None]]:
    return zip(statement, names, strict=True)


def _shown(token: Token, name: _Name | None, labels: dict[_Name, str]) -> str:
    if token[0] == "string" and token[1][0] == "f":
        return "f"  # names stand in it
    return token[1] if name is None else f"name {labels[name]}"


def _named(lines: Sequence[tuple[int, Statement]]) -> list[list[_Name | None]]:
    """Beside every token, which name of the author's own it is."""
    whole = [statement for _, statement in lines]
    own = frozenset(name for statement in whole for name in _defined(statement))
    own = frozenset(name for name in own if not (name.startswith("__") and name.endswith("__")))
    own -= {"self", "forward"}
    functions: list[tuple[int, int]] = []  # how far each is indented, and its number
    told = []
    for number, (indent, statement) in enumerate(lines, 1):
        while functions and indent <= functions[-1][0]:
            functions.pop()
        if "def" in (text for _, text in statement[:2]):
            functions.append((indent, number))
        function = functions[-1][1] if functions else -1  # the module itself
        end = _targets([text for _, text in statement])
        told.append([_name(statement, at, own, function, end) for at in range(len(statement))])
    return told


def _name(statement: Statement, at: int, own: frozenset[str], function: int, end: int) -> _Name | None:
    kind, text = statement[at]
    if kind not in _WORDS or text not in own:
        return None
    before = statement[at - 1][1] if at else ""
    if before in _DEFINE:
        return 0, text
    if before == ".":
        return (0, text) if at > 1 and statement[at - 2][1] == "self" else None
    after = statement[at + 1][1] if at + 1 < len(statement) else ""
    is_keyword = (
        after == "=" and before in ("(", ",") and at > end and statement[0][1] not in ("def", "async")
    )
    return None if is_keyword else (function, text)


def _defined(statement: Statement) -> Iterator[str]:
    """The names that a statement gives something to."""
    texts = [text for _, text in statement]
    yield from (name for at, name in _words(statement, 0, len(statement)) if at and texts[at - 1] in _DEFINE)
    if "def" in texts[:2]:
        yield from (
            name for at, name in _words(statement, 2, len(statement)) if texts[at - 1] in ("(", ",", "*")
        )
        return
    for at, text in enumerate(texts):
        if text in ("for", "lambda"):
            end = next((to for to in range(at, len(texts)) if texts[to] in ("in", ":")), at)
            yield from (name for _, name in _words(statement, at + 1, end))
        elif text == "as":
            yield from (name for _, name in _words(statement, at + 1, at + 2))
        elif text == ":=" and at:
            yield texts[at - 1]
    end = _targets(texts)
    end = texts.index(":", 0, end) if ":" in texts[:end] else end  # what follows is the kind of it
    for at, name in _words(statement, 0, end):
        if at == 0 or texts[at - 1] != "." or texts[at - 2] == "self":
            yield name


def _targets(texts: Sequence[str]) -> int:
    """Where the targets of an assignment end; 0 when it is none."""
    depth, end = 0, 0
    for at, text in enumerate(texts):
        depth += (text in _OPEN) - (text in _CLOSE)
        if text == "=" and depth == 0:
            end = at
    return end


def _words(statement: Statement, start: int, end: int) -> Iterator[tuple[int, str]]:
    return ((at, text) for at, (kind, text) in enumerate(statement[:end]) if at >= start and kind in _WORDS)


def _writers(
    whole: Sequence[Statement], named: Sequence[Sequence[_Name | None]], shown: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """For each statement, those that last wrote the locals it has; attributes are written once."""
    last: dict[_Name, str] = {}
    for statement, names, digest in zip(whole, named, shown, strict=True):
        yield tuple(sorted(last[name] for name in set(names) if name is not None and name in last))
        for name in names[: _targets([text for _, text in statement])]:
            if name is not None and name[0]:
                last[name] = digest


def digest(words: Sequence[str] | Iterator[str]) -> str:
    """Eight bytes of the words, in their order."""
    return hashlib.blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
