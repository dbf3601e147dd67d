"""What a worker may read, write and use up: computed once, on the trusted side, from what is installed here.

Landlock's rules only ever add up. So a folder that holds something forbidden is never granted as a whole: it
may be listed (the import system lists every folder of `sys.path`), and each of its children but the forbidden
one is granted. Nothing of the user's home is readable for being in the home; an environment that lies there
is granted by its own path.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from grader.confine.rlimits import Limits
from grader.records import Record

Level = Literal["strict", "standard", "process"]

PACKAGE = "grader"
DISTRIBUTION = "attention_kata"

LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64")
SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/ssl/openssl.cnf",  # hashlib's library gives up when it exists and cannot be read
    "/usr/share/zoneinfo",
    # What torch's thread pools and math libraries ask about the machine.
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/kernel/mm/transparent_hugepage",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
)
WRITABLE_FILES = ("/dev/null",)
# Distributions that may lie elsewhere than the rest (a build of torch from source, say): by package folder.
PACKAGES = ("torch", "torchgen", "functorch", "numpy", "safetensors")


class Policy(Record):
    """What one kind of worker may do. `scratch` holds the folders of all workers that share the policy."""

    scratch: Path
    readable: tuple[Path, ...]  # files, and folders with all beneath them
    listable: tuple[Path, ...]  # folders whose names may be listed, and no more
    writable: tuple[Path, ...]  # devices
    roots: tuple[Path, ...]  # few folders and files that cover all of the above, but no scratch folder
    level: Level = "strict"
    limits: Limits = Limits()


def unnamed(path: Path) -> str:
    """A place as a worker's host is told of it: digests of its path and of the folders above, and no name.

    What the host knows, its workers inherit: where the user's history lies is none of their business.
    """
    return _unnamed(path.resolve())


def _unnamed(path: Path) -> str:
    return ",".join(_digest(each) for each in (path, *path.parents))


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:32]


def worker_policy(
    scratch: Path,
    deny: tuple[str, ...] = (),
    level: Level = "strict",
    limits: Limits = Limits(),  # noqa: B008 - a frozen record
) -> Policy:
    """The policy of workers that run in this interpreter's environment.

    Readable are the standard library, the installed packages and the shared libraries; not readable are this
    program with its katas and solutions, the home, and `deny`: the history's folder, other kata folders, each
    `unnamed`.
    """
    packages = _package_folders()
    libraries = [Path(path) for path in LIBRARIES]
    roots = [*_interpreter_folders(), *packages, *libraries, *_packages_elsewhere(packages)]
    roots = _outermost(path.resolve() for path in roots if _can_reach(path))
    denied = {path.resolve() for path in (*_own_folders(), *_home(), scratch)}
    denied |= _other_package_folders(roots, packages)
    for folder in packages:
        denied |= _own_entries(folder)

    grants = _Grants((*deny, *map(_unnamed, denied)), packages)
    # A folder of packages beneath a denied one (an environment inside the checkout) is a root all the same.
    for root in (*roots, *(path for path in packages if path not in roots)):
        grants.add(root)
    files = [Path(path).resolve() for path in SYSTEM_FILES if _can_reach(Path(path))]
    devices = tuple(Path(path) for path in WRITABLE_FILES if _can_reach(Path(path)))
    granted = [*grants.readable, *grants.listable, *files, *devices]
    return Policy(
        scratch=scratch.resolve(),
        readable=(*_outermost(grants.readable), *files),
        listable=tuple(sorted(set(grants.listable))),
        writable=devices,
        roots=tuple(_outermost([*roots, *granted])),
        level=level,
        limits=limits,
    )


def _can_reach(path: Path) -> bool:
    """Whether this user gets there: an interpreter that was moved names folders of whoever built it."""
    try:
        path.stat()
    except OSError:
        return False
    return True


def _can_list(path: Path) -> bool:
    return _can_reach(path) and path.is_dir() and os.access(path, os.R_OK)


def _interpreter_folders() -> list[Path]:
    """The standard library with its extension modules, and the folder of the interpreter's shared library."""
    named = [sysconfig.get_path("stdlib"), sysconfig.get_config_var("BINLIBDEST")]
    libraries = [Path(prefix) / "lib" for prefix in (sys.base_prefix, sys.base_exec_prefix)]
    return [*(Path(name) for name in named if name), *libraries]


def _package_folders() -> list[Path]:
    """The folders that installed packages are imported from, torch's own among them."""
    names = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    names += site.getsitepackages()
    names += [str(path.parent) for path in _locations("torch") if path.parent.name.endswith("-packages")]
    if site.ENABLE_USER_SITE:
        names.append(site.getusersitepackages())
    return list(dict.fromkeys(Path(name).resolve() for name in names if _can_list(Path(name))))


def _packages_elsewhere(folders: Sequence[Path]) -> list[Path]:
    """The folders of packages that torch needs, where they lie in none of `folders`."""
    found = [path for name in PACKAGES for path in _locations(name)]
    return [path for path in found if not any(path.is_relative_to(folder) for folder in folders)]


def _locations(package: str) -> list[Path]:
    """Where an import would find the package; it is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        return []
    return [Path(location).resolve() for location in spec.submodule_search_locations]


def _own_folders() -> set[Path]:
    """This program, wherever it runs from; in a checkout also what lies beside it."""
    package = Path(__file__).resolve().parents[1]
    beside = package.parent
    return {package, beside} if (beside / "katas").is_dir() else {package}


def _own_entries(folder: Path) -> set[Path]:
    """The entries of a folder of installed packages that belong to this program, or lead to it."""
    return {path for path in folder.iterdir() if _is_own(path.name)}


def _is_own(name: str) -> bool:
    return name == PACKAGE or DISTRIBUTION in name.casefold().replace("-", "_")


def _home() -> set[Path]:
    try:
        home = Path.home()
    except RuntimeError:  # a user without one
        return set()
    return {home} if home != Path("/") else set()


def _other_package_folders(roots: Iterable[Path], packages: Sequence[Path]) -> set[Path]:
    """Folders of packages that no import of this environment reaches: another copy of us may be in there."""
    patterns = ("python*/site-packages", "python*/dist-packages", "site-packages", "dist-packages")
    found = {path.resolve() for root in roots for pattern in patterns for path in root.glob(pattern)}
    return found - set(packages)


class _Grants:
    """Collects what may be read, walking around what is denied."""

    def __init__(self, denied: Iterable[str], packages: Sequence[Path]) -> None:
        self.readable: list[Path] = []
        self.listable: list[Path] = []
        self._packages = packages
        digests = [place.split(",") for place in denied]
        self._denied = {itself for itself, *_ in digests}
        self._on_the_way = {above for _, *parents in digests for above in parents}

    def _is_denied(self, path: Path) -> bool:
        return _digest(path) in self._denied

    def _holds_denied(self, path: Path) -> bool:
        return _digest(path) in self._on_the_way

    def add(self, folder: Path) -> None:
        """Grant `folder` without what is denied beneath it. What is denied above it does not count: a root
        is there on purpose."""
        if self._is_denied(folder):
            return
        if not self._holds_denied(folder):
            self.readable.append(folder)
            return
        self.listable.append(folder)
        try:
            entries = list(os.scandir(folder))
        except PermissionError:
            return
        for entry in entries:
            path = Path(entry.path)
            if self._is_denied(path):
                continue
            if entry.is_symlink():
                self._add_target(path)
            elif entry.is_dir(follow_symlinks=False):
                self.add(path)
            else:
                self.readable.append(path)

    def _add_target(self, link: Path) -> None:
        """A rule on a link would grant its target. Some installers link packages to a store of theirs: those
        are granted, unless something denied is there, above it or below it."""
        target = link.resolve()
        denied = self._holds_denied(target) or any(map(self._is_denied, (target, *target.parents)))
        if link.parent in self._packages and not denied:
            self.readable.append(target)


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """Without those that lie beneath another one."""
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda path: path.parts):  # what lies beneath a folder follows it
        if not kept or not path.is_relative_to(kept[-1]):
            kept.append(path)
    return kept
