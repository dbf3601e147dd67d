"""`kata debug`, and `kata grade` on a room's file."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest

from grader.debugging.desk import entered_at
from grader.records import HELD_BACK, Grade, RoomRecord
from tests.cli.conftest import FakeGrader, Terminal


def test_a_room_is_written_with_what_a_colleague_noticed(kata: Terminal) -> None:
    result = kata("debug", "v3", "--seed", 7)
    assert result.exit_code == 0
    text = (kata.folder / "v3_debug_7.py").read_text(encoding="utf-8")
    assert "class SelfAttentionV3" in text
    assert result.output.count("·") == 4
    assert "kata grade" in result.output
    assert entered_at(kata.folder / "v3_debug_7.py", kata.app.history) is not None


def test_it_never_writes_over_anything(kata: Terminal) -> None:
    kata("debug", "v3", "--seed", 7)
    path = kata.folder / "v3_debug_7.py"
    path.write_text("# half done\n", encoding="utf-8")
    assert "Nothing was changed" in kata("debug", "v3", "--seed", 7).output
    assert path.read_text(encoding="utf-8") == "# half done\n"
    kata.write("v3_debug_8.py", "# mine\n")
    refused = kata("debug", "v3", "--seed", 8)
    assert refused.exit_code == 2
    assert (kata.folder / "v3_debug_8.py").read_text(encoding="utf-8") == "# mine\n"
    assert kata("debug", "v3", "--seed", 7, "--level", "hard").exit_code == 2


@pytest.mark.parametrize("bugs", ["0", "6", "99"])
def test_too_many_bugs_is_wrong_usage_that_names_the_most(kata: Terminal, bugs: str) -> None:
    result = kata("debug", "v3", "--bugs", bugs)
    assert result.exit_code == 2
    assert "at most 5 bugs" in result.output
    assert not list(kata.folder.glob("*.py"))


def test_json_holds_the_bugs_back_until_they_are_revealed(kata: Terminal) -> None:
    document = json.loads(kata("debug", "v3", "--seed", 7, "--json").stdout)
    assert "bugs" not in document
    assert document["text"] == (kata.folder / "v3_debug_7.py").read_text(encoding="utf-8")
    revealed = json.loads(kata("debug", "v3", "--seed", 7, "--json", "--reveal").stdout)
    assert [sorted(bug) for bug in revealed["bugs"]] == [["label", "line", "right", "wrong"]] * 4
    assert all(revealed["text"].count(bug["wrong"]) == 1 for bug in revealed["bugs"])
    shown = kata("debug", "v3", "--seed", 7, "--reveal").output
    assert all(bug["label"] in shown for bug in revealed["bugs"])


def test_grading_a_room_asks_for_its_bugs_and_is_no_attempt(kata: Terminal, grader: FakeGrader) -> None:
    room = json.loads(kata("debug", "v3", "--seed", 7, "--json", "--reveal").stdout)
    labels = tuple(bug["label"] for bug in room["bugs"])

    def graded(*args: object, **more: object) -> Grade:
        grade = grader(*args, **more)  # type: ignore[arg-type]
        return msgspec.structs.replace(grade, room=RoomRecord(planted=labels, mended=labels))

    kata.app.grade = graded
    for words in (("v3_debug_7.py",), ()):
        result = kata("grade", *words)
        assert result.exit_code == 0, result.output
        assert "ALL 4 MENDED" in result.output
    asked = grader.asked[-1][2]
    assert asked is not None
    assert tuple(one.label for one in asked.planted) == labels
    assert kata.app.history.attempts() == []
    assert kata.app.history.best() == {}
    assert kata("solution", "v3").exit_code == 2


def test_the_report_tells_bug_by_bug(kata: Terminal, make_grade: Callable[..., Grade]) -> None:
    room = json.loads(kata("debug", "v3", "--seed", 7, "--json", "--reveal").stdout)
    first, *others = (bug["label"] for bug in room["bugs"])

    def graded(*_: object, **__: object) -> Grade:
        told = RoomRecord(planted=(first, *others), mended=tuple(others), still=(first,), new=("no_scale",))
        return msgspec.structs.replace(make_grade("v3", missed=("scale",)), room=told)

    kata.app.grade = graded
    file = kata.folder / "v3_debug_7.py"
    text = file.read_text(encoding="utf-8")
    for bug in room["bugs"][1:]:
        text = text.replace(bug["wrong"], bug["right"])
    file.write_text(text, encoding="utf-8")
    result = kata("grade", "v3_debug_7.py")
    assert result.exit_code == 1
    assert "3 of 4 mended" in result.output
    assert f"{first}, line" in " ".join(result.output.split())
    assert "newly broken: no_scale" in result.output
    document = json.loads(kata("grade", "v3_debug_7.py", "--json").stdout)
    assert document["room"]["still"] == [first]
    assert {"planted", "mended", "still", "new", "touched"} <= document["room"].keys()


def test_next_and_statistics_know_what_a_hunt_left(kata: Terminal, make_grade: Callable[..., Grade]) -> None:
    room = json.loads(kata("debug", "v3", "--seed", 7, "--json", "--reveal").stdout)
    first, *others = (bug["label"] for bug in room["bugs"])
    left: list[str] = []

    def graded(*_: object, **__: object) -> Grade:
        mended = tuple(label for label in (first, *others) if label not in left)
        told = RoomRecord(planted=(first, *others), mended=mended, still=tuple(left))
        return msgspec.structs.replace(make_grade("v3", missed=("scale",) if left else ()), room=told)

    kata.app.grade = graded
    file = kata.folder / "v3_debug_7.py"
    text = file.read_text(encoding="utf-8")
    for bug in room["bugs"][1:]:
        text = text.replace(bug["wrong"], bug["right"])
    file.write_text(text, encoding="utf-8")
    left.append(first)
    kata("grade", "v3_debug_7.py")
    said = " ".join(kata("next").stdout.split())
    assert "Your last bug hunt left 1 of 4 bugs" in said
    assert "kata debug v3" in said
    numbers = json.loads(kata("stats", "--json").stdout)["hunts"]
    assert numbers == [{"kata": "v3", "rooms": 1, "planted": 4, "mended": 3, "missed": [first]}]
    shown = " ".join(kata("stats").stdout.split())
    assert f"3 of 4 bugs mended in 1 room. Missed: {first}" in shown
    left.clear()
    kata("grade", "v3_debug_7.py")
    assert "bug hunt" not in kata("next").stdout
    assert json.loads(kata("stats", "--json").stdout)["hunts"][0]["missed"] == []


def test_what_an_interview_holds_back_is_only_counted(
    kata: Terminal, make_grade: Callable[..., Grade]
) -> None:
    kata("debug", "v3", "--seed", 7)
    room = RoomRecord(planted=(HELD_BACK,) * 4, mended=(HELD_BACK,) * 1, still=(HELD_BACK,) * 3)
    kata.app.grade = lambda *_, **__: msgspec.structs.replace(make_grade("v3", missed=("scale",)), room=room)
    kata("grade", "v3_debug_7.py")
    [told] = json.loads(kata("stats", "--json").stdout)["hunts"]
    assert (told["planted"], told["missed"]) == (4, [])
