"""`kata interview`: the room, and the same step by step."""

from __future__ import annotations

import importlib
import secrets
import sys
from typing import TYPE_CHECKING, Any

import click

from grader import paths
from grader.catalog import Catalog, Kata
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.app import grade as default_grade
from grader.cli.params import KATA
from grader.errors import UsageError
from grader.records import Grade, Submission

if TYPE_CHECKING:
    from grader.grading import Options
    from grader.interview.opening import Wish
    from grader.interview.room.app import Waiting
    from grader.interview.session import Session

# name -> the module that has a command function of that name.
STEPS = {
    "start": "interview_steps",
    "status": "interview_steps",
    "submit": "interview_steps",
    "next": "interview_steps",
    "ask": "interview_steps",
    "abort": "interview_steps",
    "debrief": "interview_debrief",
}
_TAKES_A_VALUE = ("--minutes", "--seed")


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


def plan_options(command: Any) -> Any:
    """The options that say which interview is wanted."""
    for option in reversed(
        (
            click.argument("kata", type=KATA, required=False),
            click.option(
                "--ladder", is_flag=True, help="All levels in one sitting, each with its own clock."
            ),
            click.option("--random", "at_random", is_flag=True, help="Any one of the levels."),
            click.option(
                "--minutes",
                type=click.FloatRange(0, 24 * 60, min_open=True),
                metavar="N",
                help="For each level; the default is the kata's.",
            ),
            click.option(
                "--strict/--practice",
                "strict",
                default=True,
                help="With --practice every save is graded at once, and there is no verdict.",
            ),
            click.option("--guided", is_flag=True, help="Begin with the stub, not with a blank page."),
            click.option(
                "--seed", type=click.IntRange(0, 2**32 - 1), help="Of the grades and the questions."
            ),
        )
    ):
        command = option(command)
    return command


@click.command("room")
@plan_options
@click.option("--resume", is_flag=True, help="Go back to the interview that is on in this folder.")
@click.option("--no-room", is_flag=True, help="Start the clock, say so, and leave the rest to the commands.")
@pass_app
def room_command(app: App, /, *, resume: bool, no_room: bool, **wish: Any) -> None:
    """A mock interview against the clock."""
    if no_room:
        from grader.cli.interview_steps import say_how_it_stands

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
    from grader.grading import Options as Default
    from grader.grading import begin as begin_grading

    return begin_grading(submission, kata, catalog, options or Default()).result()


def agreed(
    app: App,
    *,
    kata: Kata | None,
    ladder: bool,
    at_random: bool,
    minutes: float | None,
    strict: bool,
    guided: bool,
    seed: int | None,
) -> Wish:
    """The interview that the options ask for, unless one is on in this folder."""
    from grader.interview import opening

    seed = secrets.randbelow(2**32) if seed is None else seed
    if sum((kata is not None, ladder, at_random)) != 1:
        raise UsageError(
            "Which interview shall it be?",
            f"Name one kata (kata interview {app.catalog.katas[0].id}), or say --ladder or --random.",
        )
    if kata is not None:
        katas: tuple[Kata, ...] = (kata,)
    else:
        katas = opening.ladder(app.catalog) if ladder else opening.at_random(app.catalog, seed)
    wish = opening.Wish(katas=katas, minutes=minutes, practice=not strict, guided=guided, seed=seed)
    opening.refuse_second(app.interviews, app.folder, app.moment)
    app.warm_up()
    return wish


def begin(app: App, **options: Any) -> Session:
    """Begin without a room. Somebody at a terminal reads the brief first, and starts the clock with Enter."""
    from grader.interview import opening

    wish = agreed(app, **options)
    read_first(app, wish.katas[0], wish.limits[0])
    return opening.open_interview(wish, app.folder, app.history, app.interviews, app.moment)


def read_first(app: App, kata: Kata, limit: float) -> None:
    """The brief; at a terminal, nothing goes on before Enter."""
    from grader.cli import screens
    from grader.interview.wording import spoken

    console.show(*screens.interview_brief(kata))
    if app.can_ask():
        console.ask(f"{spoken(limit)}. Enter starts the clock, Ctrl-C leaves", error=True)


def resumed(app: App) -> Session:
    """The interview that is on in this folder, taken over."""
    from grader.interview import opening

    session = opening.current(app.folder, app.interviews, app.moment)
    session.resume()
    return session


def waiting(app: App, wish: Wish) -> Waiting:
    """The interview as the room gets it: it begins when the candidate has read the brief."""
    from grader.interview import opening
    from grader.interview.room.app import Waiting

    return Waiting(
        kata=wish.katas[0],
        limit=wish.limits[0],
        begin=lambda: opening.open_interview(wish, app.folder, app.history, app.interviews, app.moment),
    )


def _need_terminal(app: App, *, resume: bool, kata: Kata | None, ladder: bool, **_: Any) -> None:
    if sys.stdin.isatty() and sys.stdout.isatty():
        return
    from grader.interview.wording import load_wording

    texts = load_wording(app.catalog).room
    words = "--resume" if resume else "--ladder" if ladder else "v1" if kata is None else kata.id
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
