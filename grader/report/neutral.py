"""Text of a candidate made harmless before it reaches a terminal or a Markdown file.

A candidate chooses the file's name, identifiers, error messages and everything that is printed. None of it
may move a cursor, set a window's title, reorder a line, start a link, or end a code block of ours. What is
taken away stays visible: `ESC` arrives as `␛`, a bidirectional override as `⟨U+202E⟩`.

HTML needs `visible` and then the template engine's escaping.
"""

from __future__ import annotations

import re
import unicodedata

LIMIT = 4_000  # characters of one text in a report
LINES = 400  # lines of one multi-line text in a report

_TAB = "    "
_JOINERS = "\u200c\u200d"  # needed to write Persian, Indic scripts and emoji; they move nothing
_MAX_MARKS = 4  # combining marks on one letter; more of them paint over the lines above

# Cc: controls (C0, DEL, C1). Cf: formats (bidirectional, zero width, tags). Cs: lone surrogates.
# Zl, Zp: separators of lines and paragraphs.
_HARMFUL = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))

_RUN_OF_MARKS = re.compile(
    r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)

# Everything that can start a span, a link, an entity, HTML, a table cell or mathematics in GitHub's Markdown.
_INLINE = re.compile(r"([\\`*_\[\]<>#|~&$!{}])")
_AUTOLINK = re.compile(r"(?i)(?<=[a-z]):(?=//)|(?<=www)\.|(?<=mailto):|(?<=xmpp):")
WORD_JOINER = "\u2060"  # ours, after an @ that is to mention nobody
_MENTION = re.compile(r"@(?=\w)")
_LINE_START = re.compile(r"^(?:([-+=])(?!\d)|(\d{1,9})([.)])(?=\s|$))")
_BETWEEN_BACKTICKS = re.compile(r"`([^`\n]+)`")
_BACKTICKS = re.compile(r"`+")


def visible(text: str, keep: str = "") -> str:
    """The text with every control, format and bidirectional character but those of `keep` shown as a sign.

    Newlines stay, tabs become four spaces, `\\r\\n` becomes `\\n`. Idempotent.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\t", _TAB)
    shown = "".join(character if character in keep else _sign(character) for character in text)
    return _RUN_OF_MARKS.sub(lambda run: run[0][:_MAX_MARKS], shown)


def _sign(character: str) -> str:
    if character == "\n" or character in _JOINERS or unicodedata.category(character) not in _HARMFUL:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"\u27e8U+{code:04X}\u27e9"


def bounded(text: str, limit: int = LIMIT) -> str:
    """At most `limit` characters of the text, and how many there were more."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… (+{len(text) - limit:,} characters)"


def one_line(text: str) -> str:
    """The text on one line: line ends and the blanks around them become one blank."""
    first, *others = text.strip("\n").split("\n")
    return " ".join([first.rstrip(), *filter(None, map(str.strip, others))]) if others else first


def for_terminal(text: str, *, limit: int = LIMIT, multiline: bool = False) -> str:
    """Text that can be written to a terminal: no escape sequence, no carriage return, no reordering.

    Without `multiline` the result is one line. Long text is cut after `limit` characters, and says so.
    """
    text = visible(bounded(text, limit))
    return text if multiline else one_line(text)


def json_for_terminal(document: str) -> str:
    """A JSON document that means the same, with what is harmful in its texts as `\\uXXXX`."""
    if document.isascii():  # JSON escapes the controls below the blank itself
        return document.replace("\x7f", "\\u007f")
    return "".join(
        character
        if character == "\n" or unicodedata.category(character) not in _HARMFUL
        else _escape(character)
        for character in document
    )


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def for_markdown(text: str, *, limit: int = LIMIT, spans: bool = False) -> str:
    """Text that stays text within a line of Markdown: no span, link, mention, HTML, entity or list.

    With `spans`, what stands between backticks becomes a code span.
    """
    text = for_terminal(text, limit=limit).lstrip()
    parts = split_code(text) if spans else (text,)
    shown = [_escaped(part) if index % 2 == 0 else code_span(part) for index, part in enumerate(parts)]
    return _LINE_START.sub(_escaped_start, "".join(shown))


def split_code(text: str) -> tuple[str, ...]:
    """Text between backticks, at the odd places; what is outside of them, at the even ones."""
    return tuple(_BETWEEN_BACKTICKS.split(text))


def _escaped(text: str) -> str:
    text = _INLINE.sub(r"\\\1", text)
    text = _AUTOLINK.sub(lambda hit: f"\\{hit[0]}", text)
    return _MENTION.sub(f"@{WORD_JOINER}", text)


def _escaped_start(hit: re.Match[str]) -> str:
    bullet, number, mark = hit.groups()
    return f"\\{bullet}" if bullet else f"{number}\\{mark}"


def fenced(text: str, language: str = "", *, limit: int = LIMIT, lines: int = LINES) -> str:
    """A Markdown code block whose fence is longer than any run of backticks inside."""
    text = visible(bounded(text, limit)).rstrip("\n")
    body = text.split("\n")
    if len(body) > lines:
        body = [*body[:lines], f"… (+{len(body) - lines:,} lines)"]
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", *body, fence])


def code_span(text: str, *, limit: int = LIMIT) -> str:
    """A Markdown code span whose ticks are longer than any run of backticks inside; never empty."""
    text = for_terminal(text, limit=limit) or " "
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    padding = " " if "`" in (text[0], text[-1]) else ""
    return f"{ticks}{padding}{text}{padding}{ticks}"
