"""`kata web`."""

from __future__ import annotations

import contextlib
import threading

import click

from grader.cli import console, failures
from grader.cli.app import App, pass_app
from grader.cli.params import isolation_option
from grader.confine.policy import Level


@click.command("web", epilog="\b\nExamples:\n  kata web\n  kata web --port 8765 --no-open")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The default is one that is free.")
@click.option("--open/--no-open", "open_it", default=True, help="Open the page in the browser.")
@click.option("--no-engine", is_flag=True, help="Without the warm process: slower, the same verdict.")
@isolation_option(default="standard")
@pass_app
def web_command(app: App, port: int, open_it: bool, no_engine: bool, isolation: Level) -> None:
    """The same in your browser, from this machine only.

    It works on the files of the folder you stand in, and ends with Ctrl-C.
    """
    from grader.practice.isolation import isolation_note
    from grader.records import Options
    from grader.web.desk import World
    from grader.web.gate import Keys
    from grader.web.server import door, serve

    world = World(
        catalog=app.catalog,
        home=app.home,
        folder=app.folder,
        clock=app.clock,
        moment=app.moment,
        begin=app.begin,
        try_out=app.try_out,
        options=Options(isolation=isolation, engine=not no_engine),
        fault=lambda error: failures.told_of(error, lambda: app.home),
    )
    with contextlib.ExitStack() as until_the_end:

        def told(keys: Keys) -> None:
            console.say("Open this address in a browser on this machine. Ctrl-C ends.")
            console.report(keys.address)
            if open_it:
                page = until_the_end.enter_context(door(keys, app.home))
                # It is answered once the server runs, which it does in this thread.
                threading.Thread(target=app.show_page, args=(page,), name="open", daemon=True).start()

        if not no_engine:
            app.warm_up()
        console.warn(isolation_note(isolation, app.home))
        serve(world, port, told)
