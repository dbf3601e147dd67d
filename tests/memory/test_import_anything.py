"""Exports with anything in them: refused as a whole, or taken in, and then all that reads still works."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.catalog import Catalog
from grader.cli.app import App
from grader.cli.main import cli
from grader.debugging.content import load_stock
from grader.debugging.desk import open_room
from grader.debugging.rooms import make_room
from grader.debugging.store import RoomStore
from grader.interview import followups, round_grading
from grader.interview.moments import Moment
from grader.interview.opening import Wish, open_interview
from grader.memory.transfer import export_history
from grader.records import AttentionMap, Diagnosis, Grade, Submission
from tests.memory.conftest import Diary

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
READING = (("history",), ("stats",), ("next",), (), ("report", "-v"), ("interview", "debrief"))
FORMATS = (
    *(("history", "--json"), ("stats", "--json"), ("next", "--json"), ("list",), ("export",)),
    *(("report", "--format", form) for form in ("html", "md", "json")),
    *(("interview", "debrief", "--format", form) for form in ("html", "md", "json")),
)
LINK = "v3\x1b]8;;http://example.com\x07\u202e"


class Desk:
    """Commands with a home of their own and a grader that is always content."""

    def __init__(self, folder: Path, make_grade: Callable[..., Grade]) -> None:
        self.folder = folder
        self.database = folder / "kata" / "history.db"
        self._make_grade = make_grade

    def __call__(self, *words: str | Path) -> Result:
        def grade(_: Submission, kata: Any, *__: object) -> Grade:
            return self._make_grade(kata.id)

        app = App(clock=lambda: NOW, grade=grade)
        app.__dict__["home"] = self.database.parent
        result = CliRunner().invoke(cli, [str(word) for word in words], obj=app)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    def read_all(self) -> None:
        """All that reads ends well, or says what is wrong, and writes no sign that moves a cursor."""
        for words in READING:
            done = self(*words)
            assert done.exit_code in (0, 2), (words, done.output)
            assert not any(sign in done.output for sign in "\x1b\x07\r\x9b\u202e\0"), words


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


@pytest.fixture
def desk(work: Path, make_grade: Callable[..., Grade], monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.chdir(work)
    yield Desk(work, make_grade)
    shutil.rmtree(work / "kata", ignore_errors=True)


@pytest.fixture
def whole(diary: Diary, catalog: Catalog, tmp_path: Path) -> dict[str, Any]:
    """A real export with every kind of row and event, over a week of practice."""
    text = "class SelfAttentionV3:\n    def forward(self, x): ...\n"
    submission = Submission(
        name="a.py", source=text.encode(), sha256=hashlib.sha256(text.encode()).hexdigest()
    )
    weights = ((1.0, 0.0), (0.5, None))
    made = diary._make_grade("v3", missed=("mask",), source=text)
    found = Diagnosis(mistakes=("mask_inverted",), concept="mask", sentence="It is.", fix="Mend it.", line=2)
    shown = AttentionMap(title="with a mask", expected=((1.0, 0.0), (0.5, 0.5)), actual=weights)
    made = msgspec.structs.replace(made, diagnosis=(found,), maps=(shown,), reason="The mask is inverted.")
    for kata in ("v1", "v3"):
        diary.start(kata)
        diary.history.take_hint(kata, 4)
        diary.history.record_fix_seen(kata, "mask_inverted")
        diary.wait(minutes=9)
        diary.history.record_attempt(
            made if kata == "v3" else diary._make_grade(kata), submission, tmp_path / "a.py"
        )
        diary.wait(days=2)
    diary.history.record_solution_seen("v1", gave_up=False)
    v3 = catalog.get("v3")
    open_room(make_room(load_stock(v3, catalog), 7), v3, tmp_path, diary.history)
    with RoomStore(diary.history.path, diary.history.clock) as store:
        store.record_grade(store.rooms()[0], made, submission)
        store.record_reveal(store.rooms()[0])

    def moment() -> Moment:
        return Moment(wall=diary.now, mono=diary.now.timestamp(), boot="boot", slept=0.0)

    session = open_interview(
        Wish(katas=(catalog.get("v1"),)), tmp_path, diary.history, diary.interviews, moment
    )
    session.ask("batched")
    session.take_hint(1)
    session.ran("ended with 0")
    diary.wait(minutes=2)
    session.round.path.write_text(text.replace("V3", "V1"), encoding="utf-8")
    session.submit()
    grade = lambda *_: diary._make_grade("v1")  # noqa: E731
    round_grading.settle(session, diary.history, diary.interviews, catalog, grade)
    round_grading.grade_timeline(session, diary.interviews, catalog, grade)
    asked = followups.ask(session, catalog)
    session.answer(asked[0].question.id, "because", 3.0)
    session.mark(asked[0].question.id, [True])
    session.finish()
    path = diary.history.path
    diary.close()
    document: dict[str, Any] = json.loads(export_history(path, NOW))
    assert all(document["tables"].values())
    return document


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document, also within the JSON texts that it holds."""
    if at:
        yield at
    if isinstance(value, str) and value.startswith("{"):
        with contextlib.suppress(json.JSONDecodeError):
            value = json.loads(value)
            at = (*at, None)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*at, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*at, number))


def changed(value: Any, at: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """The document with `change(container, key)` done to one place."""
    if at[0] is None:
        return json.dumps(changed(json.loads(value), at[1:], change))
    if len(at) == 1:
        change(value, at[0])
    else:
        value[at[0]] = changed(value[at[0]], at[1:], change)
    return value


def replaced(new: Any) -> Callable[[Any, Any], None]:
    return lambda container, key: container.__setitem__(key, new)


def dropped(container: Any, key: Any) -> None:
    del container[key]


def doubled(container: Any, key: Any) -> None:
    if isinstance(container, list):
        container.append(container[key])
    else:
        container[f"{key}_"] = container[key]


RUBBISH = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**31, 2**32, 2**53, 2**63, 2**70, -(2**70), 10**400, 1e308, -1e308, 0.5, -0.5]),
    st.sampled_from(
        ["", "garbage", LINK, "a\nb", "\0", "v1", "v9", "x" * 200_000, "é", "../../x.py", "passed"]
    ),
    st.sampled_from(["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2199-12-31T23:59:59Z"]),
    st.sampled_from([[], {}, [[]], [None], {"a": 1}, [1.5, True]]),
    st.text(max_size=20),
)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_changed_export_is_refused_or_harmless(
    desk: Desk, whole: dict[str, Any], data: st.DataObject
) -> None:
    shutil.rmtree(desk.database.parent, ignore_errors=True)
    document = json.loads(json.dumps(whole))
    for _ in range(data.draw(st.sampled_from([1, 1, 1, 2, 3]))):
        at = data.draw(st.sampled_from(list(places(document))))
        change = data.draw(st.one_of(st.just(dropped), st.just(doubled), RUBBISH.map(replaced)))
        document = changed(document, at, change)
    file = desk.folder / "changed.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    done = desk("import", file)
    if done.exit_code == 0:
        desk.read_all()
    else:
        assert done.exit_code == 2, done.output
        assert "Error:" in done.output
        assert "Nothing was changed" in done.output or "newer kata" in done.output
        assert desk("history").output.startswith("No attempts yet.")


def test_the_real_export_is_taken_in_and_shown(desk: Desk, whole: dict[str, Any]) -> None:
    (desk.folder / "whole.json").write_text(json.dumps(whole), encoding="utf-8")
    assert desk("import", desk.folder / "whole.json").exit_code == 0
    desk.read_all()
    for words in (*READING, *FORMATS):
        assert desk(*words).exit_code == 0, words
    assert "passed over" not in desk("stats").output


@pytest.mark.parametrize(
    ("table", "column", "rubbish"),
    [
        ("attempts", "at", "garbage"),
        ("attempts", "at", "0001-01-01T00:00:00+00:00"),
        ("attempts", "verdict", "brilliant"),
        ("attempts", "seed", "many"),
        ("attempts", "points", 2**62),
        ("attempts", "points", b"\xff"),
        ("attempts", "kata", LINK),
        ("attempts", "missed", LINK),
        ("attempts", "grade", "{"),
        ("attempts", "grade", b"\xff\xfe"),
        ("starts", "at", "garbage"),
        ("starts", "kind", LINK),
        ("hints", "number", "one"),
        ("fixes_seen", "mistakes", LINK),
        ("solutions_seen", "at", ""),
        ("interviews", "limits", "soon"),
        ("interviews", "katas", ""),
        ("interviews", "seed", 1.5),
        ("interview_events", "kind", "slept"),
        ("interview_events", "at", "garbage"),
        ("interview_events", "data", "[]"),
        ("interview_events", "round", 7),
        ("interview_grades", "verdict", LINK),
    ],
)
def test_rubbish_that_is_there_already_is_passed_over(
    desk: Desk, whole: dict[str, Any], table: str, column: str, rubbish: object
) -> None:
    (desk.folder / "whole.json").write_text(json.dumps(whole), encoding="utf-8")
    assert desk("import", desk.folder / "whole.json").exit_code == 0
    with sqlite3.connect(desk.database) as connection:
        connection.execute(f"UPDATE {table} SET {column} = ?", (rubbish,))
    connection.close()
    for words in READING:
        done = desk(*words)
        assert "fault in kata" not in done.output, (words, done.output)
        if words[:1] not in (("report",), ("interview",)):
            assert done.exit_code == 0, (words, done.output)
        assert not any(sign in done.output for sign in "\x1b\x07\r\u202e"), words
