"""`kata interview`: the room, and the same step by step."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

from grader import paths
from grader.catalog import Catalog, Kata
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.app import grade as default_grade
from grader.cli.interview_steps import say_how_it_stands
from grader.cli.interview_wish import agreed, begin, plan_options, resumed, waiting
from grader.errors import UsageError
from grader.records import Grade, Submission
from grader.tracks import Track

if TYPE_CHECKING:
    from grader.interview.room.app import Waiting
    from grader.interview.session import Session
    from grader.records import Options

# name -> the module that has a command function of that name.
STEPS = {
    "start": "interview_steps",
    "status": "interview_steps",
    "submit": "interview_steps",
    "next": "interview_steps",
    "ask": "interview_steps",
    "abort": "interview_steps",
    "debrief": "interview_debrief",
    "list": "interview_past",
    "compare": "interview_past",
    "export": "interview_past",
    "import": "interview_past",
}
_TAKES_A_VALUE = (
    "--minutes",
    "--seed",
    "--candidate",
    "--agenda",
    "--bugs",
    "--level",
)  # `--ladder TRACK` has no need: a track is no step's name


class InterviewGroup(click.Group):
    """`kata interview v3` opens the room; `kata interview status` and its like are steps."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = _first_word(args)
        wants_help = first is None and not {"-h", "--help"}.isdisjoint(args)
        if first not in STEPS and not wants_help:
            args = ["room", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(STEPS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name == "room":
            return room_command
        if cmd_name not in STEPS:
            return None
        module = importlib.import_module(f"grader.cli.{STEPS[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return ["[ID | COMMAND]", "[OPTIONS]"]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        room_command.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.command("room")
@plan_options
@click.option("--resume", is_flag=True, help="Go back to the interview that is on in this folder.")
@click.option("--no-room", is_flag=True, help="Start the clock, say so, and leave the rest to the commands.")
@pass_app
def room_command(app: App, /, *, resume: bool, no_room: bool, **wish: Any) -> None:
    """A mock interview against the clock."""
    if no_room:
        say_how_it_stands(app, resumed(app) if resume else begin(app, **wish))
        return
    _need_terminal(app, resume=resume, **wish)
    entry: Session | Waiting = resumed(app) if resume else waiting(app, agreed(app, **wish))
    from grader.interview.room.app import open_room

    closing = open_room(
        entry,
        app.history,
        app.interviews,
        app.catalog,
        grade_apart if app.grade is default_grade else app.grade,
        app.moment,
        browse=app.browse,
        pages=paths.reports(app.home),
        measure=app.measure,
    )
    console.say(closing)


@click.group(
    "interview",
    cls=InterviewGroup,
    invoke_without_command=True,
    epilog="""\b
Examples:
  kata interview v3                   the room: brief, clock, hints, debrief
  kata interview v1 --minutes 10
  kata interview --ladder             v1 to v4 in one sitting
  kata interview --ladder heads       the katas of another track
  kata interview --debug v3           bugs to be found, against the clock
  kata interview --resume             back to the room after it was closed
  kata interview start v3             without a room: then status, submit, debrief
  kata interview status --short       one line for your prompt""",
)
def interview_command() -> None:
    """A mock interview against the clock.

    You write in your own editor; every save is kept, the deadline counts, and a debrief follows.
    """


def grade_apart(
    submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
) -> Grade:
    """Grade through the engine or in a fresh process: nothing may be forked from a room's threads."""
    from grader.grading import begin as begin_grading
    from grader.records import Options as Default

    return begin_grading(submission, kata, catalog, options or Default()).result()


def _need_terminal(
    app: App, *, resume: bool, kata: Kata | None, ladder: Track | None, debug: bool, **_: Any
) -> None:
    if sys.stdin.isatty() and sys.stdout.isatty():
        return
    from grader.interview.wording import load_wording

    texts = load_wording(app.catalog).room
    if resume:
        words = "--resume"
    elif ladder is not None:
        words = f"--ladder {ladder.id}"
    elif debug:
        words = "--debug" if kata is None else f"--debug {kata.id}"
    else:
        words = (kata or app.catalog.first).id
    raise UsageError(texts["no_terminal"], texts["no_terminal_fix"].format(words=words))


def _first_word(args: list[str]) -> str | None:
    """The first word that is neither an option nor the value of one."""
    skip = False
    for word in args:
        if skip:
            skip = False
        elif word in _TAKES_A_VALUE:
            skip = True
        elif not word.startswith("-"):
            return word
    return None
