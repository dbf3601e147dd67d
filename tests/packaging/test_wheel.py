"""What an installed attention-kata consists of."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from tests.packaging.project import ROOT, build, try_build

CONTENT = ("katas", "solutions", "templates", "packaging")


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def test_the_only_top_level_package_is_grader(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in names(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"grader"}


def test_every_content_file_of_the_checkout_is_in_the_wheel_byte_for_byte(wheel: Path) -> None:
    files = contents(wheel)
    for folder in CONTENT:
        checkout = [
            path
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
        ]
        assert checkout, f"{folder}/ is empty"
        for path in checkout:
            assert files[f"grader/_content/{path.relative_to(ROOT).as_posix()}"] == path.read_bytes()


@pytest.mark.parametrize(
    "stray", [".pyc", "__pycache__", "/tests/", "test_", "conftest", "/.", "packaging_hook"]
)
def test_nothing_stray_is_in_the_wheel(wheel: Path, stray: str) -> None:
    assert [name for name in names(wheel) if stray in name] == []


def test_the_wheel_tells_type_checkers_that_it_is_typed(wheel: Path) -> None:
    assert "grader/py.typed" in names(wheel)


def test_the_wheel_brings_the_licence_and_the_console_script(wheel: Path) -> None:
    files = contents(wheel)
    info = next(name.split("/")[0] for name in files if ".dist-info/" in name)
    assert files[f"{info}/licenses/LICENSE"].startswith(b"MIT License")
    assert b"kata = grader.__main__:main" in files[f"{info}/entry_points.txt"]


def test_a_wheel_built_by_a_workflow_says_where_the_project_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://forge.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/fork")
    files = contents(build(small_project(tmp_path / "project"), "wheel", tmp_path / "out"))
    metadata = next(text for name, text in files.items() if name.endswith("/METADATA")).decode()
    assert "Project-URL: Homepage, https://forge.example/someone/fork\n" in metadata
    assert "Project-URL: Issues, https://forge.example/someone/fork/issues\n" in metadata


def test_a_wheel_built_elsewhere_invents_no_address(wheel: Path) -> None:
    metadata = next(text for name, text in contents(wheel).items() if name.endswith("/METADATA"))
    assert b"Project-URL" not in metadata


def test_a_wheel_built_from_the_sdist_is_the_same(wheel: Path, unpacked: Path, tmp_path: Path) -> None:
    assert contents(build(unpacked, "wheel", tmp_path)) == contents(wheel)


def test_an_editable_install_has_no_copy_of_the_content(tmp_path: Path) -> None:
    assert [name for name in names(build(ROOT, "wheel:editable", tmp_path)) if "_content" in name] == []


def test_bytecode_and_hidden_files_beside_the_content_stay_out(tmp_path: Path) -> None:
    project = small_project(tmp_path / "project")
    (project / "katas" / "v1" / "__pycache__").mkdir()
    (project / "katas" / "v1" / "__pycache__" / "checks.cpython-311.pyc").write_bytes(b"")
    (project / "katas" / "v1" / ".kata.toml.swp").write_bytes(b"")
    (project / "solutions" / "v1.pyc").write_bytes(b"")
    files = names(build(project, "wheel", tmp_path / "out"))
    assert {name for name in files if "_content" in name} == {
        "grader/_content/katas/v1/kata.toml",
        "grader/_content/packaging/note.txt",
        "grader/_content/solutions/v1.py",
        "grader/_content/templates/report.html.j2",
    }


def test_a_wheel_without_its_katas_is_not_built(tmp_path: Path) -> None:
    project = small_project(tmp_path / "project")
    shutil.rmtree(project / "katas")
    done = try_build(project, "wheel", tmp_path / "out")
    assert done.returncode != 0
    assert f"{project / 'katas'}: nothing there, and the wheel needs it" in done.stderr


def small_project(folder: Path) -> Path:
    """A project with this one's build set-up and one file in each content folder."""
    for name, text in {
        "README.md": "",
        "grader/__init__.py": "",
        "grader/cli/main.py": "",
        "katas/v1/kata.toml": "",
        "packaging/note.txt": "",
        "solutions/v1.py": "",
        "templates/report.html.j2": "",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in ("pyproject.toml", "packaging_hook.py", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder
