"""Shape comments: judged where both words and numbers are clear, else left alone."""

from __future__ import annotations

import pytest

from grader.judge.comments import shape_comments
from grader.protocol import TraceEntry
from tests.judge.stage import CATALOG, content

SIZES = {"B": 3, "S": 5, "D": 16}
WORDS = content("v3").family.words


def judged(code: str, output: tuple[int, ...]) -> list[bool]:
    entry = TraceEntry(line=1, call="matmul", output=output)
    return [comment.right for comment in shape_comments([code], [entry], SIZES, WORDS)]


@pytest.mark.parametrize(
    "comment",
    [
        "(batch, seq_len, hidden_dim)",
        "[B, S, D]",
        "(b, t, d)",
        "B x S x D",
        "(bs, seq, hidden)",
        "(3, 5, 16)",
        "(batch_size, seq_length, hidden_size)",
        "-> (batch, seq_len, hidden_dim)",
        "(B, S, S) @ (B, S, D) -> (B, S, D)",
    ],
)
def test_the_usual_ways_to_write_a_shape_are_right(comment: str) -> None:
    assert judged(f"y = w @ v  # {comment}", (3, 5, 16)) == [True]


@pytest.mark.parametrize(
    "comment", ["(batch, seq_len, seq_len)", "[B, D, S]", "(batch, hidden_dim)", "(3, 5, 17)"]
)
def test_a_wrong_one_is_wrong(comment: str) -> None:
    assert judged(f"y = w @ v  # {comment}", (3, 5, 16)) == [False]


@pytest.mark.parametrize(
    ("kata", "comment", "right"),
    [
        ("mha", "(B, H, S, d_k)", True), ("mha", "(b, h, s, d)", True), ("mha", "(B, H, d, S)", False),
        ("cross", "(B, H, S, d)", True), ("cross", "(B, H, T, d)", False), ("cross", "(B, H, t, dk)", False),
    ],
)  # fmt: skip
def test_a_word_that_names_two_axes_may_mean_either(kata: str, comment: str, right: bool) -> None:
    sizes = {"B": 3, "S": 7, "T": 5, "H": 4, "d": 6, "D": 24, "C": 24}
    entry = TraceEntry(line=1, call="matmul", output=(3, 4, 7, 6))
    found = shape_comments([f"y = w @ v  # {comment}"], [entry], sizes, content(kata).family.words)
    assert [one.right for one in found] == [right]


@pytest.mark.parametrize("kata", [kata.id for kata in CATALOG.katas])
def test_every_axis_that_has_words_can_be_compared(kata: str) -> None:
    family = content(kata).family
    sizes = family.sizes(family.base.sizes)
    for axis, names in family.words.items():
        for name in names:
            entry = TraceEntry(line=1, call="matmul", output=(2, sizes.get(axis, 1)))
            comments = shape_comments([f"y = w @ v  # (2, {name})"], [entry], sizes, family.words)
            assert [comment.right for comment in comments] in ([], [True]), name
            assert comments or axis not in sizes or not name.replace("_", "").isalnum(), name


def test_queries_and_keys_of_two_lengths_have_words_of_their_own() -> None:
    sizes = {"B": 3, "S": 7, "T": 5, "H": 4, "d": 6, "D": 24, "C": 20}
    entry = TraceEntry(line=1, call="bmm", output=(3, 7, 5))
    words = content("cross").family.words
    found = shape_comments(["s = q @ k.mT  # (B, S, T)"], [entry], sizes, words)
    assert [one.right for one in found] == [True]


def test_a_multiple_of_the_width() -> None:
    assert judged("p = self.proj(x)  # (batch, seq_len, 3 * hidden_dim)", (3, 5, 48)) == [True]
    assert judged("p = self.proj(x)  # (B, S, 3D)", (3, 5, 48)) == [True]
    assert judged("p = self.proj(x)  # (B, S, 2D)", (3, 5, 48)) == [False]


@pytest.mark.parametrize(
    "code",
    [
        "y = w @ v",
        "y = w @ v  # mix the values (as in the paper)",
        "y = w @ v  # (foo, bar, baz)",
        "# (batch, seq_len, hidden_dim)",
        "y = w @ v  # see (Vaswani et al., 2017)",
    ],
)
def test_what_nobody_can_place_is_left_alone(code: str) -> None:
    assert judged(code, (3, 5, 16)) == []


def test_the_last_call_of_a_line_counts() -> None:
    entries = [
        TraceEntry(line=1, call="a", output=(3, 5, 5)),
        TraceEntry(line=1, call="b", output=(3, 5, 16)),
    ]
    (comment,) = shape_comments(["y = f(g(x))  # (B, S, D)"], entries, SIZES, WORDS)
    assert comment.right
    assert comment.actual == (3, 5, 16)


def test_a_line_beyond_the_file_is_no_line() -> None:
    assert shape_comments(["a"], [TraceEntry(line=99, call="a", output=(1,))], SIZES, WORDS) == ()


def test_a_line_that_calls_a_helper_of_the_file_is_left_alone() -> None:
    lines = [
        "    def split(self, x):",
        "        return x",
        "    y = self.split(self.proj(x))  # (B, S, S, D)",
    ]
    entries = [TraceEntry(line=3, call="linear", output=(3, 5, 16))]
    assert shape_comments(lines, entries, SIZES, WORDS) == ()
    assert (
        len(shape_comments([lines[2]], [TraceEntry(line=1, call="linear", output=(3, 5, 16))], SIZES, WORDS))
        == 1
    )
