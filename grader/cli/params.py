"""The kinds of arguments, each with its completion in the shell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import click
from click.shell_completion import CompletionItem

from grader.catalog import Catalog, Kata, load_labels
from grader.cli.app import App
from grader.confine.policy import Level

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
        return [CompletionItem(name) for name in load_labels(_catalog(ctx)) if name.startswith(incomplete)]


def _catalog(ctx: click.Context | None) -> Catalog:
    app = None if ctx is None else ctx.find_object(App)
    return (app or App()).catalog


def _ids(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(kata.id, help=kata.title)
        for kata in _catalog(ctx).katas
        if kata.id.startswith(incomplete.lower())
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


KATA = KataId()
ANSWER_OR_KATA = PathOrKata("file")
FOLDER_OR_KATA = PathOrKata("dir")
LABEL = LabelName()
FOLDER = click.Path(path_type=Path)
