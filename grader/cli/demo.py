"""`kata demo`."""

from __future__ import annotations

from functools import partial

import click

from grader.cli import console
from grader.cli.app import App, pass_app
from grader.practice.demo import Answer, tour
from grader.practice.reports import document


@click.command("demo", epilog="\b\nExample:\n  kata demo")
@pass_app
def demo_command(app: App) -> None:
    """A tour of two minutes, in a temporary folder.

    A typical mistake is found and explained, then the mended answer passes.
    """
    from grader.cli import screens
    from grader.records import Options

    for stop in tour(app.catalog, app.grade, app.clock, Options(seed=1)):
        if isinstance(stop, Answer):
            console.show(*screens.demo_answer(stop))
        else:
            console.draw(partial(document, stop.graded, "text"))
            console.show(*screens.demo_result(stop))
