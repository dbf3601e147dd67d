"""Opening a page: with real programs in the browser's place, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.cli.browser import NoBrowser, browse

pytestmark = pytest.mark.skipif("sys.platform != 'linux'", reason="elsewhere the system has an opener")


@pytest.fixture
def opener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A screen, and a browser that is a script yet to be written."""
    program = tmp_path / "browser"
    monkeypatch.setenv("BROWSER", str(program))
    return program


def write(program: Path, *lines: str) -> None:
    program.write_text("\n".join(("#!/bin/sh", *lines)), encoding="utf-8")
    program.chmod(0o755)


def test_the_page_is_handed_to_the_browser(opener: Path, tmp_path: Path) -> None:
    write(opener, f'printf %s "$1" > {tmp_path}/opened')
    browse(tmp_path / "a page.html")
    assert (tmp_path / "opened").read_text() == (tmp_path / "a page.html").as_uri()


def test_what_the_search_for_a_browser_says_is_not_shown(
    opener: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(opener, "echo 'www-browser: not found' >&2", "echo noise", "exit 3")
    with pytest.raises(NoBrowser, match="no browser"):
        browse(tmp_path / "page.html")
    assert capfd.readouterr() == ("", "")


def test_a_browser_that_is_not_there_is_said(opener: Path, tmp_path: Path) -> None:
    assert not opener.exists()
    with pytest.raises(NoBrowser) as raised:
        browse(tmp_path / "page.html")
    assert str(tmp_path / "page.html") in raised.value.fix


def test_without_a_screen_no_browser_draws_over_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NoBrowser):
        browse(tmp_path / "page.html")
