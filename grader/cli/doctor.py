"""`kata doctor`."""

from __future__ import annotations

import click

from grader.cli import console
from grader.cli.app import App
from grader.doctor import examine
from grader.exit_codes import ExitCode


@click.command("doctor", epilog="\b\nExample:\n  kata doctor")
@click.pass_context
def doctor_command(ctx: click.Context) -> None:
    """Versions, paths, PyTorch, isolation: for a bug report."""
    from grader.cli import screens

    app = ctx.ensure_object(App)
    sections = examine(app.home, app.history, load=lambda: app.catalog)
    for section in sections:
        console.show(*screens.findings(section))
    healthy = all(section.healthy for section in sections)
    console.say("All is well." if healthy else "Lines with !! need a look.")
    ctx.exit(ExitCode.PASSED if healthy else ExitCode.GRADER_FAULT)
