"""No grade once made disappears: full disks, kills between two writes, interruptions, lost reports."""

from __future__ import annotations

import csv
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.catalog import Catalog
from grader.cohort.entries import Entry, Result
from grader.cohort.run import Stopped, grading, run
from grader.cohort.store import FILE_NAME
from grader.cohort.work import Cohort, KeyFunction
from grader.errors import UsageError
from grader.records import Options
from tests.cohort.conftest import Grader, answer
from tests.patience import until
from tests.sampling import some

Write = Callable[[str, str | bytes], Path]
GradeAll = Callable[..., Any]


@contextmanager
def full_after(size: int) -> Iterator[None]:
    """No file can grow beyond that: what a write gets then is a part, and an error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def three(write: Write) -> None:
    for name in ("ada", "bob", "cy"):
        write(f"in/{name}.py", answer("v1"))


def reports(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob("reports/*"))]


@pytest.mark.usefixtures("three")
def test_a_full_disk_leaves_whole_files_and_every_grade(
    grade_all: GradeAll, grader: Grader, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with full_after(9_000), pytest.raises(UsageError, match="cannot be written"):  # less than a report
        grade_all("in")
    assert reports(out) == []
    kept = (out / FILE_NAME).read_bytes().splitlines()
    assert [msgspec.json.decode(line, type=Result).student for line in kept] == ["ada"]
    grader.asked.clear()
    finished = grade_all("in")
    assert sorted(grader.asked) == ["bob.py", "cy.py"]
    assert [row.verdict for row in finished.rows] == ["passed"] * 3
    assert len(reports(out)) == 3
    assert all(text.rstrip().endswith(b"</html>") for text in reports(out))


@pytest.mark.usefixtures("three")
def test_a_disk_that_fills_within_a_line_costs_that_grade_only(
    grade_all: GradeAll, grader: Grader, tmp_path: Path
) -> None:
    with full_after(700), pytest.raises(UsageError, match="No results can be kept"):
        grade_all("in")
    assert (tmp_path / "out" / FILE_NAME).stat().st_size == 700
    grader.asked.clear()
    assert [row.verdict for row in grade_all("in").rows] == ["passed"] * 3
    assert sorted(grader.asked) == ["ada.py", "bob.py", "cy.py"]


@pytest.mark.usefixtures("three")
def test_reports_that_are_missing_are_made_of_the_grades(
    grade_all: GradeAll, grader: Grader, tmp_path: Path
) -> None:
    grade_all("in")
    out = tmp_path / "out"
    before = reports(out)
    for path in [*out.glob("reports/*"), *out.glob("gradescope/*/*")]:
        path.unlink()
    grader.asked.clear()
    finished = grade_all("in")
    assert grader.asked == []
    assert reports(out) == before
    assert all((out / "gradescope" / row.slug / "results.json").is_file() for row in finished.rows)


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("stop", [KeyboardInterrupt(), Stopped("The scheduler has gone.")])
def test_an_interrupted_run_shows_what_is_done(
    catalog: Catalog, grader: Grader, tmp_path: Path, stop: BaseException
) -> None:
    options = Options()
    cohort = Cohort(tmp_path / "out", catalog, options, "1")

    def runner(todo: list[Entry], keys: KeyFunction) -> Iterator[Result]:
        yield next(run(todo, grading(grader, catalog, options, keys), 1))
        raise stop

    with pytest.raises(type(stop)):
        list(cohort.grade(["in"], tmp_path, runner))
    shown = cohort.show()
    assert (len(shown.rows), shown.left) == (1, 2)
    page = shown.page.read_text(encoding="utf-8")
    assert "The run was interrupted: 2 answers are still to be graded." in page
    assert (tmp_path / "out" / "results.csv").read_text(encoding="utf-8").count("passed") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="engines are there on Linux")
@pytest.mark.parametrize("number", some(1, [signal.SIGTERM, signal.SIGINT]))
def test_a_process_that_is_told_to_end_shows_what_is_done(
    catalog: Catalog, write: Write, tmp_path: Path, number: signal.Signals
) -> None:
    write("in/ada.py", catalog.get("v1").solution.read_bytes())
    hangs = "import time\ntime.sleep(600)\nclass SelfAttentionV1: ...\n"
    for name in ("bob", "cy"):
        write(f"in/{name}.py", hangs)
    out = tmp_path / "out"
    # Whoever is started in the background ignores Ctrl-C, and so would this one.
    command = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from grader.cli.main import main; main()"
    )
    words = ["grade-all", "in", "-o", "out", "--isolation", "standard", "--jobs", "1"]
    process = subprocess.Popen(
        [sys.executable, "-c", command, *words],
        cwd=tmp_path,
        env={**os.environ, "KATA_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        until(lambda: (out / FILE_NAME).is_file() and b"passed" in (out / FILE_NAME).read_bytes())
        process.send_signal(number)
        said, complained = process.communicate()
    assert process.returncode == 130, complained
    assert "1 of 1 passed." in said
    assert "Interrupted: 2 still to be graded." in complained
    assert "ada.py" in (out / "index.html").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="engines are there on Linux")
def test_a_run_that_was_killed_goes_on_and_loses_and_doubles_nobody(
    catalog: Catalog, write: Write, tmp_path: Path
) -> None:
    right = catalog.get("v1").solution.read_bytes()
    names = [f"s{number}" for number in range(9)]
    for name in names:
        write(f"in/{name}.py", right + f"# {name}\n".encode())
    write("in/notes.pdf", b"%PDF")
    results = tmp_path / "out" / FILE_NAME
    words = ["grade-all", "in", "-o", "out", "--isolation", "standard", "--jobs", "2"]
    command = [sys.executable, "-c", "from grader.cli.main import main; main()", *words]
    home = {**os.environ, "KATA_HOME": str(tmp_path / "home")}
    with subprocess.Popen(command, cwd=tmp_path, env=home, stdout=subprocess.DEVNULL) as process:
        until(lambda: results.is_file() and results.read_bytes().count(b"passed") >= 3)
        process.kill()
    done = results.read_bytes().count(b'"status":"graded"')
    assert done < len(names)
    again = subprocess.run(command, cwd=tmp_path, env=home, capture_output=True, text=True, check=False)
    assert again.returncode == 1, again.stderr  # the PDF has no verdict
    lines = [msgspec.json.decode(line, type=Result) for line in results.read_bytes().splitlines()]
    graded = [line.student for line in lines if line.status == "graded"]
    assert sorted(graded) == names
    assert len(reports(tmp_path / "out")) == len(names)
    with (tmp_path / "out" / "results.csv").open(encoding="utf-8", newline="") as opened:
        assert sorted(row["student"] for row in csv.DictReader(opened)) == ["notes", *names]


def test_a_fault_of_the_grader_is_tried_again_at_the_end(
    catalog: Catalog, write: Write, tmp_path: Path, make_grade: Callable[..., Any]
) -> None:
    from grader.errors import GraderFault

    for name in ("ada", "bob", "cy"):
        write(f"in/{name}.py", answer("v1"))
    asked: list[str] = []

    def flaky(submission: Any, kata: Any, *_: object) -> Any:
        asked.append(submission.name)
        if submission.name == "cy.py" or asked.count(submission.name) + asked.count("bob.py") == 1:
            raise GraderFault("it broke")
        return make_grade(kata.id)

    options = Options()
    cohort = Cohort(tmp_path / "out", catalog, options, "1")
    events = list(
        cohort.grade(
            ["in"], tmp_path, lambda todo, keys: run(todo, grading(flaky, catalog, options, keys), 1)
        )
    )
    told = [(event.name, event.verdict) for event in events[1:-1]]  # type: ignore[union-attr]
    assert told == [("bob.py", "passed"), ("ada.py", "passed"), ("cy.py", "grader_error")]
    assert asked == ["ada.py", "bob.py", "cy.py", "ada.py", "cy.py"]
