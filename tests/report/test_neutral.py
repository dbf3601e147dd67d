"""Text of a candidate cannot move a cursor, reorder a line, start a link or leave a code block."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.report.neutral import bounded, code_span, fenced, for_markdown, for_terminal, visible


@pytest.mark.parametrize(
    ("harmful", "shown"),
    [
        ("\x1b[2J\x1b[31mred", "␛[2J␛[31mred"),
        ("\x1b]0;a window title\x07", "␛]0;a window title␇"),
        ("\x1b]8;;https://example.org\x1b\\link", "␛]8;;https://example.org␛\\link"),
        ("passed\rfailed", "passed␍failed"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("a\x7fb\x00c\x08d", "a␡b␀c␈d"),
        ("user\u202egnp.exe", "user⟨U+202E⟩gnp.exe"),
        ("\u2066isolated\u2069", "⟨U+2066⟩isolated⟨U+2069⟩"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("lone \ud800 surrogate", "lone ⟨U+D800⟩ surrogate"),
        ("line\u2028separator", "line⟨U+2028⟩separator"),
    ],
)
def test_what_could_act_on_a_terminal_becomes_a_visible_sign(harmful: str, shown: str) -> None:
    assert for_terminal(harmful) == shown


@pytest.mark.parametrize("text", ["", "plain", "√hidden_dim · Qᵀ", "naïve café", "日本語", "می\u200cشود"])
def test_honest_text_stays_as_it_is(text: str) -> None:
    assert for_terminal(text) == text


def test_a_text_becomes_one_line_unless_several_are_asked_for() -> None:
    assert for_terminal("one  \n  two\r\nthree") == "one two three"
    assert for_terminal("one\r\n\ttwo", multiline=True) == "one\n    two"


def test_a_byte_order_mark_at_the_start_is_not_shown() -> None:
    assert visible("\ufeffimport torch") == "import torch"


def test_a_tower_of_combining_marks_is_cut() -> None:
    assert len(for_terminal("a" + "\u0301" * 500)) < 10


def test_long_text_is_cut_and_says_how_much_is_missing() -> None:
    assert bounded("x" * 5000, 100) == "x" * 100 + "… (+4,900 characters)"
    assert len(for_terminal("x" * 1_000_000)) < 5000


@given(st.text())
def test_nothing_that_reaches_a_terminal_is_a_control_or_a_format_character(text: str) -> None:
    shown = for_terminal(text)
    allowed = "\u200c\u200d"
    assert [
        c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in allowed
    ] == []
    assert visible(shown) == shown
    shown.encode()


MARKUP = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![](https://example.org/pixel.png)",
    "https://example.org and www.example.org",
    "<https://example.org>",
    "**bold** _it_ ~~gone~~ `code`",
    "&lt;b&gt; &#60;",
    "# heading",
    "- item",
    "1. item",
    "---",
    "> quote",
    "    indented",
    "| a | b |",
    "back\\slash \\<b>",
]


@pytest.mark.parametrize("text", MARKUP)
def test_markup_in_a_text_stays_text_in_markdown(text: str) -> None:
    markdown = MarkdownIt("gfm-like")
    tokens = markdown.parse(for_markdown(text))

    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == text.strip()


def test_mentions_notify_nobody() -> None:
    assert not re.search(r"@\w", for_markdown("thanks @somebody"))
    assert for_markdown("query @ key") == "query @ key"


def test_backticks_make_code_only_where_that_is_asked_for() -> None:
    assert for_markdown("use `a_b` here", spans=True) == "use `a_b` here"
    assert for_markdown("use `a_b` here") == r"use \`a\_b\` here"
    assert for_markdown("an odd ` tick", spans=True) == r"an odd \` tick"


@given(st.text(alphabet="`ab \n~<", max_size=60))
def test_no_text_closes_its_code_block(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(fenced(text, "text"))

    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content == text.rstrip("\n") + "\n" or not text.strip("\n")


@given(st.text(alphabet="`a<[ ", min_size=1, max_size=40))
def test_no_text_leaves_its_code_span(text: str) -> None:
    inline = MarkdownIt("commonmark").parse(f"x {code_span(text)} x")[1]

    assert [child.type for child in inline.children or []] == ["text", "code_inline", "text"]


def test_a_code_block_of_many_lines_is_cut_and_says_so() -> None:
    assert fenced("\n".join(["x"] * 500), lines=10).splitlines()[-2] == "… (+490 lines)"
