"""What kata authors are told about their katas: are they whole, and do their checks bite?

`lint` reads the files of each kata, grades its papers, its solution and its examples through real workers,
and has every mistake of its catalogue played by the oracle and judged by its own checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.catalog import Catalog, Kata, content_root, load_catalog, load_kata
from grader.errors import KataError
from grader.linting.files import problems_of_files, stray_solutions
from grader.linting.records import LintReport, Problem, Tally

__all__ = ["LintReport", "Problem", "Tally", "aim", "lint"]


def aim(what: str, desk: Path) -> tuple[Path | None, str | None]:
    """The root and the one kata that `what` means at `desk`: a root, the folder of one kata, or an id."""
    path = desk / what
    if (path / "kata.toml").is_file():
        folder = path.resolve()
        return folder.parent.parent, folder.name
    return (path, None) if path.is_dir() else (None, what)


def lint(root: Path | None = None, only: str | None = None) -> LintReport:
    """All problems of the katas below `root` (default: those of this program), and what was tried.

    `root` holds `katas/` and `solutions/`. A kata whose files are broken is not graded. `only` names one kata
    by its id or its folder; there being none raises `UsageError`.
    """
    try:
        catalog = load_catalog(root)
    except KataError:
        return LintReport(problems=_unreadable(content_root() if root is None else root.resolve()))
    problems = list(stray_solutions(catalog)) if only is None else []
    whole: list[Kata] = []
    for kata in _wanted(catalog, only):
        found = problems_of_files(kata, catalog)
        problems += found
        if not found:
            whole.append(kata)
    tallies = _graded(catalog, whole, problems)
    return LintReport(problems=tuple(problems), tallies=tallies)


def _wanted(catalog: Catalog, only: str | None) -> tuple[Kata, ...]:
    if only is None:
        return catalog.katas
    return tuple(kata for kata in catalog.katas if kata.folder.name == only) or (catalog.get(only),)


def _unreadable(root: Path) -> tuple[Problem, ...]:
    """Why there is no catalog: each `kata.toml` that does not load, or that there is none."""
    problems = []
    for path in sorted((root / "katas").glob("*/kata.toml")):
        try:
            load_kata(path.parent, root / "solutions")
        except KataError as error:
            problems.append(Problem(path=path, message=error.message, fix="Compare with katas/v1/kata.toml."))
    nothing = Problem(path=root / "katas", message="There is no kata here.", fix="See CONTRIBUTING.md.")
    return tuple(problems) or (nothing,)


def _graded(catalog: Catalog, katas: Sequence[Kata], problems: list[Problem]) -> tuple[Tally, ...]:
    if not katas:
        return ()
    from grader.linting.trials import try_katas  # torch and the judge, only when there is something to grade

    found, tallies = try_katas(catalog, katas)
    problems += found
    return tallies
