"""`kata next`, `stats`, `export` and `import`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.cli.app import App
from grader.cli.main import cli
from tests.memory.conftest import Diary


class Terminal:
    def __init__(self, diary: Diary, browsed: list[Path]) -> None:
        self.browsed = browsed
        self._app = App(clock=lambda: diary.now, browse=browsed.append)

    def __call__(self, *words: str | Path, typed: bytes = b"") -> Result:
        result = CliRunner().invoke(cli, [str(word) for word in words], obj=self._app, input=typed)
        assert not isinstance(result.exception, Exception), result.exception
        return result


@pytest.fixture
def kata(diary: Diary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(tmp_path)
    return Terminal(diary, [])


def test_next_says_what_and_why(kata: Terminal, diary: Diary) -> None:
    assert "kata start v1" in kata("next").stdout
    diary.sitting("v1", ("scale",))
    shown = kata("next").stdout
    assert "You lost scale last time" in shown


def test_next_shows_what_comes_after(kata: Terminal, diary: Diary) -> None:
    diary.sitting("v1")
    diary.wait(days=60)
    shown = kata("next").stdout
    assert "After that" in shown
    assert "kata start v2" in shown


def test_next_as_json(kata: Terminal, diary: Diary) -> None:
    diary.sitting("v1", ("scale",))
    document = json.loads(kata("next", "--json").stdout)
    assert document["version"] == 1
    assert document["advice"][0]["concepts"] == ["scale"]


def test_stats_in_the_terminal_and_as_json(kata: Terminal, diary: Diary) -> None:
    assert "Nothing was graded yet" in kata("stats").stdout
    diary.sitting("v1", ("scale",))
    assert "v1 scale" in kata("stats").stdout
    assert json.loads(kata("stats", "--json").stdout)["sittings"] == 1


def test_stats_as_a_page(kata: Terminal, diary: Diary, tmp_path: Path) -> None:
    diary.sitting("v1", ("scale",))
    kata("stats", "--open")
    assert kata.browsed[0].read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "Statistics:" in kata("stats", "--output", tmp_path / "s.html").stdout
    (tmp_path / "file").write_text("")
    assert kata("stats", "--output", tmp_path / "file" / "s.html").exit_code == 2


def test_export_and_import(
    kata: Terminal, diary: Diary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary.start("v1")
    diary.history.take_hint("v1", 4)
    assert "On the other machine: kata import h.json" in kata("export", "h.json").stdout
    document = kata("export").stdout
    assert "Nothing new" in kata("import", "h.json").stdout
    monkeypatch.setenv("KATA_HOME", str(tmp_path / "elsewhere"))
    other = Terminal(diary, [])
    assert "Added 2 entries" in other("import", "-", typed=document.encode()).stdout


def test_files_that_cannot_be_written_or_read(kata: Terminal, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert kata("export", "file/h.json").exit_code == 2
    assert kata("import", "none.json").exit_code == 2
    result = kata("import", "file")
    assert result.exit_code == 2
    assert "no exported history" in result.stderr
