"""Half-done work in a report: which TODOs are right, wrong, written and not reached, or open."""

from __future__ import annotations

from typing import get_args

from grader.records import Grade, TodoRecord, TodoStatus
from grader.report.code import Source
from grader.report.neutral import bounded
from grader.report.sections import TodoGroup, TodoItem, Todos, Tone

_TONES: dict[TodoStatus, Tone] = {"right": "good", "wrong": "bad", "written": "calm", "open": "open"}


def todos_of(grade: Grade, source: Source) -> Todos | None:
    """What is said of the TODOs; nothing where none is open."""
    if not grade.todos:
        return None
    groups = [
        (status, [todo.number for todo in grade.todos if todo.status == status])
        for status in get_args(TodoStatus)
    ]
    return Todos(
        groups=tuple(
            TodoGroup(status=status, numbers=_listed(numbers), many=len(numbers) > 1)
            for status, numbers in groups
            if numbers
        ),
        items=tuple(_item(todo, source) for todo in grade.todos),
    )


def _item(todo: TodoRecord, source: Source) -> TodoItem:
    return TodoItem(
        number=todo.number,
        text=bounded(todo.text, 200).rstrip("."),
        status=todo.status,
        tone=_TONES[todo.status],
        sentence=bounded(source.told(todo.sentence)),
        place=source.place(todo.line, around=0),
    )


def _listed(numbers: list[int]) -> str:
    *before, last = map(str, numbers)
    return f"{', '.join(before)} and {last}" if before else last
