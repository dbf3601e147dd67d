"""A bug hunt against the clock: the report first, nothing given away, and bug by bug in the debrief."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace
from textual.widgets import Markdown, Static

from grader.catalog import Catalog, Kata
from grader.cli.app import App
from grader.cli.main import cli
from grader.debugging.desk import entered_at
from grader.debugging.records import Room
from grader.history import History
from grader.interview.opening import current
from grader.interview.room.app import RoomApp, Waiting
from grader.interview.room.windows import Reading
from grader.interview.room.writing import WritingScreen
from grader.interview.store import InterviewStore
from grader.records import HELD_BACK, Diagnosis, Grade, Options, RoomRecord, Submission
from tests.interview.conftest import Clocks, Desk

NAME = "v3_debug_7.py"
WORDS = ("--debug", "v3", "--seed", "7", "--bugs", "2")


class BugGrader:
    """Calls a bug mended when what was planted is gone from the text; `# broken` breaks something else."""

    def __init__(self, make_grade: Callable[..., Grade]) -> None:
        self._make_grade = make_grade
        self.room: Room | None = None

    def __call__(
        self, submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
    ) -> Grade:
        assert kata in catalog.katas
        assert self.room is not None
        assert options is not None
        assert options.planted == self.room.planted
        text = submission.source.decode()
        still = tuple(bug.label for bug in self.room.bugs if bug.wrong in text)
        new = ("mask_inverted",) if "# broken" in text else ()
        grade = self._make_grade("v3", verdict="failed" if still or new else "passed", source=text)
        room = RoomRecord(
            planted=self.room.labels,
            mended=tuple(label for label in self.room.labels if label not in still),
            still=still,
            new=new,
        )
        said = tuple(
            Diagnosis(mistakes=(label,), concept="mask", sentence=f"It is {label}.", fix="")
            for label in still
        )
        return replace(grade, room=room, diagnosis=said)


class Terminal:
    def __init__(self, app: App, desk: Desk, clocks: Clocks, grade: BugGrader) -> None:
        self.app = app
        self.desk = desk
        self.clocks = clocks
        self.grade = grade

    def __call__(self, *words: str) -> Result:
        result = CliRunner().invoke(cli, words, obj=self.app)
        assert not isinstance(result.exception, Exception), result.exception
        return result

    @property
    def path(self) -> Path:
        return self.desk.folder / NAME

    @property
    def room(self) -> Room:
        entered = entered_at(self.path, self.app.history)
        assert entered is not None
        return entered.room

    def begin(self, *words: str) -> Result:
        result = self("interview", "start", *WORDS, *words)
        assert result.exit_code == 0, result.output
        self.desk.touch(self.path)
        self.grade.room = self.room
        return result

    def mend(self, bugs: Sequence[int], *, after: float = 60, more: str = "") -> None:
        self.clocks.pass_time(after)
        text = self.path.read_text(encoding="utf-8")
        for bug in (self.room.bugs[number] for number in bugs):
            text = text.replace(bug.wrong, bug.right)
        self.desk.save(text + more, NAME)
        self("interview", "status")

    def submit(self) -> dict[str, Any]:
        self.clocks.pass_time(1)
        done = self("interview", "submit", "--json")
        assert done.stdout, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document


@pytest.fixture
def kata(
    desk: Desk, clocks: Clocks, make_grade: Callable[..., Grade], monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    monkeypatch.chdir(desk.folder)
    grade = BugGrader(make_grade)
    return Terminal(App(clock=lambda: clocks().wall, grade=grade, moment=clocks), desk, clocks, grade)


def test_what_a_colleague_noticed_is_read_first(kata: Terminal) -> None:
    said = kata.begin().output
    assert "A colleague says" in said
    assert "now has 2 bugs" in said
    assert said.index("A colleague says") < said.index("Now let's make it fit") < said.index("25:00 left")
    assert "kata hint" not in said
    assert all(bug.label not in said for bug in kata.room.bugs)


def test_each_bug_is_told_with_when_and_how_it_was_mended(kata: Terminal) -> None:
    kata.begin()
    first, second = sorted(range(2), key=lambda number: kata.room.bugs[number].line)
    kata.mend([second])
    kata.mend([first])
    debrief = kata.submit()
    assert debrief["verdict"]["id"] == "strong"
    assert debrief["verdict"]["reasons"][0] == "all 2 bugs mended, and nothing new broken"
    (one,) = debrief["rounds"]
    assert (one["points"], one["max_points"]) == (2, 2)
    assert [(bug["status"], bug["save"], bug["seconds"]) for bug in one["bugs"]] == [
        ("mended", 2, 120.0),
        ("mended", 1, 60.0),
    ]
    for bug in one["bugs"]:
        changed = [line[1:].strip() for line in bug["change"]]
        assert any(part.strip() in line for line in changed for part in bug["wrong"].split("\n"))
        assert bug["experiment"]


@pytest.mark.parametrize(
    ("mended", "more", "word", "reason"),
    [
        ([0], "", "no", "1 of 2 bugs mended"),
        ([0, 1], "\n# broken\n", "lean_no", "2 of 2 bugs mended, and something is wrong that was right"),
    ],
)
def test_what_is_left_or_newly_broken_decides(
    kata: Terminal, mended: list[int], more: str, word: str, reason: str
) -> None:
    kata.begin()
    kata.mend(mended, more=more)
    verdict = kata.submit()["verdict"]
    assert verdict["id"] == word
    assert verdict["reasons"][0] == reason
    assert "formula" not in verdict["sentence"]
    text = kata("interview", "debrief").output
    assert ("it should be" in text) == (len(mended) < 2)


def test_the_questions_after_it_are_on_its_bugs(kata: Terminal) -> None:
    kata.begin()
    kata.mend([0, 1])
    questions = [one["question"] for one in kata.submit()["follow_ups"]]
    assert len(questions) == 3
    assert sum("How would a test have caught it?" in question for question in questions) == 2
    assert sum("loss curve" in question for question in questions) == 1


def test_nothing_of_it_is_an_attempt_at_the_kata(kata: Terminal) -> None:
    kata.begin()
    kata.mend([0, 1])
    kata.submit()
    assert kata.app.history.attempts() == []


def test_hints_are_refused_and_cost_nothing(kata: Terminal) -> None:
    kata.begin()
    refused = kata("hint", "v3", "--yes")
    assert refused.exit_code == 2
    assert "no hints in a bug hunt" in refused.stderr
    assert kata.app.history.hints_taken("v3") == 0


def test_a_grade_meanwhile_is_asked_first_gives_nothing_away_and_takes_the_verdict(kata: Terminal) -> None:
    kata.begin()
    kata.mend([0])
    label = kata.room.bugs[1].label
    assert kata("grade", NAME).exit_code == 2
    shown = kata("grade", NAME, "--yes")
    assert "1 of 2 mended" in shown.output
    assert label not in shown.output
    said = kata("grade", NAME, "--yes", "--json").stdout
    assert label not in said
    assert json.loads(said)["room"]["still"] == [HELD_BACK]
    assert kata.submit()["verdict"]["id"] == "none"


def test_whoever_has_the_bugs_revealed_gets_a_no(kata: Terminal) -> None:
    kata.begin()
    assert kata("debug", "v3", "--seed", "7", "--bugs", "2", "--reveal", "--yes").exit_code == 0
    kata.mend([0, 1])
    assert kata.submit()["verdict"]["id"] == "no"


def test_a_room_that_was_entered_before_is_no_new_hunt(kata: Terminal) -> None:
    kata("debug", "v3", "--seed", "7", "--bugs", "2")
    refused = kata("interview", "start", *WORDS)
    assert refused.exit_code == 2
    assert "was entered before" in refused.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--debug", "--ladder"),
        ("--debug", "v3", "--guided"),
        ("v3", "--bugs", "2"),
        ("v3", "--level", "easy"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(kata: Terminal, words: tuple[str, ...]) -> None:
    assert kata("interview", "start", *words).exit_code == 2


def test_it_can_be_sent_to_somebody(kata: Terminal, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kata.begin()
    kata.mend([0, 1])
    sent = kata.submit()
    assert kata("interview", "export", str(sent["id"]), "-o", "sent.json").exit_code == 0
    monkeypatch.setenv("KATA_HOME", str(home / "other"))
    kata.app = App(clock=lambda: kata.clocks().wall, grade=kata.grade, moment=kata.clocks)
    assert kata("interview", "import", "sent.json", "--candidate", "Ada").exit_code == 0
    debrief = kata("interview", "debrief", str(sent["id"]), "--format", "json")
    assert json.loads(debrief.stdout)["rounds"] == sent["rounds"]


@pytest.mark.anyio
async def test_the_room_shows_the_report_before_the_clock_and_has_no_hints(
    kata: Terminal,
    interviews: History,
    store: InterviewStore,
    catalog: Catalog,
    clocks: Clocks,
    desk: Desk,
    tmp_path: Path,
) -> None:
    kata.begin()
    session = current(desk.folder, store, clocks)
    waiting = Waiting(kata=catalog.get("v3"), limit=600.0, begin=lambda: session, room=kata.room)
    app = RoomApp(
        waiting, interviews, store, catalog, kata.grade, clocks, browse=lambda _: None, pages=tmp_path
    )
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        assert "2 bugs to find, without hints" in str(app.screen.query_one("#terms", Static).render())
        assert "A colleague says" in app.screen.query_one(Markdown).source
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, WritingScreen)
        assert "A colleague says" in app.screen.query_one(Markdown).source
        await pilot.press("h")
        await pilot.pause()
        assert not isinstance(app.screen, Reading)
        assert session.round.hints == 0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
