"""`kata hint`, `kata solution` and `kata explain`."""

from __future__ import annotations

import click

from grader.catalog import Kata
from grader.cli import console
from grader.cli.app import App, pass_app
from grader.cli.interview_guard import YES, ask_first
from grader.cli.params import KATA, LABEL
from grader.practice.explain import all_labels, explain
from grader.practice.hints import all_hints
from grader.practice.solutions import solution


@click.command("hint", epilog="\b\nExamples:\n  kata hint v3\n  kata hint v3 --all")
@click.argument("kata", type=KATA)
@click.option("--all", "every", is_flag=True, help="All hints at once.")
@YES
@pass_app
def hint_command(app: App, kata: Kata, every: bool, yes: bool) -> None:
    """One more hint each time.

    First how to mend what your last grade found, then the kata's own hints; in an interview only those. The
    report says how many you took; `kata reset` begins anew.
    """
    from grader.cli import screens
    from grader.interview.price import give_help, note_hint

    running = ask_first(app, "hints" if every else "hint", kata, yes=yes)
    if every:
        hints = all_hints(kata, app.history)
        note_hint(running, kata.id, hints[-1].number)
        console.show(*screens.hints(hints, kata))
    else:
        console.show(*screens.hints([give_help(kata, running, app.history)], kata))


@click.command("solution", epilog="\b\nExamples:\n  kata solution v3\n  kata solution v3 --give-up")
@click.argument("kata", type=KATA)
@click.option("--give-up", is_flag=True, help="See it without having passed. This is recorded.")
@YES
@pass_app
def solution_command(app: App, kata: Kata, give_up: bool, yes: bool) -> None:
    """The reference beside your own code, after a pass."""
    from grader.cli import screens

    ask_first(app, "solution", kata, yes=yes)
    found = solution(kata, app.folder, app.history, give_up=give_up)
    console.show(*screens.solution(found, console.terminal().width))
    console.warn(found.warning)


@click.command("explain", epilog="\b\nExamples:\n  kata explain\n  kata explain scale_by_dk")
@click.argument("labels", nargs=-1, type=LABEL, metavar="[LABEL]...")
@pass_app
def explain_command(app: App, labels: tuple[str, ...]) -> None:
    """What a mistake is, and why it matters.

    LABEL is the name that a report gives it. Without LABEL: all names, by concept.
    """
    from grader.cli import screens

    if not labels:
        console.show(*screens.labels(all_labels(app.catalog)))
        return
    for found in [explain(label, app.catalog) for label in labels]:
        console.show(*screens.explained(found))
