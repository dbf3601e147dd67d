"""The candidate's code: line numbers as the tracer counts, excerpts, shapes beside the lines."""

from __future__ import annotations

from grader.records import Grade, ShapeComment, SourceRecord, TraceStep
from grader.report.code import MAX_CHARACTERS, MAX_LINES, Source, shape_text, walk_through

TEXT = 'x = """a\nb"""\n\n\n    y = x / 2  # half\n\n'


def _grade(text: str, **fields: object) -> Grade:
    source = SourceRecord(name="a.py", sha256="", text=text)
    return Grade(kata="v1", verdict="failed", seed=1, source=source, **fields)  # type: ignore[arg-type]


def test_pieces_of_every_line_make_up_the_line_again() -> None:
    source = Source("a.py", TEXT)

    assert [source.line(n).text for n in range(1, len(source) + 1)] == TEXT.rstrip("\n").split("\n")


def test_a_string_over_several_lines_is_a_string_on_each() -> None:
    source = Source("a.py", TEXT)

    assert source.line(2).pieces == (("string", 'b"""'),)
    assert ("comment", "# half") in source.line(5).pieces


def test_lines_are_counted_as_python_counts_them() -> None:
    source = Source("a.py", "a\r\nb\rc\nd\x0ce\u2028f")

    assert len(source) == 4
    assert source.line(4).text == "d␌e⟨U+2028⟩f"


def test_an_excerpt_marks_its_line_and_drops_blank_edges_and_common_indentation() -> None:
    place = Source("a.py", "if x:\n\n    y = 1\n    z = 2\n\n").place(3)

    assert place is not None
    assert [(line.number, line.text, line.blamed) for line in place.excerpt] == [
        (1, "if x:", False),
        (2, "", False),
        (3, "    y = 1", True),
        (4, "    z = 2", False),
    ]
    alone = Source("a.py", "if x:\n    y = 1\n").place(2, around=0)
    assert alone is not None
    assert [line.text for line in alone.excerpt] == ["y = 1"]


def test_a_line_that_is_not_in_the_source_is_named_without_an_excerpt() -> None:
    place = Source("a.py", "x = 1\n").place(99)

    assert place is not None
    assert (place.line, place.excerpt) == (99, ())
    assert Source("a.py", "x = 1\n").place(None) is None


def test_code_that_is_too_long_is_shown_plain() -> None:
    source = Source("a.py", "x = 1\n" * (MAX_CHARACTERS // 6 + 10))

    assert source.line(1).pieces == (("", "x = 1"),)


def test_source_that_is_not_python_is_shown_all_the_same() -> None:
    assert Source("a.py", "def f(:\n  ?? '''").line(2).text == "  ?? '''"


def test_shapes_are_written_as_python_writes_them() -> None:
    assert [shape_text(shape) for shape in ((3, 5, 8), (3,), (), None)] == ["(3, 5, 8)", "(3,)", "()", "-"]


def test_the_walk_through_puts_calls_and_comments_beside_their_lines() -> None:
    step = TraceStep(line=5, call="div", inputs=((3, 6, 6),), output=(3, 6, 6))
    comment = ShapeComment(line=5, text="(B, S, D)", claimed=("B", "S", "D"), actual=(3, 6, 6), right=False)
    walk = walk_through(
        _grade(TEXT, trace=(step, step), shape_comments=(comment,)), Source("a.py", TEXT, (5,))
    )

    assert walk is not None
    assert [line.code.number for line in walk.core] == [5]
    line = walk.core[0]
    assert (line.steps[0].call, line.steps[0].output, line.steps[0].times) == ("div", "(3, 6, 6)", 2)
    assert (line.claims[0].actual, line.claims[0].right) == ("(3, 6, 6)", False)
    assert line.code.blamed
    assert (walk.traced, walk.right_claims, walk.wrong_claims) == (1, 0, 1)


def test_a_long_file_shows_the_lines_around_what_ran_and_counts_the_rest() -> None:
    text = "x = 1\n" * (MAX_LINES * 2)
    step = TraceStep(line=400, call="add", inputs=(), output=(2,))
    walk = walk_through(_grade(text, trace=(step,)), Source("a.py", text))

    assert walk is not None
    assert [line.code.number for line in walk.lines] == list(range(394, 407))
    assert (walk.lines[0].skipped, walk.skipped) == (393, MAX_LINES * 2 - 406)


def test_a_long_file_in_which_nothing_ran_shows_its_beginning() -> None:
    text = "x = 1\n" * (MAX_LINES * 2)
    walk = walk_through(_grade(text), Source("a.py", text))

    assert walk is not None
    assert walk.lines[0].code.number == 1


def test_a_trace_of_lines_that_do_not_exist_is_left_out() -> None:
    step = TraceStep(line=77, call="add", inputs=(), output=(2,))
    walk = walk_through(_grade("x = 1\n", trace=(step,)), Source("a.py", "x = 1\n"))

    assert walk is not None
    assert [line.code.number for line in walk.lines] == [1]


def test_without_code_there_is_no_walk_through() -> None:
    assert walk_through(_grade(""), Source("a.py", "")) is None
