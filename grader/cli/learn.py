"""`kata hint` and `kata solution`."""

from __future__ import annotations

import click

from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.params import KATA
from grader.practice.hints import all_hints, next_hint
from grader.practice.solutions import solution


@click.command("hint", epilog="\b\nExamples:\n  kata hint v3\n  kata hint v3 --all")
@click.argument("kata", type=KATA)
@click.option("--all", "every", is_flag=True, help="All hints at once.")
@pass_app
def hint_command(app: App, kata: Kata, every: bool) -> None:
    """One more hint each time. The report says how many you took; `kata reset` begins anew."""
    from grader.cli import screens

    given = all_hints(kata, app.history) if every else (next_hint(kata, app.history),)
    console.show(*screens.hints(given, kata))


@click.command("solution", epilog="\b\nExamples:\n  kata solution v3\n  kata solution v3 --give-up")
@click.argument("kata", type=KATA)
@click.option("--give-up", is_flag=True, help="See it without having passed. This is recorded.")
@pass_app
def solution_command(app: App, kata: Kata, give_up: bool) -> None:
    """The reference beside your own code, after a pass."""
    from grader.cli import screens

    found = solution(kata, app.folder, app.history, give_up=give_up)
    console.show(*screens.solution(found, console.terminal().width))
    console.warn(found.warning)
