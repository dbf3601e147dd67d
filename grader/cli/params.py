"""The kinds of arguments, each with its completion in the shell."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import click
from click.shell_completion import CompletionItem

from grader.catalog import Catalog, Kata, load_every_label
from grader.cli.app import App
from grader.confine.policy import Level
from grader.tracks import Track

# ruff: noqa: ARG002 -- Click calls these with more than they need.


FC = TypeVar("FC", bound=Callable[..., Any])


class KataId(click.ParamType[Kata]):
    """A kata's id, made into the kata; a wrong one raises `UsageError` with the nearest ids."""

    name = "kata"

    def convert(self, value: str | Kata, param: click.Parameter | None, ctx: click.Context | None) -> Kata:
        return value if isinstance(value, Kata) else _catalog(ctx).get(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return _ids(ctx, incomplete)


class TrackId(click.ParamType[Track]):
    """A track's id, made into the track; a wrong one raises `UsageError` with the nearest ids."""

    name = "track"

    def convert(self, value: str | Track, param: click.Parameter | None, ctx: click.Context | None) -> Track:
        tracks = _catalog(ctx).tracks
        return value if isinstance(value, Track) else tracks.get(value or tracks.main)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [
            CompletionItem(track.id, help=track.title)
            for track in _catalog(ctx).tracks.tracks
            if track.id.startswith(incomplete.lower())
        ]


class PathOrKata(click.ParamType[str]):
    """A path or a kata's id; which of them it is, is decided later."""

    name = "path or kata"

    def __init__(self, kind: Literal["file", "dir"]) -> None:
        self._kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [*_ids(ctx, incomplete), CompletionItem(incomplete, type=self._kind)]


class LabelName(click.ParamType[str]):
    """A mistake's label; whether there is one of that name is decided later."""

    name = "label"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [
            CompletionItem(name) for name in load_every_label(_catalog(ctx)) if name.startswith(incomplete)
        ]


def _catalog(ctx: click.Context | None) -> Catalog:
    app = None if ctx is None else ctx.find_object(App)
    named = () if ctx is None else ctx.find_root().params.get("katas", ())  # completion runs no command
    return (app or App(katas=named)).catalog


def _ids(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(kata.id, help=kata.title)
        for kata in _catalog(ctx).katas
        if kata.id.startswith(incomplete.lower()) or kata.name.startswith(incomplete.lower())
    ]


def isolation_option(default: Level) -> Callable[[FC], FC]:
    """`--isolation`, with the environment variable that sets it for one's own files.

    Where the default is `strict`, files of others are graded: a setting must not weaken that unseen.
    """
    setting = None if default == "strict" else "KATA_ISOLATION"
    return click.option(
        "--isolation",
        type=click.Choice(get_args(Level)),
        default=default,
        envvar=setting,
        show_envvar=True,
        show_default=True,
        help="strict refuses to run where the machine cannot confine the answer; process is for your own.",
    )


def shown_options(command: FC) -> FC:
    """How much of a report is wanted: `--full` and `--fix`."""
    full = click.option(
        "--full", "-v", "--verbose", "full", is_flag=True,
        help="All that was found: maps, checks, shapes line by line, what the code printed.",
    )  # fmt: skip
    fix = click.option("--fix", is_flag=True, help="How to mend it, too. This counts as a hint.")
    return full(fix(command))


BY_HAND = click.option(
    "--by-hand", is_flag=True, help="The smallest input on which it is wrong, worked out with numbers."
)


class Deadline(click.ParamType[datetime]):
    """A time with its offset; without one it is that of this machine."""

    name = "time"

    def convert(
        self, value: str | datetime, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        try:
            return (value if isinstance(value, datetime) else datetime.fromisoformat(value)).astimezone()
        except ValueError:
            self.fail(f"{value!r} is no time; write it as 2026-11-30T23:59", param, ctx)


class Late(click.ParamType[float]):
    """`10%/day` or `10%`: the share that each day takes off."""

    name = "late"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        number = value.strip().removesuffix("/day").strip()
        try:
            share = float(number.removesuffix("%")) / 100
        except ValueError:
            share = -1.0
        if not number.endswith("%") or not 0 <= share <= 1:
            self.fail(f"{value!r} is no share; write it as 10%/day", param, ctx)
        return share


KATA = KataId()
DEADLINE = Deadline()
LATE = Late()
TRACK = TrackId()
ANSWER_OR_KATA = PathOrKata("file")
FOLDER_OR_KATA = PathOrKata("dir")
LABEL = LabelName()
FOLDER = click.Path(path_type=Path)
