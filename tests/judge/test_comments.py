"""Shape comments: judged where both words and numbers are clear, else left alone."""

from __future__ import annotations

import pytest

from grader.judge.comments import shape_comments
from grader.protocol import TraceEntry

SIZES = {"batch": 3, "seq_len": 5, "hidden_dim": 16}


def judged(code: str, output: tuple[int, ...]) -> list[bool]:
    entry = TraceEntry(line=1, call="matmul", output=output)
    return [comment.right for comment in shape_comments([code], [entry], SIZES)]


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
    (comment,) = shape_comments(["y = f(g(x))  # (B, S, D)"], entries, SIZES)
    assert comment.right
    assert comment.actual == (3, 5, 16)


def test_a_line_beyond_the_file_is_no_line() -> None:
    assert shape_comments(["a"], [TraceEntry(line=99, call="a", output=(1,))], SIZES) == ()
