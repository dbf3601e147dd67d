"""From a grade to what a report shows: which sections, in which order, with what in them."""

from __future__ import annotations

from typing import ClassVar

import pytest
from msgspec.structs import replace

from grader.catalog import Kata
from grader.records import AttentionMap, CheckRecord, Diagnosis, Grade, Printed
from grader.report.context import ReportContext
from grader.report.render import render
from grader.report.sections import (
    ChecksSection,
    ConceptsSection,
    DiagnosisSection,
    Effort,
    Headline,
    MapsSection,
    Origin,
    PrintedSection,
    Questions,
    Section,
    WalkThrough,
)
from grader.report.view import View, build_view, duration


def kinds(view: View) -> list[str]:
    return [section.kind for section in view.sections]


def headline(view: View) -> Headline:
    found = view.section(Headline)
    assert found is not None
    return found


def test_a_failing_report_says_the_mistake_before_the_evidence(
    failing: Grade, kata: Kata, context: ReportContext
) -> None:
    view = build_view(failing, kata, replace(context, show_printed=True))

    assert kinds(view) == [
        "headline",
        "diagnosis",
        "maps",
        "concepts",
        "checks",
        "walkthrough",
        "notes",
        "printed",
        "effort",
        "origin",
    ]


def test_a_passed_report_is_about_what_was_right_and_what_comes_next(passing: Grade, kata: Kata) -> None:
    context = ReportContext(questions=("Why the root?",), next_kata="v4")
    view = build_view(passing, kata, context)

    assert kinds(view) == ["headline", "concepts", "notes", "questions", "checks", "walkthrough", "origin"]


def test_a_fault_of_the_grader_shows_nothing_of_the_candidate(
    grader_error: Grade, kata: Kata, context: ReportContext
) -> None:
    view = build_view(grader_error, kata, context)

    assert kinds(view) == ["headline", "origin"]
    assert headline(view).attempt is None


def test_the_bare_grade_is_enough_for_a_report(kata: Kata) -> None:
    bare = Grade(kata="v3", verdict="failed", seed=1)

    assert kinds(build_view(bare, kata)) == ["headline", "origin"]
    assert headline(build_view(bare, kata)).percent == 0


def test_the_headline_counts_points_and_what_was_gained(
    failing: Grade, kata: Kata, context: ReportContext
) -> None:
    found = headline(build_view(failing, kata, context))

    assert (found.points, found.max_points, found.percent, found.gained) == (14, 17, 82, 3)
    assert (found.mistakes, found.failed_checks, found.tone) == (1, 2, "bad")


def test_the_diagnosis_shows_the_blamed_line_with_its_neighbours(
    failing: Grade, kata: Kata, context: ReportContext
) -> None:
    section = build_view(failing, kata, context).section(DiagnosisSection)

    assert section is not None
    item = section.items[0]
    assert item.exact
    assert item.concept == "Scores are divided by √hidden_dim"
    assert item.place is not None
    assert item.place.file == "practice/self_attention_v3.py"
    assert [(line.text, line.blamed) for line in item.place.excerpt if line.blamed] == [
        ("scores = scores / self.hidden_dim", True)
    ]


def test_what_explains_as_much_is_listed_beside_a_consistent_diagnosis(consistent: Grade, kata: Kata) -> None:
    section = build_view(consistent, kata).section(DiagnosisSection)

    assert section is not None
    assert not section.items[0].exact
    assert section.items[0].labels == ("mask_fill_zero", "softmax_over_all")
    assert section.items[0].alternatives == ("mask_ignored softmax_over_all",)


def test_failed_checks_of_concepts_come_before_the_gates(failing: Grade, kata: Kata) -> None:
    mixed = replace(failing, checks=tuple(reversed(failing.checks)))
    section = build_view(mixed, kata).section(ChecksSection)

    assert section is not None
    assert [check.gate for check in section.failed] == [False, True]


def test_a_line_that_the_diagnosis_has_shown_is_only_named_in_the_check(failing: Grade, kata: Kata) -> None:
    shown = build_view(failing, kata).section(ChecksSection)
    alone = build_view(replace(failing, diagnosis=()), kata).section(ChecksSection)

    assert shown is not None
    assert alone is not None
    assert shown.failed[0].place is not None
    assert shown.failed[0].place.excerpt == ()
    assert alone.failed[0].place is not None
    assert [line.number for line in alone.failed[0].place.excerpt] == [24]


def test_checks_that_were_not_reached_are_grouped_by_their_reason(consistent: Grade, kata: Kata) -> None:
    section = build_view(consistent, kata).section(ChecksSection)

    assert section is not None
    assert section.not_reached_count == 2
    assert len(section.not_reached) == 1
    assert section.not_reached[0].reason == "The weights are not finite, so their zeros cannot be counted."


def test_concept_bars_share_the_whole_width(failing: Grade, kata: Kata) -> None:
    section = build_view(failing, kata).section(ConceptsSection)

    assert section is not None
    assert sum(float(bar.share) for bar in section.bars) == pytest.approx(100, abs=0.1)
    assert {bar.id: bar.tone for bar in section.bars if bar.tone != "good"} == {
        "scale": "bad",
        "robustness": "open",
    }


def test_maps_that_are_as_expected_are_only_named(failing: Grade, kata: Kata) -> None:
    right = AttentionMap(title="Without a mask", expected=((1.0,),), actual=((1.0,),))
    grade = replace(failing, maps=(*failing.maps, right))

    section = build_view(grade, kata).section(MapsSection)
    verbose = build_view(grade, kata, ReportContext(verbose=True)).section(MapsSection)

    assert section is not None
    assert verbose is not None
    assert (len(section.pairs), section.rest) == (1, ("Without a mask",))
    assert (len(verbose.pairs), verbose.rest) == (2, ())
    assert build_view(replace(failing, maps=(right,)), kata).section(MapsSection) is None


def test_what_forward_prints_at_each_call_is_shown_once(failing: Grade, kata: Kata) -> None:
    calls = "".join(f"x has torch.Size([{n}, 5, 12])\nmean {n / 7}\n" for n in range(1, 56)) + "done\n"
    noisy = replace(failing, printed=Printed(text=calls))
    section = build_view(noisy, kata, ReportContext(show_printed=True)).section(PrintedSection)

    assert section is not None
    assert section.lines == (
        "x has torch.Size([1, 5, 12])  (55 times)",
        f"mean {1 / 7}  (55 times)",
        "done",
    )
    assert section.printed_lines == 111


def test_a_pass_that_printed_says_so(passing: Grade, kata: Kata) -> None:
    noisy = replace(passing, printed=Printed(text="x\ny\n"))
    section = build_view(noisy, kata).section(PrintedSection)

    assert section is not None
    assert section.brief


def test_the_headline_is_not_repeated(failing: Grade, kata: Kata) -> None:
    said = failing.diagnosis[0].sentence
    messages = " ".join(
        check.message for check in failing.checks if check.status == "failed" and check.message
    )
    view = build_view(replace(failing, reason=f"answer.py:24: {said} {messages}"), kata)
    diagnosis, checks = view.section(DiagnosisSection), view.section(ChecksSection)

    assert diagnosis is not None
    assert checks is not None
    assert diagnosis.items[0].sentence == ""
    assert diagnosis.items[0].fix
    assert {found.message for found in checks.failed} == {None}
    for form in ("html", "md"):
        page = render(view, form)
        assert page.count("smaller than they should be") == 1


def test_what_was_printed_is_shown_only_on_request_and_only_if_there_is_any(
    failing: Grade, kata: Kata
) -> None:
    silent = replace(failing, printed=Printed())

    brief = build_view(failing, kata).section(PrintedSection)
    assert brief is not None
    assert (brief.brief, brief.printed_lines) == (True, 2)
    assert build_view(silent, kata, ReportContext(show_printed=True)).section(PrintedSection) is None
    shown = build_view(failing, kata, ReportContext(verbose=True)).section(PrintedSection)
    assert shown is not None
    assert (shown.lines, shown.dropped_bytes) == (("scores: tensor(...)", "step 1"), 2048)


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        ("self_attention_v3.py:4: there is no module `torhc`.", 4),
        ("There is a syntax error on line 5.", 5),
        ("No class was found.", None),
        ("self_attention_v3.py:400: far away", 400),
    ],
)
def test_the_line_of_an_answer_that_cannot_run_comes_from_its_reason(
    unrunnable: Grade, kata: Kata, reason: str, line: int | None
) -> None:
    place = headline(build_view(replace(unrunnable, reason=reason), kata)).place

    assert (place.line if place else None) == line


def test_an_answer_that_cannot_run_has_no_list_of_concepts(
    failing: Grade, unrunnable: Grade, kata: Kata
) -> None:
    untouched = replace(unrunnable, concepts=failing.concepts)
    assert build_view(untouched, kata).section(ConceptsSection) is None


def test_the_line_of_a_failed_check_counts_more_than_the_reason(unrunnable: Grade, kata: Kata) -> None:
    check = CheckRecord(id="imports", concept="interface", title="Imports", status="failed", line=5)
    place = headline(build_view(replace(unrunnable, checks=(check,)), kata)).place

    assert place is not None
    assert place.line == 5


def test_a_diagnosis_shows_the_line_of_an_answer_that_cannot_run_once(unrunnable: Grade, kata: Kata) -> None:
    typo = Diagnosis(mistakes=("api_typo",), concept="interface", sentence="s", fix="f", line=4)
    view = build_view(replace(unrunnable, diagnosis=(typo,)), kata)

    assert headline(view).place is None
    assert view.section(DiagnosisSection) is not None


def test_blamed_lines_are_marked_in_the_code(failing: Grade, unrunnable: Grade, kata: Kata) -> None:
    def marked(grade: Grade) -> list[int]:
        walk = build_view(grade, kata).section(WalkThrough)
        assert walk is not None
        return [line.code.number for line in walk.lines if line.code.blamed]

    assert marked(failing) == [24]
    assert marked(replace(failing, diagnosis=())) == [24]
    assert marked(unrunnable) == [4]


def test_hints_may_be_texts_or_a_count(failing: Grade, kata: Kata) -> None:
    texts = build_view(failing, kata, ReportContext(hints=("one", "two"))).section(Effort)
    count = build_view(failing, kata, ReportContext(hints=3)).section(Effort)

    assert texts is not None
    assert count is not None
    assert (texts.hint_count, texts.hints) == (2, ("one", "two"))
    assert (count.hint_count, count.hints) == (3, ())
    assert build_view(failing, kata, ReportContext()).section(Effort) is None


def test_more_time_than_the_kata_gives_is_said(failing: Grade, kata: Kata) -> None:
    late = build_view(failing, kata, ReportContext(seconds_taken=kata.minutes * 60 + 1)).section(Effort)
    intime = build_view(failing, kata, ReportContext(seconds_taken=kata.minutes * 60)).section(Effort)

    assert late is not None
    assert intime is not None
    assert (late.over_time, intime.over_time) == (True, False)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "0 s"), (48, "48 s"), (725, "12 min 05 s"), (3599.6, "1 h 00 min"), (3720, "1 h 02 min")],
)
def test_a_time_is_said_as_people_say_it(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("when", "shown"),
    [("2026-11-30T14:03:22+00:00", "2026-11-30 14:03"), ("yesterday", "yesterday"), (None, None)],
)
def test_the_moment_of_the_grade_is_shown_to_the_minute(
    failing: Grade, kata: Kata, when: str | None, shown: str | None
) -> None:
    origin = build_view(failing, kata, ReportContext(when=when)).section(Origin)

    assert origin is not None
    assert origin.when == shown


def test_questions_are_for_those_who_passed(failing: Grade, passing: Grade, kata: Kata) -> None:
    context = ReportContext(questions=("Why the root?",))

    assert build_view(failing, kata, context).section(Questions) is None
    assert build_view(passing, kata, context).section(Questions) is not None
    assert build_view(passing, kata).section(Questions) is None


def test_others_add_sections_of_their_own_before_the_origin(failing: Grade, kata: Kata) -> None:
    class Timeline(Section):
        kind: ClassVar[str] = "timeline"

        saves: int

    view = build_view(failing, kata, extra=(Timeline(saves=4),))

    assert kinds(view)[-2:] == ["timeline", "origin"]
    added = view.section(Timeline)
    assert added is not None
    assert added.saves == 4


def test_endless_messages_are_bounded(failing: Grade, kata: Kata) -> None:
    endless = CheckRecord(
        id="x",
        concept="scale",
        title="t",
        status="failed",
        message="m" * 10**6,
        expected="e" * 10**6,
        actual="a" * 10**6,
    )
    section = build_view(replace(failing, checks=(endless,)), kata).section(ChecksSection)

    assert section is not None
    check = section.failed[0]
    assert max(len(check.message or ""), len(check.expected or ""), len(check.actual or "")) < 5000
