"""An interview from its first second to its last, with clocks that only the test moves."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from grader.database import HistoryUnavailable
from grader.errors import UsageError
from grader.history import History
from grader.interview.opening import current, go_on, latest
from grader.interview.records import Interview
from grader.interview.session import Session
from grader.interview.store import InterviewIsOn, InterviewStore
from tests.interview.conftest import START, Begin, Clocks, Desk, answer

MINUTE = 60.0


def kinds(interview: Interview) -> list[str]:
    return [event.kind for event in interview.events]


def counted(session: Session, store: InterviewStore) -> str:
    return store.source(session.round.counts.sha256).decode()


# The beginning


def test_the_file_begins_as_a_blank_page_and_is_the_first_state(begin: Begin, desk: Desk) -> None:
    session = begin("v3")
    text = (desk.folder / "self_attention_v3.py").read_text(encoding="utf-8")
    assert "still a blank page" in text
    assert kinds(session.interview) == ["begun", "saved"]
    assert session.round.counts.first
    assert session.remaining() == 25 * MINUTE
    assert session.deadline() == START + timedelta(minutes=25)


def test_guided_gives_the_stub(begin: Begin, desk: Desk) -> None:
    begin("v3", guided=True)
    assert "TODO" in (desk.folder / "self_attention_v3.py").read_text(encoding="utf-8")


def test_the_interview_is_on_the_disk_before_its_clock_starts(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3", minutes=10)
    with InterviewStore(store._database.path) as other:
        found = current(desk.folder, other, clocks)
        assert found.plan == session.plan
        assert found.interview.events == session.interview.events


def test_work_that_was_there_is_kept_beside_the_blank_page(begin: Begin, desk: Desk) -> None:
    desk.save("precious = 1\n")
    session = begin("v3")
    assert session.round.backup is not None
    assert session.round.backup.read_text(encoding="utf-8") == "precious = 1\n"
    assert "blank page" in (desk.folder / "self_attention_v3.py").read_text(encoding="utf-8")


def test_a_second_interview_in_the_folder_is_refused_with_the_way_out(begin: Begin, clocks: Clocks) -> None:
    begin("v3")
    clocks.pass_time(5 * MINUTE)
    with pytest.raises(UsageError, match=r"v3 is on in this folder, 20 min left") as refused:
        begin("v1")
    assert "--resume" in refused.value.fix
    assert "abort" in refused.value.fix


def test_two_that_begin_at_the_same_moment_cannot_both(
    begin: Begin, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3")
    with pytest.raises(InterviewIsOn), store.opening(session.plan, clocks().wall):
        raise AssertionError("never reached")


def test_another_folder_may_have_its_own(begin: Begin, desk: Desk, tmp_path: Path) -> None:
    begin("v3")
    desk.folder = tmp_path / "elsewhere"
    assert begin("v3").phase == "writing"


def test_without_a_history_there_is_no_interview(begin: Begin, home: Path) -> None:
    (home / "kata").mkdir()
    (home / "kata" / "history.db").write_text("no database")
    with pytest.raises(HistoryUnavailable):
        begin("v3")


# Saves


def test_every_save_is_kept_with_its_time_and_each_content_once(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3")
    for text in (answer("scale"), answer("mask"), answer("scale")):
        clocks.pass_time(60)
        desk.save(text)
        session.observe()
    assert [save.seconds for save in session.round.saves] == [0, 60, 120, 180]
    assert [save.late for save in session.round.saves] == [False] * 4
    [first, *_] = store._database.rows("SELECT count(*) FROM sources")
    assert first[0] == 3  # the blank page and two texts
    assert counted(session, store) == answer("scale")


def test_a_save_without_a_change_is_none(begin: Begin, desk: Desk, clocks: Clocks) -> None:
    session = begin("v3")
    clocks.pass_time(60)
    desk.save(answer("scale"))
    session.observe()
    clocks.pass_time(60)
    desk.save(answer("scale"))
    assert session.observe() == ()


def test_a_change_of_the_same_size_in_the_same_tick_is_seen(begin: Begin, desk: Desk, clocks: Clocks) -> None:
    session = begin("v3")
    clocks.pass_time(60)
    desk.save("a = 1\n")
    session.observe()
    clocks.pass_time(0.01)
    desk.save("a = 2\n", ago=0.01)
    assert [event.kind for event in session.observe()] == ["saved"]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"a\0b"])
def test_a_file_that_cannot_be_read_is_no_save_and_is_told(
    begin: Begin, desk: Desk, clocks: Clocks, content: bytes
) -> None:
    session = begin("v3")
    clocks.pass_time(60)
    path = desk.folder / "self_attention_v3.py"
    path.write_bytes(content)
    desk.touch(path)
    assert session.observe() == ()
    assert session.problem is not None
    with pytest.raises(UsageError, match="Nothing was handed in"):
        session.submit()
    desk.save(answer())
    session.submit()
    assert session.problem is None


def test_a_file_that_was_deleted_keeps_what_was_saved(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3")
    clocks.pass_time(60)
    path = desk.save(answer("scale"))
    session.observe()
    path.unlink()
    clocks.pass_time(25 * MINUTE)
    session.observe()
    assert session.problem is not None
    assert counted(session, store) == answer("scale")


# The end of the clock


def test_submitting_stops_the_clock_and_takes_the_file_as_it_is(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3")
    clocks.pass_time(300)
    desk.save(answer("mask"))
    session.submit()
    assert session.round.end == 300
    assert session.phase == "grading"
    assert session.remaining() == 0
    assert counted(session, store) == answer("mask")


def test_at_the_deadline_the_state_of_that_moment_counts(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3", minutes=10)
    clocks.pass_time(599)
    desk.save(answer("mask"))
    clocks.pass_time(1)
    assert [event.kind for event in session.observe()] == ["saved", "deadline"]
    clocks.pass_time(1)
    desk.save(answer())
    assert [event.kind for event in session.observe()] == ["saved"]
    assert [save.late for save in session.round.saves] == [False, False, True]
    assert counted(session, store) == answer("mask")
    assert session.round.end == 600


def test_a_save_in_the_last_moment_is_in_time_and_one_after_it_is_not(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3", minutes=10)
    clocks.pass_time(600)
    desk.save(answer("mask"))
    assert [event.kind for event in session.observe()] == ["saved", "deadline"]
    clocks.pass_time(0.25)
    desk.save(answer())
    session.observe()
    assert [(save.seconds, save.late) for save in session.round.saves[1:]] == [(600, False), (600.25, True)]
    assert counted(session, store) == answer("mask")


def test_what_is_saved_after_handing_in_is_kept_and_late(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3")
    clocks.pass_time(60)
    desk.save(answer("mask"))
    session.submit()
    clocks.pass_time(60)
    desk.save(answer())
    session.observe()
    assert session.round.saves[-1].late
    assert counted(session, store) == answer("mask")


def test_submitting_after_the_deadline_hands_in_the_state_before_it(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3", minutes=10)
    clocks.pass_time(500)
    desk.save(answer("mask"))
    session.observe()
    clocks.pass_time(200)
    desk.save(answer())
    assert session.submit().kind == "deadline"
    assert counted(session, store) == answer("mask")


def test_giving_up_hands_in_what_there_is(begin: Begin, clocks: Clocks) -> None:
    session = begin("v3")
    clocks.pass_time(60)
    assert session.give_up().kind == "gave_up"
    assert session.phase == "grading"
    assert session.round.end == 60


def test_twice_is_once_too_often(begin: Begin, desk: Desk) -> None:
    session = begin("v3")
    desk.save(answer())
    session.submit()
    with pytest.raises(UsageError, match="not graded yet"):
        session.submit()
    with pytest.raises(UsageError, match="not graded yet"):
        session.take_hint(1)


# A room that died


def test_what_was_saved_while_nobody_watched_counts_by_the_files_time(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3", minutes=10)
    clocks.pass_time(2000)
    desk.save(answer("mask"), ago=1700)
    again = Session(store, session.plan, clocks)
    again.resume()
    assert kinds(again.interview) == ["begun", "saved", "saved", "deadline", "resumed"]
    save = again.round.saves[-1]
    assert (save.seconds, save.late, save.found_later) == (300, False, True)
    assert counted(again, store) == answer("mask")


def test_what_was_saved_after_the_deadline_while_nobody_watched_is_late(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3", minutes=10)
    clocks.pass_time(300)
    desk.save(answer("scale"))
    session.observe()
    clocks.pass_time(2000)
    desk.save(answer(), ago=100)
    again = Session(store, session.plan, clocks)
    again.resume()
    assert again.round.saves[-1].late
    assert counted(again, store) == answer("scale")


def test_the_remaining_time_is_the_true_one(begin: Begin, store: InterviewStore, clocks: Clocks) -> None:
    session = begin("v3", minutes=10)
    clocks.pass_time(400)
    again = Session(store, session.plan, clocks)
    again.resume()
    assert again.remaining() == 200


def test_after_a_power_cut_the_wall_clock_tells_the_time(
    begin: Begin, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3", minutes=10)
    clocks.pass_time(100)
    session.ask("mask_shape")
    clocks.reboot(200)
    again = Session(store, session.plan, clocks)
    again.resume()
    assert again.remaining() == 300
    assert again.interview.last.data == {"restarted": True}
    clocks.pass_time(300)
    again.observe()
    assert again.phase == "grading"


def test_a_file_cannot_be_older_than_the_last_look_at_it(begin: Begin, desk: Desk, clocks: Clocks) -> None:
    session = begin("v3")
    clocks.pass_time(300)
    session.observe()
    clocks.pass_time(10)
    desk.save(answer(), ago=100_000)  # as `mv` and `cp -p` leave it
    session.observe()
    assert session.round.saves[-1].seconds == 300


# Sleep and clocks


def test_sleep_is_noted_and_costs_nothing(begin: Begin, clocks: Clocks) -> None:
    session = begin("v3", minutes=10)
    clocks.pass_time(60)
    clocks.sleep(3600)
    [note] = session.observe()
    assert (note.kind, note.data) == ("clock", {"kind": "slept", "seconds": 3600.0})
    assert session.remaining() == 540
    clocks.pass_time(10)
    assert session.observe() == ()  # noted once
    assert session.deadline() == clocks.wall + timedelta(seconds=530)


def test_a_clock_that_was_set_is_noted_and_gains_nothing(begin: Begin, clocks: Clocks) -> None:
    session = begin("v3", minutes=10)
    clocks.pass_time(60)
    clocks.set_wall(-3600)
    [note] = session.observe()
    assert note.data == {"kind": "clock_set", "seconds": -3600.0}
    assert session.remaining() == 540


def test_a_save_before_sleep_that_nobody_watched_is_not_late(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3", minutes=10)
    clocks.pass_time(500)
    desk.save(answer())
    clocks.sleep(9000)
    clocks.pass_time(200)
    again = Session(store, session.plan, clocks)
    again.resume()
    assert not again.round.saves[-1].late
    assert counted(again, store) == answer()


# Others


def test_what_another_process_did_is_seen(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    room, other = begin("v3"), None
    with InterviewStore(store._database.path) as elsewhere:
        other = Session(elsewhere, room.plan, clocks)
        desk.save(answer())
        other.submit()
    room.observe()
    assert room.phase == "grading"


def test_aborting_frees_the_folder_and_keeps_everything(
    begin: Begin, desk: Desk, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3")
    clocks.pass_time(60)
    path = desk.save(answer("mask"))
    session.abort()
    assert session.interview.aborted
    assert path.read_text(encoding="utf-8") == answer("mask")
    assert session.observe() == ()
    with pytest.raises(UsageError, match="This interview is over"):
        session.abort()
    with pytest.raises(UsageError, match="No interview is on"):
        current(desk.folder, store, clocks)
    assert latest(desk.folder, store, clocks).plan == session.plan
    assert begin("v1").phase == "writing"


def test_the_latest_interview_of_nobody_is_a_usage_error(store: InterviewStore, clocks: Clocks) -> None:
    with pytest.raises(UsageError, match="no interview yet"):
        latest(Path("/"), store, clocks)


def test_the_ladder_gives_each_level_its_own_clock(
    begin: Begin, desk: Desk, store: InterviewStore, interviews: History, clocks: Clocks, catalog: object
) -> None:
    session = begin("v1", "v2")
    clocks.pass_time(60)
    desk.save(answer(), "self_attention_v1.py")
    with pytest.raises(UsageError, match="still running"):
        go_on(session, catalog, interviews, clocks)  # type: ignore[arg-type]
    session.submit()
    assert session.phase == "between"
    clocks.pass_time(1000)  # a rest between the levels costs nothing
    go_on(session, catalog, interviews, clocks)  # type: ignore[arg-type]
    assert session.phase == "writing"
    assert session.round.kata == "v2"
    assert session.remaining() == session.plan.limits[1]
    clocks.pass_time(session.remaining())
    session.observe()
    assert session.phase == "grading"
    again = Session(store, session.plan, clocks)
    assert [one.end for one in again.interview.rounds] == [60, session.plan.limits[1]]


def test_giving_up_ends_the_ladder(begin: Begin) -> None:
    session = begin("v1", "v2")
    session.give_up()
    assert session.phase == "grading"
