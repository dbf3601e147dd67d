"""The room, driven by Textual's pilot: keys in, screens and events out."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from textual.pilot import Pilot
from textual.widgets import Digits, Markdown, OptionList, RichLog, Static, TextArea
from textual.widgets._footer import FooterKey

from grader.catalog import Catalog
from grader.errors import UsageError
from grader.history import History
from grader.interview.room.app import RoomApp, Waiting, open_room
from grader.interview.room.asking import AskingScreen
from grader.interview.room.debriefing import DebriefScreen
from grader.interview.room.ready import ReadyScreen
from grader.interview.room.windows import Clarifying, Confirming, Reading, TooSmall
from grader.interview.room.writing import WritingScreen
from grader.interview.session import Session
from grader.interview.store import InterviewStore
from tests.interview.conftest import Begin, Clocks, Desk, ReadingGrader, answer
from tests.sampling import some

pytestmark = pytest.mark.anyio

Pilots = Pilot[None]
OpenRoom = Callable[..., "AsyncIterator[tuple[RoomApp, Pilots]]"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Room:
    """Opens rooms, and says what is in them."""

    def __init__(
        self,
        interviews: History,
        store: InterviewStore,
        catalog: Catalog,
        read_grade: ReadingGrader,
        clocks: Clocks,
        folder: Path,
    ) -> None:
        self.browsed: list[Path] = []
        self._parts = (interviews, store, catalog, read_grade, clocks)
        self._pages = folder / "pages"

    @asynccontextmanager
    async def __call__(
        self, session: Session | Waiting, size: tuple[int, int] = (120, 30)
    ) -> AsyncIterator[tuple[RoomApp, Pilots]]:
        history, store, catalog, grade, clocks = self._parts
        app = RoomApp(
            session, history, store, catalog, grade, clocks, browse=self.browsed.append, pages=self._pages
        )
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield app, pilot


@pytest.fixture
def room(
    interviews: History,
    store: InterviewStore,
    catalog: Catalog,
    read_grade: ReadingGrader,
    clocks: Clocks,
    tmp_path: Path,
) -> Room:
    return Room(interviews, store, catalog, read_grade, clocks, tmp_path)


def words(app: RoomApp, place: str) -> str:
    return str(app.screen.query_one(f"#{place}", Static).render())


def log(app: RoomApp) -> str:
    assert app.writing is not None
    return "\n".join(line.text for line in app.writing.query_one("#log", RichLog).lines)


async def until(pilot: Pilots, true: Callable[[], bool]) -> None:
    """Let the room work until something has come about."""
    with anyio.fail_after(20):
        while not true():
            await pilot.pause(0.01)


async def to_questions(app: RoomApp, pilot: Pilots) -> None:
    await until(pilot, lambda: isinstance(app.screen, AskingScreen))


async def test_the_room_shows_brief_clock_file_and_what_is_looked_at(room: Room, begin: Begin) -> None:
    async with room(begin("v3")) as (app, _):
        assert app.screen.query_one("#clock", Digits).value == "25:00"
        assert "25 minutes left of 25" in words(app, "words")
        assert "self_attention_v3.py" in words(app, "file")
        assert "not saved yet" in words(app, "saves")
        assert "Scores are divided by √hidden_dim" in words(app, "concepts")
        assert "The clock is running" in log(app)


async def test_at_sixty_columns_the_time_that_is_left_is_whole(
    room: Room, begin: Begin, clocks: Clocks
) -> None:
    async with room(begin("v3"), size=(60, 20)) as (app, pilot):
        clocks.pass_time(1)
        await until(pilot, lambda: "24 minutes 59 seconds left of 25" in words(app, "words"))
        assert app.writing is not None
        shown = app.writing.query_one("#words")
        assert len(words(app, "words")) <= shown.content_size.width


async def test_a_save_is_seen_and_shown(room: Room, begin: Begin, desk: Desk, clocks: Clocks) -> None:
    async with room(begin("v3")) as (app, pilot):
        clocks.pass_time(65)
        desk.save(answer("mask"))
        await until(pilot, lambda: "Save 1" in log(app))
        assert "01:05  Save 1" in log(app)
        assert "1 save, the last at 01:05" in words(app, "saves")
        assert "mask" not in log(app)  # strict: nothing of the hidden checks


async def test_a_file_that_is_replaced_as_editors_do_is_seen(
    room: Room, begin: Begin, desk: Desk, clocks: Clocks
) -> None:
    async with room(begin("v3")) as (app, pilot):
        clocks.pass_time(65)
        beside = desk.save(answer("mask"), "next.tmp")
        beside.replace(desk.folder / "self_attention_v3.py")
        await until(pilot, lambda: "Save 1" in log(app))


async def test_a_file_that_cannot_be_read_is_told(
    room: Room, begin: Begin, desk: Desk, clocks: Clocks
) -> None:
    async with room(begin("v3")) as (app, pilot):
        clocks.pass_time(5)
        desk.save("")
        app.look()
        await pilot.pause()
        assert "is empty" in words(app, "saves")


@pytest.mark.slow
async def test_the_clock_becomes_urgent_in_words_too(room: Room, begin: Begin, clocks: Clocks) -> None:
    async with room(begin("v3")) as (app, pilot):
        clocks.pass_time(25 * 60 - 290)
        app.look()
        await pilot.pause()
        assert app.screen.has_class("urgent")
        assert "4 minutes 50 seconds left: come to an end" in words(app, "words")
        assert "left" in log(app)
        clocks.pass_time(240)
        app.look()
        await pilot.pause()
        assert app.screen.has_class("last")
        assert "50 seconds left: save now" in words(app, "words")


async def test_submitting_asks_first_then_grades_and_asks_questions(
    room: Room, begin: Begin, desk: Desk, clocks: Clocks, interviews: History
) -> None:
    session = begin("v3")
    async with room(session) as (app, pilot):
        clocks.pass_time(300)
        desk.save(answer("mask"))
        await pilot.press("s")
        assert isinstance(app.screen, Confirming)
        await pilot.press("n")
        assert session.phase == "writing"
        await pilot.press("s", "y")
        await to_questions(app, pilot)
        assert session.phase == "questions"
        assert interviews.attempts()[0].missed == ("mask",)


async def test_the_whole_way_to_the_debrief(
    room: Room, begin: Begin, desk: Desk, clocks: Clocks, store: InterviewStore
) -> None:
    session = begin("v3")
    async with room(session) as (app, pilot):
        clocks.pass_time(300)
        desk.save(answer("mask"))
        await pilot.press("s", "y")
        for number in range(3):
            await to_questions(app, pilot)
            assert f"Question {number + 1} of 3" in words(app, "asking-clock")
            # two minutes each; the room's own clock may have ticked on a busy machine
            assert re.search(r"0[12]:\d\d left", words(app, "asking-clock"))
            await pilot.press("b", "e", "c", "a", "u", "s", "e")
            await pilot.press("ctrl+s")
            assert app.screen.query_one(TextArea).read_only
            assert "A good answer" in words(app, "model")
            await pilot.press("space", "ctrl+s")
            await pilot.pause()
        await until(pilot, lambda: isinstance(app.screen, DebriefScreen))
        assert "LEAN NO" in words(app, "debrief-text")
        assert max(map(len, words(app, "debrief-text").splitlines())) < app.size.width
        assert session.interview.closing is not None
        assert store.open_in(desk.folder.resolve()) is None
        await pilot.press("o")
        assert room.browsed[0].read_text(encoding="utf-8").startswith("<!doctype html>")
        await pilot.press("q")
    answers = session.round.of("answered")
    assert [event.data["text"] for event in answers] == ["because"] * 3
    assert [event.data["points"][0] for event in session.round.of("marked")] == [True] * 3


async def test_at_the_deadline_the_room_goes_on_by_itself(
    room: Room, begin: Begin, desk: Desk, clocks: Clocks
) -> None:
    session = begin("v3", minutes=10)
    async with room(session) as (app, pilot):
        clocks.pass_time(590)
        desk.save(answer("mask"))
        app.look()
        await pilot.press("s")  # a window that is open then does not stand in the way
        clocks.pass_time(10)
        app.look()
        await to_questions(app, pilot)
        assert session.round.ending is not None
        assert session.round.ending.kind == "deadline"
        clocks.pass_time(5)
        desk.save(answer())
        app.look()
        assert session.round.saves[-1].late


async def test_a_room_that_was_left_is_opened_again_with_the_true_time(
    room: Room, begin: Begin, clocks: Clocks, store: InterviewStore
) -> None:
    session = begin("v3", minutes=10)
    async with room(session) as (_, pilot):
        await pilot.press("ctrl+q")
    clocks.pass_time(120)
    again = Session(store, session.plan, clocks)
    again.resume()
    async with room(again) as (app, _):
        assert app.screen.query_one("#clock", Digits).value == "08:00"
        assert "The room was opened again" in log(app)


async def test_a_room_that_is_opened_after_the_deadline_grades_what_there_was(
    room: Room, begin: Begin, desk: Desk, clocks: Clocks, store: InterviewStore
) -> None:
    session = begin("v3", minutes=10)
    clocks.pass_time(2000)
    desk.save(answer("scale"), ago=1700)
    again = Session(store, session.plan, clocks)
    again.resume()
    async with room(again) as (app, pilot):
        await to_questions(app, pilot)
        assert again.round.graded is not None
        assert again.round.graded.data["missed"] == ["scale"]


async def test_questions_to_the_interviewer_are_free_and_noted(room: Room, begin: Begin) -> None:
    session = begin("v3")
    async with room(session) as (app, pilot):
        await pilot.press("a")
        assert isinstance(app.screen, Clarifying)
        app.screen.query_one(OptionList).focus()
        await pilot.press("enter")
        assert "1 or True is visible" in words(app, "reply")
        await pilot.press("escape")
        assert "You asked: Does 1 in the mask" in log(app)
    assert len(session.round.of("asked")) == 1


async def test_a_hint_is_taken_only_when_it_is_wanted(room: Room, begin: Begin, interviews: History) -> None:
    session = begin("v3")
    async with room(session) as (app, pilot):
        await pilot.press("h", "n")
        assert session.round.hints == 0
        for number in range(1, 5):
            await pilot.press("h", "y")
            assert isinstance(app.screen, Reading)
            await pilot.press("enter")
            assert session.round.hints == number
        await pilot.press("h")
        assert isinstance(app.screen, Reading)  # there are no more: all of them again, at no cost
        assert session.round.hints == 4
    assert interviews.hints_taken("v3") == 4


async def test_my_file_runs_and_its_output_is_harmless(
    room: Room, begin: Begin, desk: Desk, clocks: Clocks
) -> None:
    session = begin("v3")
    async with room(session) as (app, pilot):
        clocks.pass_time(10)
        desk.save("if __name__ == '__main__':\n    print('shape \\x1b[31m(2, 3)')\n")
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, Reading))
        shown = "".join(str(part.render()) for part in app.screen.query(Static))
        assert "shape ␛[31m(2, 3)" in shown
        assert "ran to its end" in shown
    assert session.round.of("ran")[0].data == {"outcome": "ran to its end"}


async def test_giving_up_is_graded_all_the_same(room: Room, begin: Begin) -> None:
    session = begin("v3")
    async with room(session) as (app, pilot):
        await pilot.press("g", "y")
        await to_questions(app, pilot)
    assert session.round.graded is not None


async def test_help_says_what_the_keys_do(room: Room, begin: Begin) -> None:
    async with room(begin("v3")) as (app, pilot):
        await pilot.press("question_mark")
        assert isinstance(app.screen, Reading)


async def test_a_terminal_that_is_too_small_says_so_and_the_clock_goes_on(
    room: Room, begin: Begin, clocks: Clocks
) -> None:
    async with room(begin("v3"), size=(50, 12)) as (app, pilot):
        notice = app.screen.query_one(TooSmall)
        assert notice.display
        assert "50 columns by 12 lines" in str(notice.render())
        clocks.pass_time(60)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert not notice.display
        app.look()
        await pilot.pause()
        assert app.screen.query_one("#clock", Digits).value == "24:00"


async def test_eighty_by_twenty_four_is_enough(room: Room, begin: Begin) -> None:
    async with room(begin("v3"), size=(80, 24)) as (app, _):
        assert not app.screen.query_one(TooSmall).display
        for place in ("clock", "words", "file", "brief", "log"):
            region = app.screen.query_one(f"#{place}").region
            assert region.height > 0
            assert region.right <= 80
            assert region.bottom <= 24


async def test_practice_grades_each_save_and_says_so(
    room: Room, begin: Begin, desk: Desk, clocks: Clocks
) -> None:
    session = begin("v3", practice=True)
    async with room(session) as (app, pilot):
        clocks.pass_time(60)
        desk.save(answer("mask"))
        await until(pilot, lambda: len(session.round.of("tested")) == 1)
        await pilot.pause()
        assert "points" in log(app)


async def test_the_ladder_goes_from_level_to_level(
    room: Room, begin: Begin, desk: Desk, clocks: Clocks
) -> None:
    session = begin("v1", "v2")
    async with room(session) as (app, pilot):
        clocks.pass_time(60)
        desk.save(answer(), "self_attention_v1.py")
        await pilot.press("s", "y")
        await until(pilot, lambda: isinstance(app.screen, ReadyScreen))
        clocks.pass_time(500)  # the brief is read without a clock
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, WritingScreen))
        await pilot.pause()
        assert "level 2 of 2" in words(app, "words")
        assert "self_attention_v2.py" in words(app, "file")
        clocks.pass_time(60)
        desk.save(answer("mix"), "self_attention_v2.py")
        await pilot.press("s", "y")
        await to_questions(app, pilot)
    assert [one.graded is not None for one in session.interview.rounds] == [True, True]


async def test_the_clock_starts_when_the_brief_is_read_and_enter_is_pressed(
    room: Room, catalog: Catalog, begin: Begin, desk: Desk, clocks: Clocks
) -> None:
    async with room(Waiting(kata=catalog.get("v3"), limit=1500.0, begin=begin)) as (app, pilot):
        assert isinstance(app.screen, ReadyScreen)
        assert "the clock does not run yet" in words(app, "terms")
        assert "output projection" in app.screen.query_one(Markdown).source
        clocks.pass_time(600)
        await pilot.pause()
        assert list(desk.folder.iterdir()) == []
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, WritingScreen))
        await pilot.pause()
        assert app.screen.query_one("#clock", Digits).value == "25:00"
        assert app.session.remaining() == 1500.0


@pytest.mark.parametrize("key", ["escape", "ctrl+q"])
async def test_a_room_that_is_left_before_enter_leaves_nothing(
    room: Room, catalog: Catalog, begin: Begin, desk: Desk, store: InterviewStore, key: str
) -> None:
    async with room(Waiting(kata=catalog.get("v3"), limit=1500.0, begin=begin)) as (app, pilot):
        await pilot.press(key)
        await until(pilot, lambda: not app.is_running or app._exit)
        assert not app.begun
    assert store.plans() == []
    assert list(desk.folder.iterdir()) == []


async def test_an_interview_that_cannot_begin_says_so(room: Room, catalog: Catalog, begin: Begin) -> None:
    begin("v3")
    async with room(Waiting(kata=catalog.get("v3"), limit=1500.0, begin=begin)) as (app, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: app.refused is not None)
        assert app.refused is not None
        assert "is on in this folder" in app.refused.message


@pytest.mark.parametrize("key", some(1, ["g", "s", "h"]))
async def test_enter_is_no_yes_to_what_cannot_be_undone(room: Room, begin: Begin, key: str) -> None:
    session = begin("v3")
    async with room(session) as (app, pilot):
        await pilot.press(key, "enter")
        assert isinstance(app.screen, Confirming)
        await pilot.press("escape")
    assert (session.phase, session.round.hints) == ("writing", 0)


@pytest.mark.parametrize(
    "size", [(60, 16), *(pytest.param(size, marks=pytest.mark.slow) for size in ((60, 20), (80, 24)))]
)
async def test_the_way_out_is_visible_in_a_narrow_room(
    room: Room, catalog: Catalog, begin: Begin, size: tuple[int, int]
) -> None:
    async with room(Waiting(kata=catalog.get("v3"), limit=1500.0, begin=begin), size) as (app, pilot):
        for _ in range(2):
            await until(pilot, lambda: bool(app.screen.query(FooterKey)))  # a screen draws its footer last
            keys = list(app.screen.query(FooterKey))
            assert {"ctrl+q"} <= {key.key for key in keys}
            assert all(key.region.right <= size[0] for key in keys), [key.region for key in keys]
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, WritingScreen))
            await pilot.pause()


async def test_what_another_terminal_ends_ends_the_room(
    room: Room, begin: Begin, store: InterviewStore, clocks: Clocks
) -> None:
    session = begin("v3")
    async with room(session) as (app, pilot):
        Session(store, session.plan, clocks).abort()
        app.look()
        await pilot.pause()
        assert not app.is_running or app._exit


async def test_a_fault_of_the_grader_is_said_and_can_be_tried_again(
    room: Room, begin: Begin, desk: Desk, clocks: Clocks
) -> None:
    session = begin("v3")
    async with room(session) as (app, pilot):
        clocks.pass_time(60)
        desk.save("class SelfAttentionV3: ...  # grader fault\n")
        await pilot.press("s", "y")
        await until(pilot, lambda: bool(app._notifications))
        await pilot.pause(0.2)
    assert session.phase == "grading"


def test_an_interview_that_is_over_opens_no_room(
    begin: Begin,
    interviews: History,
    store: InterviewStore,
    catalog: Catalog,
    read_grade: ReadingGrader,
    clocks: Clocks,
    tmp_path: Path,
) -> None:
    session = begin("v3")
    session.abort()
    with pytest.raises(UsageError, match="is over"):
        open_room(session, interviews, store, catalog, read_grade, clocks, browse=print, pages=tmp_path)
