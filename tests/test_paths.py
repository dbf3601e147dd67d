"""Where this program keeps its own things."""

from __future__ import annotations

from pathlib import Path

from grader import paths


def test_kata_home_overrides_the_platforms_folder(tmp_path: Path) -> None:
    assert paths.home({"KATA_HOME": str(tmp_path / "mine")}) == tmp_path / "mine"
    assert paths.home({"KATA_HOME": ""}).name == "attention-kata"
    assert paths.home({}).name == "attention-kata"


def test_kata_home_may_begin_with_a_tilde_and_be_relative(home: Path) -> None:
    assert paths.home({"KATA_HOME": "~/mine"}) == home / "mine"
    assert paths.home({"KATA_HOME": "mine"}) == Path.cwd() / "mine"


def test_a_path_is_shortened_only_below_the_home(tmp_path: Path) -> None:
    assert paths.tilde(tmp_path / "a" / "b.py", tmp_path) == str(Path("~") / "a" / "b.py")
    assert paths.tilde(Path("/somewhere/b.py"), tmp_path) == str(Path("/somewhere/b.py"))
