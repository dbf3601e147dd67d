"""`kata debug`."""

from __future__ import annotations

import click
import msgspec

from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.interview_guard import YES, ask_first
from grader.cli.params import KATA
from grader.debugging.desk import Opened, entered_at, open_room, reveal, room_of, usual_kata
from grader.debugging.records import LEVELS, MOST_BUGS, Level, Room


@click.command(
    "debug",
    epilog="""\b
Examples:
  kata debug                          a room of the kata that you worked on last
  kata debug v3 --level easy
  kata debug v3 --bugs 3 --seed 7     the same room on every machine
  kata debug v3 --seed 7 --reveal     what was planted in it, and where; this is recorded

\b
Then mend the file and run: kata grade FILE
It ends with 0 only when all bugs are mended and nothing new is broken.""",
)
@click.argument("kata", type=KATA, required=False)
@click.option(
    "--bugs", type=int, metavar="N", help=f"How many, 1 to {MOST_BUGS}; the default is the level's."
)
@click.option(
    "--level", type=click.Choice(LEVELS), default="interview", show_default=True, help="How hard to find."
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="The same room again.")
@click.option("--json", "as_json", is_flag=True, help="The room as one JSON document on standard output.")
@click.option("--reveal", "revealed", is_flag=True, help="Show the bugs. This is recorded.")
@YES
@pass_app
def debug_command(
    app: App,
    kata: Kata | None,
    *,
    bugs: int | None,
    level: Level,
    seed: int | None,
    as_json: bool,
    revealed: bool,
    yes: bool,
) -> None:
    """A file with bugs planted in it, to be found and mended.

    It is written beside your work, and never over it. Without ID it is the kata that you worked on last.
    """
    kata = kata or usual_kata(app.catalog, app.history)
    ask_first(app, "solution" if revealed else "start", kata, yes=yes, ask=not as_json)
    room = room_of(kata, app.catalog, seed, level, bugs)
    opened = open_room(room, kata, app.folder, app.history)
    if revealed:
        entered = entered_at(opened.path, app.history)
        if entered is not None:
            reveal(entered, app.history)
    app.warm_up()
    if as_json:
        console.data(document(opened, revealed=revealed))
    else:
        _tell(opened)
        if revealed:
            _tell_bugs(room)
    console.warn(opened.warning)


def document(opened: Opened, *, revealed: bool) -> str:
    """The room as JSON; its bugs only where they are to be seen."""
    room = opened.room
    fields = {"file": str(opened.path), "count": len(room.bugs)}
    fields |= {name: getattr(room, name) for name in ("kata", "seed", "level", "content", "report", "text")}
    if revealed:
        fields["bugs"] = [
            {"label": bug.label, "line": bug.line, "wrong": bug.wrong, "right": bug.right}
            for bug in room.bugs
        ]
    return msgspec.json.format(msgspec.json.encode(fields), indent=2).decode() + "\n"


def _tell(opened: Opened) -> None:
    room, file = opened.room, console.place(opened.path)
    if opened.outcome == "written":
        console.say(f"Wrote {file}")
    else:
        console.say(f"{file} is there already. Nothing was changed.")
    count = len(room.bugs)
    console.say(f"  {opened.kata.class_name}: {opened.kata.summary}")
    console.say(
        f"  It had been right, and now has {count} {'bugs' if count > 1 else 'bug'}. A colleague says:"
    )
    for noticed in room.report:
        console.say(f"    · {noticed}")
    console.say(f"  What it should do: kata show {room.kata}")
    console.say(f"  When done:         kata grade {file}")


def _tell_bugs(room: Room) -> None:
    console.say("")
    for bug in room.bugs:
        console.say(f"  line {bug.line}: {bug.label}")
        console.say(f"    it says      {_in_a_line(bug.wrong)}")
        console.say(f"    it should be {_in_a_line(bug.right)}")
        console.say(f"    what it is:  kata explain {bug.label}")


def _in_a_line(text: str) -> str:
    return " ⏎ ".join(part.strip() for part in text.strip().split("\n") if part.strip())
