"""`kata lint`, for authors of katas."""

from __future__ import annotations

import click

from grader.cli import console
from grader.cli.app import App
from grader.cli.params import FOLDER_OR_KATA
from grader.exit_codes import ExitCode


@click.command(
    "lint",
    epilog="\b\nExamples:\n  kata lint\n  kata lint --quick\n  kata lint v3\n  kata lint mine\n"
    "  kata lint mine/katas/first",
)
@click.argument("what", type=FOLDER_OR_KATA, required=False, metavar="[DIR | ID]")
@click.option("--quick", is_flag=True, help="Try each mistake once, in one of the katas that know it.")
@click.pass_context
def lint_command(ctx: click.Context, what: str | None, quick: bool) -> None:
    """For authors: are the katas whole, and do their checks bite?

    DIR is a pack, or holds katas/ and solutions/ as kata's own content does; the default is that content, or
    the packs that you have. An ID, or the folder of one kata, lints that kata alone.
    """
    from grader.cli import screens
    from grader.linting import aim, lint

    app = ctx.ensure_object(App)
    with console.bar("Checking") as advance:
        report = lint(aim(what, app.folder, app.catalog), advance, quick=quick)
    console.show(*screens.lint(report))
    ctx.exit(ExitCode.NOT_PASSED if report.problems else ExitCode.PASSED)
