"""`kata lint`, for authors of katas."""

from __future__ import annotations

import click

from grader.cli import console
from grader.cli.app import App
from grader.cli.params import FOLDER_OR_KATA
from grader.exit_codes import ExitCode


@click.command(
    "lint",
    epilog="\b\nExamples:\n  kata lint\n  kata lint v3\n  kata lint mine\n  kata lint mine/katas/first",
)
@click.argument("what", type=FOLDER_OR_KATA, required=False, metavar="[DIR | ID]")
@click.pass_context
def lint_command(ctx: click.Context, what: str | None) -> None:
    """For authors: are the katas whole, and do their checks bite?

    DIR holds katas/ and solutions/; the default is the content that came with kata. An ID, or the folder of
    one kata, lints that kata alone.
    """
    from grader.cli import screens
    from grader.linting import aim, lint

    app = ctx.ensure_object(App)
    root, only = (None, None) if what is None else aim(what, app.folder)
    with console.progress("Checking the katas …"):
        report = lint(root, only)
    console.show(*screens.lint(report))
    ctx.exit(ExitCode.NOT_PASSED if report.problems else ExitCode.PASSED)
