"""The command line with a stand-in for the grader, in an empty folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.catalog import Catalog, Kata
from grader.cli.app import App
from grader.cli.main import cli
from grader.records import Grade, Options, Submission, Verdict


class FakeGrader:
    """Gives the grade that it was told to give, and remembers what it was asked."""

    def __init__(self, make_grade: Callable[..., Grade]) -> None:
        self.make_grade = make_grade
        self.missed: tuple[str, ...] = ()
        self.verdict: Verdict | None = None
        self.error: BaseException | None = None
        self.asked: list[tuple[Submission, Kata, Options | None]] = []

    def __call__(
        self, submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
    ) -> Grade:
        assert kata in catalog.katas
        self.asked.append((submission, kata, options))
        if self.error is not None:
            raise self.error
        text = submission.source.decode()
        return self.make_grade(kata.id, missed=self.missed, verdict=self.verdict, source=text)


class Terminal:
    """Runs commands in the folder `folder`; `edited` and `browsed` are what was opened."""

    def __init__(self, folder: Path, app: App, edited: list[Path], browsed: list[Path]) -> None:
        self.folder = folder
        self.edited = edited
        self.browsed = browsed
        self.app = app

    def __call__(self, *words: str | Path) -> Result:
        arguments: Sequence[str] = [str(word) for word in words]
        result = CliRunner().invoke(cli, arguments, obj=self.app)
        assert not isinstance(result.exception, Exception), result.exception
        return result

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def grader(make_grade: Callable[..., Grade]) -> FakeGrader:
    return FakeGrader(make_grade)


@pytest.fixture
def kata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Callable[[], object], grader: FakeGrader
) -> Terminal:
    folder = tmp_path / "practice"
    folder.mkdir()
    monkeypatch.chdir(folder)
    edited: list[Path] = []
    browsed: list[Path] = []
    app = App(clock=clock, grade=grader, edit=edited.append, browse=browsed.append)  # type: ignore[arg-type]
    return Terminal(folder, app, edited, browsed)


@pytest.fixture
def broken_history(home: Path) -> Path:
    """A history that is no database."""
    path = home / "kata" / "history.db"
    path.parent.mkdir()
    path.write_bytes(b"a letter, not a database\n" * 100)
    return path
