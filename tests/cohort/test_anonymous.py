"""What is shown to others names nobody, in every run by the same pseudonym; who is who is kept apart."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.cohort.delivery import Delivery
from tests.cohort.conftest import answer

Write = Callable[[str, str | bytes], Path]
GradeAll = Callable[..., Any]
HIDDEN = Delivery(anonymous=True)


def names(folder: Path) -> list[str]:
    with (folder / "anonymous" / "results.csv").open(encoding="utf-8", newline="") as opened:
        return [row["student"] for row in csv.DictReader(opened)]


def test_nobody_is_named_and_everybody_is_there(grade_all: GradeAll, write: Write, tmp_path: Path) -> None:
    write("subs/ada_lovelace/v1.py", answer("v1"))
    write("subs/ada_lovelace/again.py", answer("v1", "scale"))
    write("subs/bob/v3.py", answer("v3"))
    write("subs/cy_young/cy_young.pdf", "x")
    grade_all("subs", delivery=HIDDEN)
    shown = tmp_path / "out" / "anonymous"
    files = [path for path in shown.rglob("*") if path.is_file()]
    assert len(list(shown.glob("reports/*.html"))) == 3
    for path in files:
        text = path.read_text(encoding="utf-8") + str(path.relative_to(shown))
        assert not any(name in text for name in ("ada_lovelace", "bob", "cy_young", "again.py")), path
    first = names(tmp_path / "out")
    assert first[0] == first[1]
    assert len(set(first)) == 3
    keys = (tmp_path / "out" / "anonymous-names.csv").read_text(encoding="utf-8")
    assert all(name in keys for name in ("ada_lovelace", "bob", "cy_young", *first))


def test_a_pseudonym_stays(grade_all: GradeAll, write: Write, tmp_path: Path) -> None:
    write("subs/bob.py", answer("v1"))
    grade_all("subs", delivery=HIDDEN)
    [bob] = names(tmp_path / "out")
    write("subs/ada.py", answer("v1"))
    grade_all("subs", delivery=HIDDEN)
    assert bob in names(tmp_path / "out")
    assert len(set(names(tmp_path / "out"))) == 2
