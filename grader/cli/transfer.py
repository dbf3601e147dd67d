"""`kata export` and `kata import`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader import paths
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.errors import UsageError

FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.command("export", epilog="\b\nExamples:\n  kata export history.json\n  kata export > history.json")
@click.argument("file", type=FILE, default="-")
@pass_app
def export_command(app: App, file: Path) -> None:
    """Your whole history as one JSON file.

    To move it to another machine. It holds your code, and the paths it had. Without FILE it goes to
    standard output.
    """
    from grader.memory.transfer import export_history

    document = export_history(paths.database(app.home), app.clock())
    if str(file) == "-":
        console.data(document.decode())
        return
    try:
        file.write_bytes(document)
    except OSError as error:
        raise UsageError(f"{file} could not be written: {error.strerror}.", "Name another file.") from error
    console.say(f"Wrote {console.place(file.absolute())}")
    console.say(f"  On the other machine: kata import {console.safe(file.name)}")


@click.command("import", epilog="\b\nExamples:\n  kata import history.json\n  kata import - < history.json")
@click.argument("file", type=FILE)
@pass_app
def import_command(app: App, file: Path) -> None:
    """Add an exported history to yours. What you have stays; importing twice adds nothing."""
    from grader.memory.transfer import import_history

    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} could not be read: {error.strerror}.", "Check its name.") from error
    done = import_history(content, paths.database(app.home), console.safe(file.name))
    if done.added:
        console.say(f"Added {done.added} entries; {done.known} were here already.")
    else:
        console.say(f"Nothing new: all {done.known} entries were here already.")
