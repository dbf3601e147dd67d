"""Records as things that rich can print. Nothing is decided here but how it looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from grader.catalog import Kata
from grader.cli.console import local, place, safe
from grader.history import Attempt, Best
from grader.practice.explain import Explained
from grader.practice.explain import Group as LabelGroup
from grader.practice.hints import Fix, Hint
from grader.practice.overview import Overview, Progress, Standing
from grader.practice.solutions import Solution
from grader.records import Verdict
from grader.report.neutral import for_terminal
from grader.tracks import Track, Tracks

if TYPE_CHECKING:
    from rich.markdown import Markdown
    from rich.syntax import Syntax

    from grader.doctor import Section
    from grader.linting import LintReport
    from grader.memory.advice import Advice
    from grader.memory.plan import Plan, Why
    from grader.practice.demo import Answer, Result
    from grader.practice.questions import Question

_PROGRESS: dict[Progress, tuple[str, str]] = {
    "new": ("·", "dim"),
    "started": ("○ started", ""),
    "tried": ("○ tried", "yellow"),
    "passed": ("✓ passed", "green"),
}
_VERDICT: dict[Verdict, tuple[str, str]] = {
    "passed": ("passed", "green"),
    "failed": ("failed", "red"),
    "unrunnable": ("could not run", "red"),
    "grader_error": ("grader's fault", "yellow"),
}
_SHOWS = {"output": "Your output is exactly what you get when", "behaviour": "We saw that"}
_SIDE_BY_SIDE = 100  # columns from which two pieces of code stand beside each other
EXAMPLE = "example.md"
_MOST_CODE = 64 * 1024  # characters


def katas(standings: Sequence[Standing], tracks: Tracks) -> Iterator[RenderableType]:
    """The list of katas, track by track. One line a kata, however narrow the terminal is."""
    rows = [
        (
            standing,
            (standing.kata.id, str(standing.kata.minutes), _points(standing.best)),
            _progress(standing),
        )
        for standing in standings
    ]
    heads = ("kata", "minutes", "best")
    widths = [max(map(len, column)) for column in zip(heads, *(cells for _, cells, _ in rows), strict=True)]
    titles = max([len("title"), *(cell_len(standing.kata.title) for standing in standings)])
    last = max([0, *(progress.cell_len for _, _, progress in rows)])

    def lines(header: bool) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=True, show_header=header)
        table.header_style = "dim"
        table.add_column("  kata", width=widths[0] + 2, no_wrap=True)
        table.add_column("title", ratio=1, no_wrap=True)
        table.add_column("minutes", width=widths[1], justify="right")
        table.add_column("best", width=widths[2], justify="right")
        table.add_column("", width=last, no_wrap=True)
        return table

    def as_wide_as_needed(table: Table) -> Constrain:
        return Constrain(table, sum(widths) + titles + last + 2 + 4 * 2)

    yield as_wide_as_needed(lines(header=True))
    for track in tracks.tracks:
        own = [row for row in rows if row[0].kata.track == track.id]
        if not own:
            continue
        table = lines(header=False)
        for standing, (name, minutes, best), progress in own:
            table.add_row(Text(f"  {name}", "bold"), standing.kata.title, minutes, best, progress)
        yield Text(track.title, "bold")
        yield as_wide_as_needed(table)


def brief(kata: Kata, track: Track) -> Iterator[RenderableType]:
    """The interviewer's brief, then what gives points."""
    yield _markdown(kata.text("brief.md"))
    yield Text()
    if (kata.folder / EXAMPLE).is_file():
        yield _markdown(kata.text(EXAMPLE))
        yield Text()
    table = _table("points", "for")
    for concept in kata.concepts:
        optional = "" if concept.required else " (optional)"
        table.add_row(str(concept.points), f"{concept.title}{optional}")
    table.add_row(Text(str(kata.max_points), "bold"), Text("in all", "bold"))
    yield table
    yield Text()
    after = f"Comes after {', '.join(kata.prerequisites)}. " if kata.prerequisites else ""
    yield Text(f"{track.title}, level {kata.level}. {after}About {kata.minutes} minutes.")
    yield _next((f"kata start {kata.id}", f"writes {kata.file_name}"))


def interview_brief(brief: str) -> Iterator[RenderableType]:
    """The brief as it is given at the beginning of an interview."""
    yield _markdown(brief)
    yield Text()


def overview(seen: Overview, tracks: Tracks) -> Iterator[RenderableType]:
    """The screen of `kata` without a command."""
    yield Text.assemble(("attention-kata", "bold"), f" · {seen.passed} of {len(seen.standings)} passed")
    yield Text()
    yield from katas(seen.standings, tracks)
    yield Text()
    if seen.last is not None:
        yield _last(seen.last)
    if seen.here is not None:
        yield Text(f"Here   {safe(seen.here.path.name)}, {seen.here.kata}")
    if not seen.suggestions:
        return
    if seen.last is not None or seen.here is not None:
        yield Text()
    yield Text("What next", "bold")
    yield _next(*((suggestion.command, suggestion.why) for suggestion in seen.suggestions))


def attempts(rows: Sequence[Attempt]) -> RenderableType:
    """The table of `kata history`."""
    table = _table("when", "kata", "verdict", "points", "hints", "missed")
    for attempt in rows:
        words, style = _VERDICT[attempt.verdict]
        table.add_row(
            local(attempt.at),
            attempt.kata,
            Text(words, style),
            f"{attempt.points}/{attempt.max_points}",
            str(attempt.hints or ""),
            ", ".join(attempt.missed) if attempt.verdict == "failed" else "",  # else nothing was judged
        )
    return table


def hints(given: Iterable[Hint | Fix], kata: Kata) -> Iterator[RenderableType]:
    """A fix for what was found, or hints as the author wrote them; and how to get the next."""
    for hint in given:
        if isinstance(hint, Fix):
            yield from _fix(hint)
            continue
        yield Text(f"{kata.id} · hint {hint.number} of {hint.total}", "bold")
        yield Padding(_markdown(hint.text), (0, 0, 1, 0))
        if hint.again:
            yield Text(f"There are no more hints. All of them: kata hint {kata.id} --all")
        elif hint.number < hint.total:
            yield Text(f"More help: kata hint {kata.id}")


def _fix(found: Fix) -> Iterator[RenderableType]:
    yield Text(f"{found.kata} · how to mend it{found.spot and f' · {found.spot}'}", "bold")
    yield Text(safe(found.sentence))
    yield Text()
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row(Text("  Fix", "bold green"), safe(found.fix))
    if found.why:
        table.add_row(Text("  Why", "bold"), safe(found.why))
    yield table
    yield Text()
    yield Text(f"More help: kata hint {found.kata}   About it: kata explain {' '.join(found.mistakes)}")


def solution(found: Solution, width: int) -> Iterator[RenderableType]:
    """The reference, beside the candidate's own code where there is room, else below it."""
    reference = _code(f"Solution of {found.kata.id}", found.text)
    if found.own is None:
        yield reference
        return
    own = _code(f"Yours: {safe(found.own_name)}", for_terminal(found.own, limit=_MOST_CODE, multiline=True))
    if width < _SIDE_BY_SIDE:
        yield Group(own, Text(), reference)
        return
    beside = Table.grid(padding=(0, 2), expand=True)
    beside.add_column(ratio=1)
    beside.add_column(ratio=1)
    beside.add_row(own, reference)
    yield beside


def questions(known: Sequence[Question], kata: Kata, shown: tuple[int, ...]) -> Iterator[RenderableType]:
    """The follow-up questions; those in `shown` with their answers."""
    for number, entry in enumerate(known, start=1):
        if shown and number not in shown:
            continue
        table = Table.grid(padding=(0, 1, 0, 0))
        table.add_row(Text(f"{number:>2}", "bold"), Text(entry.question, "bold" if shown else ""))
        if number in shown:
            table.add_row("", Text(entry.answer))
            for point in entry.key_points:
                table.add_row("", Text(f"· {point}", "dim"))
        yield table
        if number in shown:
            yield Text()
    if not shown:
        yield Text()
        yield _next((f"kata questions {kata.id} 1", "with its answer; say your own first"))


_WHY: dict[Why, str] = {
    "new": "new",
    "again": "once more, from a blank page",
    "due": "about to be forgotten",
    "interview": "against the clock",
}


def plan(made: Plan) -> Iterator[RenderableType]:
    """The plan, a line for each kata."""
    yield Text.assemble((f"Until {made.until:%a %Y-%m-%d}", "bold"), f" · {made.minutes_a_day} minutes a day")
    yield Text()
    table = Table.grid(padding=(0, 2, 0, 0))
    for day in made.days:
        for number, item in enumerate(day.items):
            when = f"{day.day:%a %m-%d}" if number == 0 else ""
            table.add_row(when, Text(item.kata, "bold"), f"{item.minutes} min", _WHY[item.why])
    yield table
    if made.left_out:
        yield Text()
        yield Text(f"No room for {', '.join(made.left_out)}: take more minutes a day, or a later date.")
    if made.days:
        yield Text()
        yield _next((made.days[0].items[0].command, "what comes first"))


def explained(found: Explained) -> Iterator[RenderableType]:
    """A mistake: what an interviewer would say, a wrong and a right line, and why it matters."""
    label, lines = found.label, found.lines
    yield Text.assemble((found.name, "bold"), f" · {found.concept} · {', '.join(found.katas)}")
    yield Text()
    yield Text(label.sentence)
    yield Text()
    rows: list[tuple[str, str, str]] = []
    if lines is not None:
        rows.append(("Wrong", "red", lines.wrong))
        rows.append(("Right", "green", lines.right or "(without that line)"))
    rows += [
        ("Fix", "", label.fix),
        ("Why", "", label.why),
        ("Shows", "", f"{_SHOWS[label.seen]} {label.shows}."),
    ]
    if lines is not None and lines.found:
        many = "" if lines.found == "one" else "s"
        rows.append(("Seen", "", f"in {lines.found} independent public answer{many} or bug report{many}"))
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, style, text in rows:
        table.add_row(Text(f"  {name}", f"bold {style}".strip()), text)
    yield table
    yield Text()


def labels(groups: Sequence[LabelGroup]) -> Iterator[RenderableType]:
    """All labels, by concept."""
    for group in groups:
        yield Text(group.title, "bold")
        yield Padding(Text(", ".join(group.names)), (0, 0, 1, 2))
    yield Text("One of them in full: kata explain LABEL")


def _code(title: str, text: str) -> RenderableType:
    return Group(Text(title, "bold"), _syntax(text))


def _markdown(text: str) -> Markdown:
    from rich.markdown import Markdown  # as slow to load as all the rest, and most screens show none

    return Markdown(text, hyperlinks=False)


def _syntax(text: str, first: int = 1) -> Syntax:
    from rich.syntax import Syntax

    return Syntax(text, "python", theme="ansi_dark", line_numbers=True, start_line=first, word_wrap=True)


def _whole(line: str, style: str = "") -> Text:
    """A line that is not wrapped: a path can be copied, a log line stays one line."""
    return Text(line, style, no_wrap=True, overflow="ignore")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        table.add_column(column, justify="right" if column in ("minutes", "points", "best") else "left")
    return table


def _progress(standing: Standing) -> Text:
    words, style = _PROGRESS[standing.progress]
    seen = ", solution seen" if standing.solution_seen and standing.progress != "passed" else ""
    return Text(f"{words}{seen}", style)


def _points(best: Best | None) -> str:
    return "" if best is None else f"{best.points}/{best.max_points}"


def _last(attempt: Attempt) -> Text:
    words, style = _VERDICT[attempt.verdict]
    missed = f", missed {', '.join(attempt.missed)}" if attempt.missed else ""
    judged = attempt.verdict in ("passed", "failed")  # of what could not run nothing was
    points = f" with {attempt.points}/{attempt.max_points}{missed}" if judged else ""
    return Text.assemble(f"Last   {attempt.kata} ", (words, style), f"{points} · {local(attempt.at)}")


def _next(*commands: tuple[str, str]) -> RenderableType:
    table = Table.grid(padding=(0, 3, 0, 0))
    for command, why in commands:
        table.add_row(Text(f"  {command}", "bold"), safe(why))
    return table


def advice(found: Sequence[Advice]) -> Iterator[RenderableType]:
    """What to practise: the first in full, the others below."""
    first, *others = found
    yield Text(f"{first.kata} · {first.title}", "bold")
    yield Text(first.why)
    yield _next((first.command, f"or with a clock: kata interview {first.kata}"))
    if others:
        yield Text()
        yield Text("After that", "bold")
        yield _next(*((advice.command, advice.why) for advice in others))


def demo_answer(stop: Answer) -> Iterator[RenderableType]:
    """A stop of the tour before its file is graded."""
    if stop.right:
        title, words = "2 · The mended answer", "The line is mended:"
    else:
        title = "1 · A typical mistake"
        words = f"Somebody practises {stop.kata.id} ({stop.kata.title}). One line is not right:"
    yield Text()
    yield Rule(title, align="left")
    yield Text(words)
    yield _syntax(stop.line.strip(), first=stop.number)
    yield Text(f"They run: kata grade {stop.path.name}")
    yield Text()


def demo_result(stop: Result) -> Iterator[RenderableType]:
    """A stop of the tour after its file was graded: the page's path, which is not wrapped, and the end."""
    yield _whole(f"The same as a page for the browser: {place(stop.report)}")
    if stop.right:
        yield Text()
        yield _whole(f"The tour's files stay in {place(stop.report.parent)} until the next tour.")
        yield Text("That was the tour; none of your files was touched. Now you:")
        yield _next(
            ("kata start v1", "your first kata"),
            ("kata list", "all of them"),
            ("kata debug v3", "the other round: a file with bugs planted in it"),
        )


def findings(section: Section) -> Iterator[RenderableType]:
    """One section of `kata doctor`, as plain lines that survive being pasted into a bug report."""
    yield Text(section.title, "bold")
    for finding in section.findings:
        mark = {True: "ok", False: "!!", None: "  "}[finding.fine]
        style = "red" if finding.fine is False else ""
        yield _whole(f"  {mark} {finding.name}: {safe(finding.value)}", style)


def lint(report: LintReport) -> Iterator[RenderableType]:
    """What `kata lint` found, one place a line, and what it tried, one kata a line."""
    for problem in report.problems:
        line = "" if problem.line is None else f":{problem.line}"
        where = f"{place(problem.path)}{line}: "
        yield _whole(f"{where}{safe(problem.message)}")
        if problem.fix:
            yield _whole(f"  → {safe(problem.fix)}")
    if report.tallies:
        table = _table(
            "kata", "wrong answers", "rejected", "rightly named", "wrongly blamed", "right", "accepted"
        )
        for tally in report.tallies:
            wrong = (tally.mistakes, tally.rejected, tally.named, tally.blamed)
            table.add_row(
                Text(safe(tally.kata), "bold"), *(str(n) for n in (*wrong, tally.rights, tally.accepted))
            )
        yield table
    count = len(report.problems)
    yield Text(f"{count} problem{'s' if count > 1 else ''}." if count else "No problems.")
