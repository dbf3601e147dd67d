"""The history out of one machine and into another."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader.errors import UsageError
from grader.history import History
from grader.interview.moments import Moment
from grader.interview.opening import Wish, open_interview
from grader.interview.store import InterviewStore
from grader.memory.transfer import Imported, export_history, import_history
from grader.records import Submission
from tests.memory.conftest import START, Diary

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def full(diary: Diary, tmp_path: Path) -> Path:
    """A history with something in every table."""
    diary.start("v3")
    diary.history.take_hint("v3", 4)
    diary.history.record_solution_seen("v3", gave_up=True)
    source = b"class SelfAttentionV3: ...\n"
    sha256 = hashlib.sha256(source).hexdigest()
    diary.history.record_attempt(
        diary._make_grade("v3"), Submission(name="a.py", source=source, sha256=sha256), None
    )
    session = open_interview(
        Wish(katas=(diary.catalog.get("v1"),)),
        tmp_path,
        diary.history,
        diary.interviews,
        lambda: Moment(wall=diary.now, mono=0.0, boot="boot"),
    )
    session.ask("batched")
    path = diary.history.path
    diary.close()
    return path


def test_all_arrives_on_the_other_machine(full: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "history.db"
    done = import_history(export_history(full, NOW), other, "history.json")
    assert done.known == 0
    assert done.added >= 7
    with History(other, lambda: NOW) as arrived, History(full, lambda: NOW) as origin:
        assert arrived.attempts() == origin.attempts()
        assert arrived.grade(arrived.attempts()[0]) == origin.grade(origin.attempts()[0])
        assert arrived.source(arrived.attempts()[0]) == b"class SelfAttentionV3: ...\n"
        assert arrived.starts() == origin.starts()
        assert arrived.solutions_seen() == origin.solutions_seen()
        assert arrived.hints_taken("v3") == 1
    with InterviewStore(other) as arrived_too, InterviewStore(full) as origin_too:
        [plan] = arrived_too.plans()
        assert arrived_too.read(plan).events == origin_too.read(plan).events


def test_importing_twice_adds_nothing(full: Path, tmp_path: Path) -> None:
    document = export_history(full, NOW)
    other = tmp_path / "other.db"
    first = import_history(document, other, "history.json")
    assert import_history(document, other, "history.json") == Imported(added=0, known=first.added)
    assert import_history(document, full, "history.json").added == 0


def test_two_histories_that_went_on_are_merged(full: Path, tmp_path: Path, diary: Diary) -> None:
    other = tmp_path / "other.db"
    import_history(export_history(full, NOW), other, "history.json")
    with History(other, lambda: NOW) as elsewhere:
        elsewhere.record_attempt(diary._make_grade("v1"), None, None)
    diary.grade("v2", text="never mind")
    diary.close()
    assert import_history(export_history(other, NOW), full, "history.json").added == 1
    assert {attempt.kata for attempt in diary.history.attempts()} == {"v1", "v2", "v3"}


def test_the_sitting_that_is_on_is_the_latest_by_time_not_by_arrival(full: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with History(other, lambda: NOW) as elsewhere:
        elsewhere.record_start("v3", Path("/desk/new.py"), "reset")
        import_history(export_history(full, NOW), other, "history.json")
        assert elsewhere.starts(kata="v3")[0].path == Path("/desk/new.py")
        assert elsewhere.hints_taken("v3") == 0


def test_an_interview_that_is_on_goes_on_where_it_began(full: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    import_history(export_history(full, NOW), other, "history.json")
    with InterviewStore(other) as arrived, InterviewStore(full) as origin:
        assert origin.open_in(tmp_path.resolve()) is not None
        assert arrived.open_in(tmp_path.resolve()) is None


def test_an_empty_history_can_be_exported(tmp_path: Path) -> None:
    document = json.loads(export_history(tmp_path / "none.db", NOW))
    assert document["format"] == "attention-kata history"
    assert not (tmp_path / "none.db").exists()


def changed(full: Path, change: dict[str, Any]) -> bytes:
    document = json.loads(export_history(full, NOW)) | change
    return json.dumps(document).encode()


@pytest.mark.parametrize("content", [b"", b"not json", b"[]", b'{"format": "attention-kata history"}'])
def test_what_is_no_export_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UsageError, match=r"x\.json is no exported history"):
        import_history(content, tmp_path / "other.db", "x.json")
    assert not (tmp_path / "other.db").exists()


def test_another_format_is_refused(full: Path) -> None:
    with pytest.raises(UsageError, match="its format is 'diary'"):
        import_history(changed(full, {"format": "diary"}), full, "x.json")


@pytest.mark.parametrize("field", ["version", "schema"])
def test_an_export_of_a_newer_program_is_refused(full: Path, field: str) -> None:
    with pytest.raises(UsageError, match="newer kata"):
        import_history(changed(full, {field: 999}), full, "x.json")


@pytest.mark.parametrize(
    ("text", "why"), [("%%%", "damaged"), (base64.b64encode(b"other").decode(), "not what it was")]
)
def test_a_source_that_was_changed_is_refused(full: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        import_history(changed(full, {"sources": {"a" * 64: text}}), full, "x.json")


GOOD = {"uuid": "0", "kata": "v1", "at": str(START), "path": "p", "folder": "f", "kind": "start"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kata": None}, r"starts\[1\]\.kata: Expected `str`, got `null`"),
        ({"kata": []}, r"starts\[1\]\.kata: Expected `str`, got `array`"),
        ({"kata": "v1\x1b]8;;http://x\x07"}, r"starts\[1\]\.kata: Expected `str` matching"),
        ({"at": "garbage"}, r"starts\[1\]\.at: Invalid RFC3339"),
        ({"at": "0001-01-01T00:00:00Z"}, r"starts\[1\]: `at` is not between the years"),
        ({"at": "2026-11-30T00:00:00"}, r"starts\[1\]\.at: Expected `datetime` with a timezone"),
        ({"kind": "stop"}, r"starts\[1\]\.kind: Invalid enum value 'stop'"),
        ({"path": "a\0b"}, r"starts\[1\]\.path: "),
        ({"more": 1}, r"starts\[1\]: Object contains unknown field `more`"),
    ],
)
def test_a_row_that_does_not_fit_changes_nothing(
    full: Path, tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    content = changed(full, {"tables": {"starts": [GOOD, GOOD | {"uuid": "1"} | change]}})
    other = tmp_path / "other.db"
    with pytest.raises(UsageError, match=why):
        import_history(content, other, "x.json")
    assert not other.exists()


@pytest.mark.parametrize("text", ["caf\u00e9", "//79/A=="])
def test_a_source_that_is_no_text_is_refused(full: Path, text: str) -> None:
    with pytest.raises(UsageError, match="sources, aaaaaaaaaaaa: it is damaged"):
        import_history(changed(full, {"sources": {"a" * 64: text}}), full, "x.json")


def test_a_row_that_names_what_is_not_there_changes_nothing(full: Path, tmp_path: Path) -> None:
    document = json.loads(export_history(full, NOW))
    document["sources"] = {}
    other = tmp_path / "other.db"
    with pytest.raises(UsageError, match=r"attempts\[0\]: it names what is not there"):
        import_history(json.dumps(document).encode(), other, "x.json")
    with History(other, lambda: NOW) as untouched:
        assert untouched.starts() == []


def test_events_that_are_no_interview_change_nothing(full: Path, tmp_path: Path) -> None:
    document = json.loads(export_history(full, NOW))
    document["tables"]["interview_events"][:1] = []
    other = tmp_path / "other.db"
    with pytest.raises(UsageError, match="round 0 has not begun when something happens in it"):
        import_history(json.dumps(document).encode(), other, "x.json")
    with History(other, lambda: NOW) as untouched:
        assert untouched.starts() == []
