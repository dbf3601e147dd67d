"""`kata new`, for authors of katas."""

from __future__ import annotations

from pathlib import Path

import click

from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.params import FOLDER, KATA


@click.command("new", epilog="\b\nExamples:\n  kata new rolling --like v3\n  kata new rolling mine --like v3")
@click.argument("name", metavar="ID")
@click.argument("folder", type=FOLDER, default=".", metavar="[DIR]")
@click.option("--like", type=KATA, required=True, help="The kata that is copied: the nearest one there is.")
@pass_app
def new_command(app: App, name: str, folder: Path, like: Kata) -> None:
    """For authors: a kata of your own, from one that there is.

    It is written into the pack in DIR, the folder you stand in by default; a folder that is no pack becomes
    one. What is left to do is marked TODO, and `kata lint` lists it.
    """
    from grader.drafting import draft

    done = draft(name, like, app.folder / folder, app.catalog)
    for path in done.files:
        console.say(f"Wrote {console.place(path)}")
    console.say(f"  What is left to do:  kata lint {folder}")
    console.say(f"  Try it:              kata --katas {folder} start {name}")
