"""Which interview is wanted, and how it begins: for the room and for the commands without one."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader import paths
from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App
from grader.cli.params import KATA, TRACK
from grader.debugging.records import LEVELS, MOST_BUGS
from grader.errors import UsageError
from grader.tracks import Track

if TYPE_CHECKING:
    from grader.debugging.records import Level, Room
    from grader.interview.opening import Wish
    from grader.interview.room.app import Waiting
    from grader.interview.session import Session


def plan_options(command: Any) -> Any:
    """The options that say which interview is wanted."""
    for option in reversed(
        (
            click.argument("kata", type=KATA, required=False),
            click.option(
                "--ladder",
                type=TRACK,
                is_flag=False,
                flag_value="",
                metavar="[TRACK]",
                help="All katas of a track in one sitting, each with its own clock; self-attention, unless"
                " you name another.",
            ),
            click.option(
                "--debug",
                is_flag=True,
                help="Not to write but to mend: a file with bugs planted in it (see `kata debug --help`).",
            ),
            click.option("--bugs", type=int, metavar="N", help=f"Of --debug: how many, 1 to {MOST_BUGS}."),
            click.option("--level", type=click.Choice(LEVELS), help="Of --debug: how hard to find."),
            click.option("--random", "at_random", is_flag=True, help="Any one of the katas."),
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
            click.option(
                "--candidate",
                metavar="NAME",
                default="",
                help="Whom you interview; kept apart from your own practice.",
            ),
            click.option(
                "--agenda",
                type=click.Path(path_type=Path),
                metavar="DIR",
                help="A folder with your own questions and limits in agenda.toml.",
            ),
        )
    ):
        command = option(command)
    return command


def agreed(
    app: App,
    *,
    kata: Kata | None,
    ladder: Track | None,
    debug: bool,
    bugs: int | None,
    level: Level | None,
    at_random: bool,
    minutes: float | None,
    strict: bool,
    guided: bool,
    seed: int | None,
    candidate: str,
    agenda: Path | None,
) -> Wish:
    """The interview that the options ask for, unless one is on in this folder.

    A seed that is given is also that of a hunt's room.
    """
    from grader.debugging.desk import room_of, usual_kata
    from grader.interview import opening
    from grader.interview.agenda import Agenda, load_agenda

    room = None
    if debug:
        if ladder is not None or at_random or guided:
            raise UsageError("A hunt is in one kata's file.", "kata interview --debug v3")
        kata = kata or usual_kata(app.catalog, app.history)
        room = room_of(kata, app.catalog, seed, level or "interview", bugs)
    elif bugs is not None or level is not None:
        raise UsageError("--bugs and --level belong to --debug.", "kata interview --debug --bugs 3")
    seed = secrets.randbelow(2**32) if seed is None else seed
    if sum((kata is not None, ladder is not None, at_random)) != 1:
        raise UsageError(
            "Which interview shall it be?",
            f"Name one kata (kata interview {app.catalog.first.id}), or say --ladder or --random.",
        )
    if kata is not None:
        katas: tuple[Kata, ...] = (kata,)
    elif ladder is not None:
        katas = app.catalog.in_track(ladder.id)
    else:
        katas = opening.at_random(app.catalog, seed)
    wish = opening.Wish(
        katas=katas,
        minutes=minutes,
        practice=not strict,
        guided=guided,
        seed=seed,
        candidate=candidate,
        agenda=Agenda() if agenda is None else load_agenda(app.folder / agenda, app.catalog),
        room=room,
    )
    opening.refuse_second(app.interviews, app.folder, app.moment)
    if candidate:
        app.turn_to(paths.candidates(app.home))
    app.warm_up()
    return wish


def begin(app: App, **options: Any) -> Session:
    """Begin without a room. Somebody at a terminal reads the brief first, and starts the clock with Enter."""
    from grader.interview import opening

    wish = agreed(app, **options)
    read_first(app, wish.katas[0], wish.limits[0], wish.room)
    return opening.open_interview(wish, app.folder, app.history, app.interviews, app.moment)


def read_first(app: App, kata: Kata, limit: float, room: Room | None = None) -> None:
    """The brief; at a terminal, nothing goes on before Enter."""
    from grader.cli import screens
    from grader.interview.hunting import brief
    from grader.interview.wording import load_wording, spoken

    console.show(*screens.interview_brief(brief(room, kata, load_wording(app.catalog))))
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
        room=wish.room,
        begin=lambda: opening.open_interview(wish, app.folder, app.history, app.interviews, app.moment),
    )
