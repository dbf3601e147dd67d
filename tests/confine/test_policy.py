"""What a worker may read follows from what is installed; never the grader, the home or the history."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from grader.confine import policy
from grader.confine.policy import Policy, worker_policy
from tests.confine.arena import CANARY, ROOT


def covers(rules: Policy, path: Path) -> bool:
    path = path.resolve()
    return any(path.is_relative_to(granted) for granted in (*rules.readable, *rules.writable))


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def test_the_standard_library_and_torch_are_readable(scratch: Path) -> None:
    import importlib.util

    rules = worker_policy(scratch)
    for name in ("unittest", "torch", "numpy", "typing_extensions"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        assert covers(rules, Path(spec.origin)), name


def test_the_program_its_content_and_the_home_are_not(scratch: Path, home: Path) -> None:
    rules = worker_policy(scratch)
    for path in (
        ROOT,
        ROOT / "katas",
        ROOT / "solutions",
        ROOT / "grader",
        home,
        home / "kata",
        scratch,
        Path("/etc"),
    ):
        assert not covers(rules, path), path


def test_no_folder_is_readable_that_holds_something_denied(scratch: Path) -> None:
    library = Path(os.__file__).resolve().parent
    rules = worker_policy(scratch, deny=(policy.unnamed(library / "unittest"),))
    assert not covers(rules, library / "unittest" / "case.py")
    assert covers(rules, library / "dataclasses.py")
    assert covers(rules, library / "json" / "decoder.py")
    assert library in rules.listable


def test_the_roots_cover_every_grant_and_no_scratch_folder(scratch: Path) -> None:
    rules = worker_policy(scratch)
    for path in (*rules.readable, *rules.listable, *rules.writable):
        assert any(path.is_relative_to(root) for root in rules.roots), path
    assert not any(scratch.is_relative_to(root) for root in rules.roots)


def test_level_and_limits_are_the_callers(scratch: Path) -> None:
    rules = worker_policy(scratch, level="standard", limits=policy.Limits(open_files=64))
    assert (rules.level, rules.limits.open_files) == ("standard", 64)


@pytest.mark.parametrize("error", [PermissionError, FileNotFoundError])
def test_folders_that_this_user_cannot_reach_are_left_out(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    """An interpreter that was moved names folders of whoever built it."""
    closed = Path("/of-the-builder/lib/python3.11")
    honest = policy._interpreter_folders()
    stat = Path.stat

    def refuse(path: Path, **more: bool) -> os.stat_result:
        if path.is_relative_to("/of-the-builder"):
            raise error(13, "not yours")
        return stat(path, **more)

    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr(policy, "_interpreter_folders", lambda: [closed, *honest])
    rules = worker_policy(scratch)
    assert closed not in rules.roots
    assert covers(rules, Path(json.__file__))


def test_a_user_without_a_home_is_no_reason_to_stop(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    assert worker_policy(scratch).readable


class TestWhatLiesBeneathARoot:
    """A root is granted without what must stay hidden, wherever an installer put that."""

    @pytest.fixture
    def library(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """One more folder of the interpreter's, with a neighbour that anybody may read."""
        library = tmp_path / "lib"
        (library / "neighbour").mkdir(parents=True)
        honest = policy._interpreter_folders()
        monkeypatch.setattr(policy, "_interpreter_folders", lambda: [library, *honest])
        return library

    def test_not_the_home(self, library: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (library / "ada").mkdir()
        monkeypatch.setenv("HOME", str(library / "ada"))
        rules = worker_policy(scratch)
        assert covers(rules, library / "neighbour")
        assert not covers(rules, library / "ada")

    @pytest.mark.parametrize("checkout", [True, False], ids=["checkout", "installed"])
    def test_not_this_program(
        self, library: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, checkout: bool
    ) -> None:
        own = library / "project"
        for name in ("grader/confine", "solutions", *(["katas"] if checkout else [])):
            (own / name).mkdir(parents=True)
        monkeypatch.setattr(policy, "__file__", str(own / "grader" / "confine" / "policy.py"))
        rules = worker_policy(scratch)
        assert covers(rules, library / "neighbour")
        assert not covers(rules, own / "grader")
        assert covers(rules, own / "solutions") is not checkout

    @pytest.mark.parametrize("name", ["site-packages", "dist-packages", "python3.9/site-packages"])
    def test_not_the_packages_of_other_environments(self, library: Path, scratch: Path, name: str) -> None:
        (library / name / "grader").mkdir(parents=True)
        rules = worker_policy(scratch)
        assert covers(rules, library / "neighbour")
        assert not covers(rules, library / name / "grader")


class TestGrants:
    """The walk around what is denied."""

    def grants(self, folder: Path, *denied: Path) -> policy._Grants:
        found = policy._Grants(map(policy._unnamed, denied), [folder])
        found.add(folder)
        return found

    def test_a_folder_without_anything_denied_is_granted_as_a_whole(self, tmp_path: Path) -> None:
        found = self.grants(tmp_path, tmp_path.parent / "elsewhere")
        assert (found.readable, found.listable) == ([tmp_path], [])

    def test_what_is_denied_above_a_root_does_not_count(self, tmp_path: Path) -> None:
        assert self.grants(tmp_path, tmp_path.parent).readable == [tmp_path]

    def test_a_denied_root_grants_nothing(self, tmp_path: Path) -> None:
        found = self.grants(tmp_path, tmp_path)
        assert (found.readable, found.listable) == ([], [])

    def test_the_siblings_of_what_is_denied_are_granted(self, tmp_path: Path) -> None:
        for name in ("a/secret", "a/open", "b"):
            (tmp_path / name).mkdir(parents=True)
        (tmp_path / "a" / "module.py").touch()
        found = self.grants(tmp_path, tmp_path / "a" / "secret")
        assert sorted(found.readable) == [
            tmp_path / "a" / "module.py",
            tmp_path / "a" / "open",
            tmp_path / "b",
        ]
        assert sorted(found.listable) == [tmp_path, tmp_path / "a"]

    def test_a_link_is_granted_by_its_target_unless_that_is_denied(self, tmp_path: Path) -> None:
        store, secret, packages = tmp_path / "store", tmp_path / "secret", tmp_path / "packages"
        for folder in (store / "torch", secret / "inner", packages / "grader"):
            folder.mkdir(parents=True)
        (packages / "torch").symlink_to(store / "torch")
        for name, target in (("to_it", secret), ("beneath", secret / "inner"), ("above", tmp_path)):
            (packages / name).symlink_to(target)
        assert self.grants(packages, secret, packages / "grader").readable == [store / "torch"]

    def test_a_folder_that_cannot_be_listed_grants_nothing_more(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(_: object) -> None:
            raise PermissionError

        monkeypatch.setattr(os, "scandir", refuse)
        assert self.grants(tmp_path, tmp_path / "secret").readable == []


INSIDE = """
import json, os, sys
from pathlib import Path
from grader.confine.apply import confine, prepare
from grader.confine.policy import worker_policy

scratch, targets = Path(sys.argv[1]), sys.argv[2:]
prepared = prepare(worker_policy(scratch))
reading, writing = os.pipe()
if os.fork() == 0:
    confine(prepared, keep=(writing,))
    seen = {}
    for target in targets:
        try:
            seen[target] = open(target).read()
        except OSError as error:
            seen[target] = type(error).__name__
    import numpy, neighbour, unittest
    try:
        import grader._content.solutions
    except OSError as error:
        seen["import"] = type(error).__name__
    os.write(writing, json.dumps(seen).encode())
    os._exit(0)
os.close(writing)
print(os.fdopen(reading).read())
"""


class TestInstalled:
    """Landlock's rules only add up: what lies beside readable packages must stay unreadable all the same."""

    @pytest.fixture
    def environment(self, home: Path) -> Path:
        """An environment in the user's home with the program installed in it, and torch found elsewhere."""
        folder = home / "env"
        venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
        [packages] = folder.glob("lib/python*/site-packages")
        shutil.copytree(ROOT / "grader", packages / "grader", ignore=shutil.ignore_patterns("__pycache__"))
        (packages / "grader" / "_content" / "solutions").mkdir(parents=True)
        (packages / "grader" / "_content" / "solutions" / "__init__.py").write_text(CANARY, encoding="utf-8")
        (packages / "attention_kata-0.1.0.dist-info").mkdir()
        (packages / "attention_kata-0.1.0.dist-info" / "direct_url.json").write_text(CANARY, encoding="utf-8")
        (packages / "neighbour.py").write_text("", encoding="utf-8")
        import numpy

        (packages / "more.pth").write_text(str(Path(numpy.__file__).parents[1]), encoding="utf-8")
        (home / "notes.txt").write_text(CANARY, encoding="utf-8")
        return folder

    def run(self, environment: Path, scratch: Path, *targets: Path) -> dict[str, Any]:
        done = subprocess.run(
            [environment / "bin" / "python", "-c", INSIDE, scratch, *targets],
            capture_output=True,
            text=True,
            check=False,
            cwd=scratch,
            env={"HOME": os.environ["HOME"], "PATH": os.defpath},
        )
        assert done.stdout, done.stderr
        seen: dict[str, Any] = json.loads(done.stdout)
        return seen

    def test_solutions_beside_the_packages_and_the_home_around_them_are_unreadable(
        self, environment: Path, scratch: Path, home: Path
    ) -> None:
        [packages] = environment.glob("lib/python*/site-packages")
        targets = (
            packages / "grader" / "_content" / "solutions" / "__init__.py",
            packages / "grader" / "errors.py",
            packages / "attention_kata-0.1.0.dist-info" / "direct_url.json",
            home / "notes.txt",
            ROOT / "pyproject.toml",
        )
        seen = self.run(environment, scratch, *targets)
        assert seen == {str(target): "PermissionError" for target in targets} | {"import": "PermissionError"}

    def test_a_link_to_the_program_opens_nothing(self, environment: Path, scratch: Path) -> None:
        [packages] = environment.glob("lib/python*/site-packages")
        (packages / "innocent").symlink_to(packages / "grader" / "_content")
        target = packages / "innocent" / "solutions" / "__init__.py"
        assert self.run(environment, scratch, target)[str(target)] == "PermissionError"

    def test_another_environments_copy_is_unreadable_too(self, tmp_path: Path) -> None:
        """Beneath the interpreter's own library, say, where this environment imports no packages from."""
        library = tmp_path / "lib"
        copy = library / "python3.11" / "site-packages"
        copy.mkdir(parents=True)
        assert policy._other_package_folders([library], []) == {copy}
        assert policy._other_package_folders([library], [copy]) == set()


def test_a_root_that_is_not_there_is_left_out(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "LIBRARIES", ("/no/such/library",))
    assert Path("/no/such/library") not in worker_policy(scratch).roots


def test_packages_that_lie_elsewhere_are_granted_alone(
    scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "sources" / "kata_test_package"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setattr(policy, "PACKAGES", ("kata_test_package", "no_such_package_at_all", "this"))
    rules = worker_policy(scratch)
    assert package in rules.readable
    assert not covers(rules, package.parent)
    sys.modules.pop("kata_test_package", None)
