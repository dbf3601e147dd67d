"""A graded attempt as a document: on the screen, or in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import msgspec

from grader import paths
from grader.errors import UsageError
from grader.practice.attempts import Graded
from grader.records import encode_grade
from grader.snapshot import is_answer_name

Format = Literal["text", "html", "md", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)

_FORMAT_OF_SUFFIX: dict[str, Format] = {
    ".html": "html",
    ".htm": "html",
    ".md": "md",
    ".markdown": "md",
    ".json": "json",
    ".txt": "text",
}
_SUFFIX: dict[Format, str] = {"text": ".txt", "html": ".html", "md": ".md", "json": ".json"}


def document(
    graded: Graded,
    form: Format,
    *,
    width: int = 80,
    color: bool = False,
    unicode: bool = True,
    beside: int = 0,
) -> str:
    """The report in one format, ending with a newline; JSON is the grade itself.

    `width`, `color` and `unicode` say what the terminal can do that a text is for. `beside` are the lines
    that something else needs there, where the report is the short one.
    """
    if form == "json":
        return msgspec.json.format(encode_grade(graded.grade), indent=2).decode() + "\n"
    # Templates and colours are loaded for those who want a report only.
    if form == "text" and graded.context.brief and graded.grade.verdict != "grader_error":
        from grader.report.short import hunt_view, short_view
        from grader.report.terminal import render_text

        hunting = graded.grade.room is not None
        view = (hunt_view if hunting else short_view)(graded.grade, graded.kata, graded.context)
        return render_text(view, width, color, unicode=unicode, beside=beside)
    from grader.report.view import build_view

    view = build_view(graded.grade, graded.kata, graded.context)
    if form == "text":
        from grader.report.terminal import render_text

        return render_text(view, width, color, unicode=unicode)
    from grader.report.render import render

    return render(view, form)


def in_short(graded: Graded) -> str:
    """The verdict in a few signs: `✓ 14/14`, `✕ 12/14`, `✕ could not run`."""
    grade = graded.grade
    if grade.todos:
        done = sum(todo.status == "right" for todo in grade.todos)
        return f"○ {done} of {len(grade.todos)} TODOs right"
    if grade.verdict in ("passed", "failed"):
        return f"{'✓' if grade.verdict == 'passed' else '✕'} {grade.points}/{grade.max_points}"
    return "✕ could not run" if grade.verdict == "unrunnable" else "! the grader failed"


def format_of(wanted: str) -> tuple[Format, Path | None]:
    """What `html`, `md`, `json` or a path means: the format, and the path if it is one."""
    for form in FORMATS:
        if wanted.lower() == form:
            return form, None
    path = Path(wanted)
    found = _FORMAT_OF_SUFFIX.get(path.suffix.lower())
    if found is None:
        raise UsageError(
            f"What kind of report is '{wanted}'?",
            "Say html, md or json, or name a file that ends in .html, .md, .json or .txt.",
        )
    return found, path


def format_for(path: Path | None, otherwise: Format) -> Format:
    """The format that a file's name asks for; `otherwise` where no file's name tells one."""
    return otherwise if path is None else _FORMAT_OF_SUFFIX.get(path.suffix.lower(), otherwise)


def write_report(graded: Graded, form: Format, path: Path | None, home: Path) -> Path:
    """Write the report and return where it is: at `path`, else under this program's own folder in `home`."""
    target = path or paths.reports(home) / f"{_name(graded)}{_SUFFIX[form]}"
    if is_answer_name(target.name):
        raise UsageError(
            f"{target} would take the place of an answer.", "Name a file ending in .html or .md."
        )
    text = document(graded, form)
    try:
        if path is None:
            target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"The report could not be written to {target}: {error.strerror}.",
            "Name another file with --report PATH or --output PATH.",
        ) from error
    return target.absolute()


def _name(graded: Graded) -> str:
    if graded.attempt is None:
        return f"{graded.kata.id}-{graded.grade.seed}"
    return f"{graded.kata.id}-{graded.attempt.at:%Y-%m-%dT%H-%M-%S}-{graded.attempt.uuid[:8]}"
