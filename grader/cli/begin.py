"""`kata start` and `kata reset`."""

from __future__ import annotations

from pathlib import Path

import click

from grader import workspace
from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.interview_guard import YES, ask_first
from grader.cli.params import ANSWER_OR_KATA, FOLDER, KATA
from grader.practice.targets import resolve_target

BLANK = click.option("--blank", is_flag=True, help="Only the class and its signature, as in an interview.")


@click.command(
    "start",
    epilog="\b\nExamples:\n  kata start v3\n  kata start v3 practice --edit\n  kata start v1 --blank",
)
@click.argument("kata", type=KATA)
@click.argument("folder", type=FOLDER, default=".", metavar="[DIR]")
@BLANK
@click.option("--notebook", is_flag=True, help="A Jupyter notebook: the brief, the stub, the grade.")
@click.option("--edit", is_flag=True, help="Open the file in $VISUAL or $EDITOR.")
@YES
@pass_app
def start_command(
    app: App, kata: Kata, folder: Path, *, blank: bool, notebook: bool, edit: bool, yes: bool
) -> None:
    """Put a kata's stub into your folder.

    DIR is the folder you stand in by default. Work that is there stays as it is.
    """
    ask_first(app, "start", kata, yes=yes, folder=app.folder / folder)
    started = workspace.start(kata, app.folder / folder, app.history, blank=blank, notebook=notebook)
    app.warm_up()
    file = console.place(started.path)
    if started.outcome == "written":
        console.say(f"Wrote {file}")
    elif started.outcome == "untouched":
        console.say(f"{file} is there already, still as it was written.")
    else:
        console.say(f"{file} is there already, with work in it. Nothing was changed.")
        console.say(f"  To begin again and keep that work beside it: kata reset {kata.id}")
    console.say(f"  The task:  kata show {kata.id}")
    console.say("  When done: kata grade" if folder == Path() else f"  When done: kata grade {kata.id}")
    console.warn(started.warning)
    if edit:
        app.edit(started.path)


@click.command("edit", epilog="\b\nExamples:\n  kata edit\n  kata edit v3")
@click.argument("what", nargs=-1, type=ANSWER_OR_KATA, metavar="[FILE] [ID]")
@pass_app
def edit_command(app: App, what: tuple[str, ...]) -> None:
    """Open your answer in $VISUAL or $EDITOR.

    FILE and ID are found as `kata grade` finds them.
    """
    app.edit(resolve_target(what, app.folder, app.catalog, app.history).path)


@click.command("reset", epilog="\b\nExamples:\n  kata reset v3\n  kata reset v3 practice --blank")
@click.argument("kata", type=KATA)
@click.argument("folder", type=FOLDER, default=".", metavar="[DIR]")
@BLANK
@YES
@pass_app
def reset_command(app: App, kata: Kata, folder: Path, blank: bool, yes: bool) -> None:
    """Put the stub back, and keep the old work beside it."""
    ask_first(app, "reset", kata, yes=yes, folder=app.folder / folder)
    done = workspace.reset(kata, app.folder / folder, app.history, app.clock(), blank=blank)
    if done.backup is not None:
        console.say(f"Your work is kept in {console.place(done.backup)}")
    console.say(f"Wrote {console.place(done.path)}")
    console.warn(done.warning)
