"""From the end of the clock to the debrief: grades, follow-up questions, verdict, documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from grader.catalog import Catalog
from grader.errors import GraderFault, UsageError
from grader.history import History
from grader.interview import followups, round_grading
from grader.interview.debrief import Debrief, build_debrief
from grader.interview.sections import RIGHT, WIDTH, Timeline, debrief_document, debrief_view
from grader.interview.session import Session
from grader.interview.store import InterviewStore
from grader.interview.wording import load_wording
from grader.records import Grade, Submission
from tests.interview.conftest import Begin, Clocks, Desk, ReadingGrader, answer


class Bench:
    """An interview with all that is needed to end it."""

    def __init__(
        self,
        begin: Begin,
        desk: Desk,
        interviews: History,
        store: InterviewStore,
        catalog: Catalog,
        read_grade: ReadingGrader,
        clocks: Clocks,
    ) -> None:
        self.begin = begin
        self.desk = desk
        self.history = interviews
        self.store = store
        self.catalog = catalog
        self.grade = read_grade
        self.clocks = clocks

    def save(self, session: Session, after: float, text: str, name: str = "self_attention_v3.py") -> None:
        self.clocks.pass_time(after)
        self.desk.save(text, name)
        session.observe()

    def settle(self, session: Session) -> None:
        round_grading.settle(session, self.history, self.store, self.catalog, self.grade)
        round_grading.grade_timeline(session, self.store, self.catalog, self.grade)

    def debrief(self, session: Session) -> Debrief:
        self.settle(session)
        return build_debrief(session, self.history, self.store, self.catalog, load_wording(self.catalog))


@pytest.fixture
def bench(
    begin: Begin,
    desk: Desk,
    interviews: History,
    store: InterviewStore,
    catalog: Catalog,
    read_grade: ReadingGrader,
    clocks: Clocks,
) -> Bench:
    return Bench(begin, desk, interviews, store, catalog, read_grade, clocks)


@pytest.fixture
def wrong(bench: Bench) -> Session:
    """An interview with some saves that ends with a wrong mask and a wrong scale."""
    session = bench.begin("v3")
    session.ask("mask_shape")
    bench.save(session, 200, "class SelfAttentionV3: pass\n")
    bench.save(session, 100, answer("scale mask dropout"))
    bench.clocks.pass_time(10)
    session.take_hint(1)
    session.ran("ran to its end")
    bench.save(session, 290, answer("scale mask"))
    session.submit()
    bench.save(session, 60, answer())
    return session


def test_what_counts_is_graded_once_and_kept_as_an_attempt(bench: Bench, wrong: Session) -> None:
    bench.settle(wrong)
    assert wrong.phase == "questions"
    [attempt] = bench.history.attempts()
    assert (attempt.origin, attempt.missed, attempt.seed) == ("interview", ("scale", "mask"), 20481)
    graded = wrong.round.graded
    assert graded is not None
    assert graded.data["attempt"] == attempt.uuid
    asked = [options.seed for _, options in bench.grade.asked if options is not None]
    assert set(asked) == {7}
    bench.settle(wrong)
    assert len(bench.grade.asked) == len(asked)


def test_a_process_that_is_killed_after_keeping_the_grade_does_not_keep_it_twice(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = bench.begin("v3", seed=20481)
    bench.save(session, 60, answer())
    session.submit()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "graded", killed)
    with pytest.raises(KeyboardInterrupt):
        bench.settle(session)
    monkeypatch.undo()
    bench.settle(Session(bench.store, session.plan, bench.clocks))
    assert len(bench.history.attempts()) == 1


def test_a_fault_of_the_grader_loses_nothing(bench: Bench) -> None:
    session = bench.begin("v3")
    bench.save(session, 60, "class SelfAttentionV3: ...  # grader fault\n")
    session.submit()
    with pytest.raises(GraderFault, match="could not be graded"):
        bench.settle(session)
    assert session.phase == "grading"
    assert bench.history.attempts() == []


def test_a_save_that_the_grader_failed_on_is_a_hole_in_the_timeline(bench: Bench) -> None:
    session = bench.begin("v3")
    bench.save(session, 60, "class SelfAttentionV3: ...  # grader fault\n")
    bench.save(session, 60, answer())
    session.submit()
    debrief = bench.debrief(session)
    assert [save.verdict for save in debrief.rounds[0].saves] == ["unrunnable", None, "passed"]


def test_the_timeline_shows_each_save_and_what_it_reached_first(bench: Bench, wrong: Session) -> None:
    [one] = bench.debrief(wrong).rounds
    assert [(save.seconds, save.late) for save in one.saves] == [
        (0, False),
        (200, False),
        (300, False),
        (600, False),
        (660, True),
    ]
    assert one.saves[0].first
    assert one.saves[1].verdict == "unrunnable"
    assert one.saves[2].milestones[0] == "first version that runs"
    assert one.saves[3].milestones == ("first right: dropout",)
    assert one.saves[4].milestones == ()
    assert [(span.text, span.seconds) for span in one.spans] == [
        ("until the first save", 200),
        ("until the first version that ran", 100),
        ("until the end", 300),
    ]
    assert [mark.kind for mark in one.marks] == ["asked", "hint", "ran", "ending"]
    assert [review.id for review in one.review] == ["scale", "mask"]
    assert any("1 save after the end" in note for note in one.notes)


def test_hints_cost_in_the_verdict_and_not_in_the_grade(bench: Bench, wrong: Session) -> None:
    debrief = bench.debrief(wrong)
    [one] = debrief.rounds
    assert (one.hints, one.hint_cost) == (1, 1)
    assert one.points == bench.history.attempts()[0].points
    assert any("1 hint cost 1 of them for this verdict" in reason for reason in debrief.verdict.reasons)


def test_a_hint_taken_beside_the_room_costs_as_well(bench: Bench) -> None:
    session = bench.begin("v3")
    bench.history.take_hint("v3", 4)
    bench.save(session, 60, answer())
    session.submit()
    assert bench.debrief(session).rounds[0].hints == 1


def test_a_look_at_the_solution_while_the_clock_runs_is_no_pass_for_an_interviewer(bench: Bench) -> None:
    session = bench.begin("v3")
    bench.clocks.pass_time(30)
    bench.history.record_solution_seen("v3", gave_up=True)
    bench.save(session, 30, answer())
    session.submit()
    debrief = bench.debrief(session)
    assert debrief.rounds[0].verdict == "passed"
    assert debrief.verdict.id == "no"
    assert any("solution" in reason for reason in debrief.verdict.reasons)


def test_sleep_and_a_reboot_stand_in_the_notes(bench: Bench) -> None:
    session = bench.begin("v3")
    bench.clocks.sleep(3600)
    session.observe()
    bench.clocks.set_wall(-120)
    session.observe()
    bench.clocks.reboot(60)
    session = Session(bench.store, session.plan, bench.clocks)
    session.resume()
    bench.save(session, 60, answer())
    session.submit()
    notes = " ".join(bench.debrief(session).rounds[0].notes)
    assert "slept for 60 minutes" in notes
    assert "set back by 2 minutes" in notes
    assert "restarted" in notes


def test_practice_gets_no_verdict_and_is_no_test_of_memory(bench: Bench) -> None:
    session = bench.begin("v3", practice=True)
    bench.save(session, 60, answer())
    session.tested("passed", 17, 17)
    session.submit()
    debrief = bench.debrief(session)
    assert debrief.verdict.id == "none"
    assert bench.history.attempts()[0].origin == "practice"
    assert "graded at once" in " ".join(mark.text for mark in debrief.rounds[0].marks)


def test_grading_the_file_while_the_clock_runs_is_practice(
    bench: Bench, submission: Submission, make_grade: Callable[..., Grade]
) -> None:
    session = bench.begin("v3")
    bench.clocks.pass_time(30)
    bench.history.record_attempt(make_grade("v3", missed=("mask",)), submission, session.round.path)
    bench.save(session, 60, answer())
    session.submit()
    debrief = bench.debrief(session)
    assert debrief.verdict.id == "none"
    assert any("graded while the clock ran" in note for note in debrief.rounds[0].notes)


# Follow-ups


def test_three_questions_are_asked_the_missed_concepts_first(bench: Bench, wrong: Session) -> None:
    bench.settle(wrong)
    asked = followups.ask(wrong, bench.catalog)
    assert len(asked) == 3
    assert {entry.question.concept for entry in asked[:2]} == {"scale", "mask"}
    again = Session(bench.store, wrong.plan, bench.clocks)
    assert followups.ask(again, bench.catalog) == asked


def test_the_same_seed_asks_the_same_and_another_seed_others(bench: Bench) -> None:
    chosen = []
    for seed in (1, 1, 2):
        session = bench.begin("v3", seed=seed)
        bench.save(session, 60, answer())
        session.submit()
        bench.settle(session)
        chosen.append([question.id for _, question in followups.choose(session.interview, bench.catalog)])
        session.finish()
    assert chosen[0] == chosen[1] != chosen[2]


def test_answers_and_own_marks_are_kept_apart_from_the_points(bench: Bench, wrong: Session) -> None:
    before = bench.debrief(wrong)
    first, second, _ = followups.ask(wrong, bench.catalog)
    wrong.answer(first.question.id, "Because of the variance.", 71.0)
    wrong.mark(first.question.id, [True] * len(first.question.key_points))
    wrong.answer(second.question.id, "", 3.0)
    after = bench.debrief(wrong)
    assert after.verdict == before.verdict
    assert after.rounds == before.rounds
    assert after.follow_ups[0].marks == (True,) * len(first.question.key_points)
    assert after.follow_ups[0].answer == "Because of the variance."
    assert after.follow_ups[1].marks is None
    assert followups.ask(wrong, bench.catalog)[0].done


def test_questions_come_after_the_grade(bench: Bench) -> None:
    session = bench.begin("v3")
    assert followups.ask(session, bench.catalog) == ()
    with pytest.raises(UsageError, match="still running"):
        session.answer("x", "y", 1.0)


# Documents


def test_the_json_document_has_everything(bench: Bench, wrong: Session) -> None:
    debrief = bench.debrief(wrong)
    followups.ask(wrong, bench.catalog)
    wrong.finish()
    document: dict[str, Any] = json.loads(debrief_document(debrief, "json", bench.catalog))
    assert document["version"] == 1
    assert document["verdict"]["id"] == "lean_no"
    assert document["rounds"][0]["grade"]["kata"] == "v3"
    assert document["rounds"][0]["saves"][2]["milestones"]


@pytest.mark.parametrize("form", ["text", "html", "md"])
def test_each_format_tells_the_same(bench: Bench, wrong: Session, form: Any) -> None:
    bench.settle(wrong)
    first, *_ = followups.ask(wrong, bench.catalog)
    wrong.answer(first.question.id, "\x1b[2JBecause <b>of</b> the variance.", 71.0)
    wrong.mark(first.question.id, [True] + [False] * (len(first.question.key_points) - 1))
    text = debrief_document(bench.debrief(wrong), form, bench.catalog)
    for words in ("10:00", "first version that runs", "hint 1", "until the first save", "late: not counted"):
        assert words in text, words
    assert "lean no" in text.lower()
    assert "1 of" in text
    assert "\x1b" not in text
    assert "<b>of</b>" not in text or form != "html"


def test_the_text_fits_a_terminal(bench: Bench, wrong: Session) -> None:
    text = debrief_document(bench.debrief(wrong), "text", bench.catalog, width=60)
    assert max(map(len, text.splitlines())) <= 60


def test_what_happened_fills_the_time_axis(bench: Bench, wrong: Session) -> None:
    debrief = bench.debrief(wrong)
    [one] = debrief.rounds
    short = msgspec.structs.replace(one, used=98.0, limit=1800.0, saves=one.saves[:1])
    view = debrief_view(msgspec.structs.replace(debrief, rounds=(short,)), bench.catalog)
    section = view.section(Timeline)
    assert section is not None
    assert float(section.end_x) > 0.95 * (WIDTH - RIGHT)
    assert [tick.text for tick in section.columns] == ["0", "15 s", "30 s", "45 s", "1 min", "01:15", "01:30"]


def test_the_page_draws_a_dot_for_each_save(bench: Bench, wrong: Session) -> None:
    page = debrief_document(bench.debrief(wrong), "html", bench.catalog)
    assert page.count('<circle class="dot') == 5
    assert page.count("dot passed late") == 1


def test_a_ladder_has_a_timeline_for_each_level_and_one_verdict(bench: Bench) -> None:
    from grader.interview.opening import go_on

    session = bench.begin("v1", "v2")
    bench.save(session, 60, answer(), "self_attention_v1.py")
    session.submit()
    go_on(session, bench.catalog, bench.history, bench.clocks)
    bench.save(session, 60, answer("mix"), "self_attention_v2.py")
    session.submit()
    debrief = bench.debrief(session)
    assert [one.kata for one in debrief.rounds] == ["v1", "v2"]
    assert debrief.verdict.id == "lean_no"
    assert "mix" in {entry.question.concept for entry in followups.ask(session, bench.catalog)}
    text = debrief_document(debrief, "text", bench.catalog)
    assert "v1, v2" in text


def test_there_is_no_debrief_before_the_end(bench: Bench) -> None:
    session = bench.begin("v3")
    wording = load_wording(bench.catalog)
    with pytest.raises(UsageError, match="still running"):
        build_debrief(session, bench.history, bench.store, bench.catalog, wording)
    session.abort()
    with pytest.raises(UsageError, match="Nothing was graded"):
        build_debrief(session, bench.history, bench.store, bench.catalog, wording)
