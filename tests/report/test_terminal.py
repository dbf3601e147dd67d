"""The report in a terminal: it fits the width, reads without colour, and falls back to ASCII."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from grader.catalog import Kata
from grader.records import Grade, Note
from grader.report.context import ReportContext
from grader.report.terminal import render_text
from grader.report.view import View, build_view

ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def view(failing: Grade, kata: Kata, context: ReportContext) -> View:
    return build_view(failing, kata, context)


@pytest.fixture(params=["failing", "passing", "unrunnable", "grader_error", "consistent"])
def verbose_view(request: pytest.FixtureRequest, kata: Kata, context: ReportContext) -> View:
    return build_view(request.getfixturevalue(request.param), kata, replace(context, verbose=True))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(verbose_view: View, width: int) -> None:
    assert max(cell_len(line) for line in render_text(verbose_view, width).splitlines()) <= width


def test_wide_characters_count_as_two_columns(failing: Grade, kata: Kata) -> None:
    noted = replace(failing, notes=(Note(id="n", text="注意 " * 60),))
    text = render_text(build_view(noted, kata), 60)

    assert max(cell_len(line) for line in text.splitlines()) <= 60


def test_without_colour_there_is_no_escape_sequence(verbose_view: View) -> None:
    assert "\x1b" not in render_text(verbose_view, 80, color=False)


def test_colour_changes_nothing_but_the_colour(verbose_view: View) -> None:
    colored = render_text(verbose_view, 80, color=True)

    assert "\x1b[" in colored
    assert ANSI.sub("", colored) == render_text(verbose_view, 80, color=False)


def test_an_escape_sequence_of_the_candidate_is_shown_and_not_obeyed(failing: Grade, kata: Kata) -> None:
    noted = replace(failing, notes=(Note(id="n", text="\x1b[2J\x1b]0;title\x07gone"),))
    text = render_text(build_view(noted, kata), 80, color=True)

    assert "␛[2J␛]0;title␇gone" in text
    assert set(re.findall(r"\x1b(.)", text)) == {"["}
    assert "\x1b[2J" not in text


def test_the_candidate_cannot_forge_marks_of_the_layout(failing: Grade, kata: Kata) -> None:
    noted = replace(failing, notes=(Note(id="n", text="\x02bad\x03styled\x04 [bold]tag[/bold] \\[x]"),))

    assert "␂bad␃styled␄ [bold]tag[/bold] \\[x]" in render_text(build_view(noted, kata), 80)


@pytest.mark.parametrize("color", [False, True])
def test_a_terminal_that_speaks_only_ascii_gets_ascii(verbose_view: View, color: bool) -> None:
    text = render_text(verbose_view, 80, color, unicode=False)

    assert text.isascii()
    assert max(len(line) for line in ANSI.sub("", text).splitlines()) <= 80


def test_the_maps_are_shaded_blocks_or_tenths(view: View) -> None:
    blocks, digits = render_text(view, 80), render_text(view, 80, unicode=False)

    assert "q1   ▒▒!░░!░░ ░░!\u2573\u2573 ░░! 1.000    q1   ██ ░░ ·· ░░ \u2573\u2573 ··  1.000" in blocks
    assert "q1    3! 1! 0  2! x  1! 1.000    q1    8  0  0  0  x  0  1.000" in digits


def test_the_maps_stand_beside_each_other_only_if_they_fit(view: View) -> None:
    def beside(width: int) -> bool:
        return any("Yours" in line and "Expected" in line for line in render_text(view, width).splitlines())

    assert beside(80)
    assert not beside(50)


def test_a_paragraph_hangs_under_its_label(view: View) -> None:
    lines = render_text(view, 80).splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("   Why   The variance"))

    assert lines[first + 1].startswith("         the root of it.")


def test_the_blamed_line_has_an_arrow(view: View) -> None:
    arrows = [line for line in render_text(view, 80).splitlines() if "▶" in line]

    assert arrows == ["   ▶  24 │ scores = scores / self.hidden_dim"]


def test_a_long_line_of_code_is_cut_and_not_wrapped(view: View) -> None:
    line = next(line for line in render_text(view, 50).splitlines() if " 26 │" in line)

    assert line.endswith("…")
    assert len(line) == 50


def test_the_walk_through_is_for_those_who_ask(failing: Grade, kata: Kata) -> None:
    short = render_text(build_view(failing, kata), 120)
    verbose = build_view(failing, kata, ReportContext(verbose=True))

    assert "softmax (3, 6, 6)" not in short
    assert re.search(r"28 │ .*dim=-1\) +softmax \(3, 6, 6\) → \(3, 6, 6\)", render_text(verbose, 120))
    assert re.search(r"28 │ .*dim=-1\)\n +softmax \(3, 6, 6\) → \(3, 6, 6\)", render_text(verbose, 80))


def test_passed_checks_are_a_number_unless_asked_for(failing: Grade, kata: Kata) -> None:
    assert "✓ 13 checks passed." in render_text(build_view(failing, kata))
    assert "✓ Builds with a given width" in render_text(
        build_view(failing, kata, ReportContext(verbose=True))
    )


def test_a_pass_is_short_and_warm(passing: Grade, kata: Kata) -> None:
    text = render_text(build_view(passing, kata, ReportContext(questions=("Why the root?",), next_kata="v4")))

    assert "✓ PASSED   17 of 17 points" in text
    assert "every point is yours" in text
    assert "? Why the root?" in text
    assert "kata start v4" in text
    assert len(text.splitlines()) < 30


def test_a_pass_without_an_optional_point_says_that_it_was_optional(passing: Grade, kata: Kata) -> None:
    text = render_text(build_view(replace(passing, points=16), kata))

    assert "What is left is optional" in " ".join(text.split())


def test_what_was_printed_is_cut_after_forty_lines(failing: Grade, kata: Kata) -> None:
    noisy = replace(failing, printed=replace(failing.printed, text="\n".join("x" * n for n in range(1, 101))))
    text = render_text(build_view(noisy, kata, ReportContext(show_printed=True)))

    assert "… 60 lines more" in text
    assert "… and 2,048 bytes more, which were not kept" in text


def test_a_terminal_that_is_too_narrow_gets_the_narrowest_report(view: View) -> None:
    assert render_text(view, 5) == render_text(view, 40)


def test_a_line_that_is_cut_keeps_its_colours(failing: Grade, kata: Kata) -> None:
    text = render_text(build_view(failing, kata, ReportContext(verbose=True)), 100, color=True)
    cut = next(line for line in text.splitlines() if "transpose (3" in ANSI.sub("", line))

    assert "…" in cut
    assert "\x1b[33m1\x1b[0m" in cut


def test_what_was_not_reached_is_one_line(consistent: Grade, kata: Kata) -> None:
    lost = tuple(replace(c, status="not_reached", points=0) for c in consistent.concepts)
    open_checks = tuple(
        replace(check, status="not_reached", message=f"reason {number % 3}")
        for number, check in enumerate(consistent.checks)
    )
    grade = replace(consistent, concepts=lost, checks=open_checks)
    text = render_text(build_view(grade, kata), 400)
    assert [line for line in text.splitlines() if "not reached" in line] == [
        " ○ 0/17 not reached: interface 1, projections 1, scores 1, scale 2, mask 3, softmax 1, dropout 3,"
        " mix 1, output 1, gradients 1, side effects 1, robustness 1",
        " ○ 16 checks not reached: what they build on failed",
    ]
    verbose = render_text(build_view(grade, kata, ReportContext(verbose=True)), 400)
    assert "reason 2" in verbose


def test_the_report_names_no_label_but_the_way_to_more(consistent: Grade, failing: Grade, kata: Kata) -> None:
    for grade in (consistent, failing):
        text = render_text(build_view(grade, kata), 200)
        for labels in (item.mistakes for item in grade.diagnosis):
            assert f"kata explain {' '.join(labels)}" in text
        assert "Name " not in text
        assert ("equally well: kata explain" in text) == bool(grade.diagnosis[0].alternatives)


def test_a_pass_that_printed_says_so_and_shows_it_on_request(passing: Grade, kata: Kata) -> None:
    noisy = replace(passing, printed=replace(passing.printed, text="secret\nsecret\n"))
    text = render_text(build_view(noisy, kata))
    assert "Your code printed 2 lines while it was graded; kata report -v shows what." in text
    assert "secret" not in text
    assert "secret  (2 times)" in render_text(build_view(noisy, kata, ReportContext(verbose=True)))


def test_a_time_without_its_pauses_says_so(passing: Grade, kata: Kata) -> None:
    text = render_text(build_view(passing, kata, ReportContext(seconds_taken=480, paused=True)))
    assert "active 8 min 00 s of 25 min, pauses not counted" in text
