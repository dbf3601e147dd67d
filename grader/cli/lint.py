"""`kata lint`, for authors of katas."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli import console
from grader.cli.app import App
from grader.cli.params import FOLDER
from grader.exit_codes import ExitCode


@click.command("lint", epilog="\b\nExamples:\n  kata lint\n  kata lint my-katas")
@click.argument("folder", type=FOLDER, required=False, metavar="[DIR]")
@click.pass_context
def lint_command(ctx: click.Context, folder: Path | None) -> None:
    """For authors: are the katas whole, and do their checks bite?

    DIR holds katas/ and solutions/; the default is the content that came with kata.
    """
    from grader.cli import screens
    from grader.linting import lint

    app = ctx.ensure_object(App)
    root = None if folder is None else app.folder / folder
    with console.progress("Checking the katas …"):
        report = lint(root)
    console.show(*screens.lint(report))
    ctx.exit(ExitCode.NOT_PASSED if report.problems else ExitCode.PASSED)
