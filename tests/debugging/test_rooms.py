"""A room follows from its seed, and holds what it says."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from grader.debugging.changes import with_changes
from grader.debugging.records import LEVELS, Level, Room
from grader.debugging.rooms import make_room, most_bugs
from grader.debugging.withheld import withheld
from grader.errors import UsageError
from grader.records import HELD_BACK, Diagnosis, Grade, RoomRecord
from tests.debugging.stage import CATALOG, KATAS, stock

ROOM = make_room(stock("v3"), 7, "interview", 3)


@pytest.mark.parametrize("kata", KATAS)
@pytest.mark.parametrize("level", LEVELS)
def test_every_bug_stands_there_once_and_its_mend_gives_the_right_answer(kata: str, level: Level) -> None:
    offered = stock(kata)
    for seed in range(25):
        room = make_room(offered, seed, level)
        ast.parse(room.text)
        text = room.text
        for bug in room.bugs:
            assert room.text.count(bug.wrong) == 1
            first = room.text.split("\n")[bug.line - 1]
            assert any(part.strip() in first for part in bug.wrong.split("\n"))
            text = text.replace(bug.wrong, bug.right)
        assert text == next(style.text for style in offered.styles if style.name == room.style)
        assert room.report
        assert not any(label in room.text for label in room.labels)


def test_the_same_seed_gives_the_same_room_in_another_process_and_another_seed_another() -> None:
    code = (
        "from tests.debugging.stage import stock; from grader.debugging.rooms import make_room;"
        "print(make_room(stock('v3'), 7, 'interview', 3).text, end='')"
    )
    env = {"PYTHONHASHSEED": "12345", "PATH": ""}
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert said.stdout == ROOM.text
    texts = {make_room(stock("v3"), seed).text for seed in range(30)}
    assert len(texts) >= 28


def test_levels_differ() -> None:
    offered = stock("v3")
    subtle = {edit.wrong for style in offered.styles for edit in style.edits if edit.subtle}
    easy = [bug for seed in range(20) for bug in make_room(offered, seed, "easy").bugs]
    hard = [bug for seed in range(20) for bug in make_room(offered, seed, "hard").bugs]
    assert not any(bug.wrong in subtle for bug in easy)
    assert sum(bug.wrong in subtle for bug in hard) > len(hard) / 3
    assert len(make_room(offered, 1, "hard").report) < len(make_room(offered, 1, "hard").bugs)


@pytest.mark.parametrize("bugs", [0, -1, 6, 100])
def test_more_bugs_than_there_are_is_refused_with_the_most(bugs: int) -> None:
    with pytest.raises(UsageError, match=f"at most {most_bugs(stock('v3'))} bugs"):
        make_room(stock("v3"), 1, "interview", bugs)


def record(**changes: tuple[str, ...]) -> RoomRecord:
    return RoomRecord(planted=ROOM.labels, **changes)


def changed(room: Room, *edits: tuple[str, str]) -> str:
    text = room.text
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


def test_lines_that_no_mend_needed_are_named_and_mends_are_not() -> None:
    mends = tuple((bug.wrong, bug.right) for bug in ROOM.bugs)
    assert with_changes(record(mended=ROOM.labels), ROOM, changed(ROOM, *mends)).touched == ()
    number, line = next(
        (number, line) for number, line in enumerate(ROOM.text.split("\n"), 1) if "super().__init__()" in line
    )
    text = changed(ROOM, (line, line.replace("super()", f"super({CATALOG.get('v3').class_name}, self)")))
    assert with_changes(record(), ROOM, text).touched == (number,)


def test_a_bug_whose_text_stands_is_not_called_mended_while_something_is_wrong() -> None:
    first, *others = ROOM.bugs
    mended = tuple(bug.label for bug in others)
    told = with_changes(record(still=(first.label,), mended=mended), ROOM, ROOM.text)
    assert (told.mended, told.unknown) == ((), tuple(label for label in ROOM.labels if label in mended))
    text = changed(ROOM, *((bug.wrong, bug.right) for bug in others))
    assert with_changes(record(still=(first.label,), mended=mended), ROOM, text).mended == mended
    assert with_changes(record(mended=ROOM.labels), ROOM, ROOM.text).mended == ROOM.labels  # all passed


def test_comments_blank_lines_and_added_lines_are_no_change() -> None:
    text = changed(ROOM, ("super().__init__()\n", "super().__init__()  # mine\n\n        self.mine = 1\n"))
    assert with_changes(record(), ROOM, text).touched == ()


def test_what_is_still_there_has_its_line_wherever_it_moved() -> None:
    bug = ROOM.bugs[-1]
    moved = with_changes(record(still=(bug.label,)), ROOM, f"# one\n# two\n{ROOM.text}")
    assert moved.lines == {bug.label: bug.line + 2}


@pytest.mark.parametrize("text", ["", "x = 1\n", "(" * 5000, "\n" * 500_000])
def test_a_file_of_which_little_is_left_was_rewritten(text: str) -> None:
    assert with_changes(record(), ROOM, text).rewritten


def test_another_answer_to_the_same_kata_was_rewritten() -> None:
    other = Path(__file__).parents[1] / "corpus/v3/right_blockwise_flash_with_mask_and_dropout.py"
    assert with_changes(record(), ROOM, other.read_text(encoding="utf-8")).rewritten


def test_a_withheld_grade_tells_how_many_and_not_which() -> None:
    bug = ROOM.bugs[0]
    found = Diagnosis(mistakes=(bug.label,), concept="scale", sentence="It is that.", fix="", line=bug.line)
    room = RoomRecord(planted=ROOM.labels, still=(bug.label,), touched=(3,), lines={bug.label: bug.line})
    grade = Grade(kata="v3", verdict="failed", seed=1, reason="It is that.", diagnosis=(found,), room=room)
    told = withheld(grade)
    assert told.room == RoomRecord(planted=(HELD_BACK,) * 3, still=(HELD_BACK,))
    assert told.reason is None
    assert told.diagnosis == told.checks == told.concepts == told.trace == ()
