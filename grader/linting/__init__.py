"""What kata authors are told about their katas: are they whole, and do their checks bite?

`lint` reads the files of each kata, grades its papers, its solution and its examples through real workers,
and has every mistake of its catalogue played by the oracle and judged by its own checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from grader.catalog import Catalog, Kata, content_root, load_kata
from grader.errors import KataError
from grader.linting.files import open_points, problems_of_files, stray_solutions
from grader.linting.records import LintReport, Problem, Tally
from grader.packs import is_pack, load_all
from grader.records import Record

__all__ = ["Aim", "LintReport", "Problem", "Tally", "aim", "lint"]

Tell = Callable[[int, int | None], None]  # how much more was tried, of how much


class Aim(Record):
    """Which katas: those below `root` (default: ours), or those of packs, or the one that `only` names."""

    root: Path | None = None
    packs: tuple[Path, ...] = ()
    only: str | None = None


def aim(what: str | None, desk: Path, catalog: Catalog | None = None) -> Aim:
    """What is meant at `desk`: the id of a kata that there is, a root, a pack, or the folder of one kata."""
    packs = () if catalog is None else tuple(pack.root for pack in catalog.packs)
    if what is None:
        return Aim(packs=packs)
    path = desk / what
    if catalog is not None and catalog.names(what):
        return Aim(packs=packs, only=what)
    if (path / "kata.toml").is_file():
        folder = path.resolve()
        root = folder.parent.parent
        return Aim(packs=(root,), only=folder.name) if is_pack(root) else Aim(root=root, only=folder.name)
    if is_pack(path):
        return Aim(packs=(path,))
    return Aim(root=path) if path.is_dir() else Aim(packs=packs, only=what)


def lint(aim: Aim | None = None, tell: Tell = lambda _, __: None, *, quick: bool = False) -> LintReport:
    """All problems of the katas that are meant (default: those of this program), and what was tried.

    A kata whose files are broken is not graded; one that merely has open points is. Where packs are meant it
    is their katas alone. A name that no kata has raises `UsageError`. A `quick` look tries each mistake once,
    in one of the katas that know it.
    """
    aim = aim or Aim()
    try:
        catalog = load_all(aim.packs, {}, aim.root)
    except KataError as error:
        if aim.packs:
            return LintReport(problems=(Problem(path=aim.packs[-1], message=error.message, fix=error.fix),))
        return LintReport(problems=_unreadable(content_root() if aim.root is None else aim.root.resolve()))
    problems = list(_left_out(catalog, aim))
    if aim.only is None:
        for root in catalog.roots[bool(aim.packs) :]:
            problems += stray_solutions(catalog, root)
    whole: list[Kata] = []
    for kata in _wanted(catalog, aim):
        found = problems_of_files(kata, catalog)
        problems += (*found, *open_points(kata))
        if not found:
            whole.append(kata)
    tallies = _graded(catalog, whole, problems, tell, quick=quick)
    return LintReport(problems=tuple(problems), tallies=tallies)


def _left_out(catalog: Catalog, aim: Aim) -> Sequence[Problem]:
    """What a pack holds and the catalog does not."""
    roots = {pack.name: pack.root for pack in catalog.packs}
    return [
        Problem(path=roots[pack] / "katas" / name, message=left_out.message, fix=left_out.fix)
        for left_out in catalog.left_out
        for pack, _, name in (left_out.kata.partition("."),)
        if aim.only in (None, name, left_out.kata)
    ]


def _wanted(catalog: Catalog, aim: Aim) -> tuple[Kata, ...]:
    katas = tuple(kata for kata in catalog.katas if kata.pack or not aim.packs)
    if aim.only is None:
        return katas
    named = tuple(kata for kata in katas if kata.folder.name == aim.only)
    left_out = any(aim.only in (one.kata, one.kata.rpartition(".")[2]) for one in catalog.left_out)
    return named or (() if left_out else (catalog.get(aim.only),))


def _unreadable(root: Path) -> tuple[Problem, ...]:
    """Why there is no catalog: each `kata.toml` that does not load, or that there is none."""
    problems = []
    for path in sorted((root / "katas").glob("*/kata.toml")):
        try:
            load_kata(path.parent, root / "solutions", "")
        except KataError as error:
            problems.append(Problem(path=path, message=error.message, fix="Compare with katas/v1/kata.toml."))
    nothing = Problem(path=root / "katas", message="There is no kata here.", fix="See CONTRIBUTING.md.")
    return tuple(problems) or (nothing,)


def _graded(
    catalog: Catalog, katas: Sequence[Kata], problems: list[Problem], tell: Tell, *, quick: bool
) -> tuple[Tally, ...]:
    if not katas:
        return ()
    from grader.linting.verify import try_katas  # torch and the judge, only when there is something to grade

    found, tallies = try_katas(catalog, katas, tell, quick=quick)
    problems += found
    return tallies
