"""A pack's katas are graded as ours are; a broken one is said in a sentence, and stops no other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.catalog import Catalog
from grader.engine.private import PrivateEngine, private_engine
from grader.engine.subprocess_grade import grade_in_subprocess
from grader.errors import GraderFault
from grader.linting import Aim, aim, lint
from grader.packs import load_all
from grader.records import Grade, Options, Submission
from tests.packs.making import add_kata, add_label, edit, make_pack

OWN_MISTAKE = """
from grader.authoring import Form

from kata_content.demo.common.ours import twice

VALUES = (*VALUES, Form("scores_doubled", {"scale": twice}))
"""


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two good katas, and three that are broken each in its own way."""
    root = make_pack(tmp_path_factory.mktemp("packs") / "pack", "first", "second", "empty", "broken", "odd")
    (root / "katas" / "empty" / "checks.py").write_text('"""None."""\n', encoding="utf-8")
    edit(root / "katas" / "broken" / "mistakes.py", "from grader", "import nowhere\nfrom grader")
    edit(root / "katas" / "odd" / "checks.py", "__all__", 'raise RuntimeError("one\\ntwo")\n__all__')
    return root


@pytest.fixture(scope="module")
def with_pack(pack: Path) -> Catalog:
    return load_all([pack])


@pytest.fixture(scope="module")
def warm(with_pack: Catalog) -> Iterator[PrivateEngine]:
    with private_engine(with_pack) as engine:
        yield engine


def submission(catalog: Catalog, kata: str, edited: Callable[[str], str] = str) -> Submission:
    source = edited(catalog.get(kata).solution.read_text(encoding="utf-8")).encode()
    return Submission(name="answer.py", source=source, sha256=hashlib.sha256(source).hexdigest())


def graded(engine: PrivateEngine, catalog: Catalog, kata: str, edited: Callable[[str], str] = str) -> Grade:
    return engine.grade(submission(catalog, kata, edited), catalog.get(kata), catalog, Options(seed=1))


def without_scale(text: str) -> str:
    return text.replace(" / math.sqrt(self.hidden_dim)", "").replace(" / math.sqrt(hidden_dim)", "")


def test_an_answer_to_a_packs_kata_is_graded_warm_and_cold(warm: PrivateEngine, with_pack: Catalog) -> None:
    grade = graded(warm, with_pack, "first")
    assert (grade.kata, grade.verdict, grade.points) == ("demo.first", "passed", grade.max_points)
    answer = submission(with_pack, "second")
    cold = grade_in_subprocess(answer, with_pack.get("second"), with_pack, Options(seed=1))
    assert (cold.kata, cold.verdict) == ("demo.second", "passed")


@pytest.mark.parametrize(
    ("kata", "said"),
    [
        ("empty", "its checks.py holds no check"),
        (
            "broken",
            "its code does not load (mistakes.py: ModuleNotFoundError: No module named 'nowhere')",
        ),
        ("odd", "its code does not load (checks.py: RuntimeError: one)"),
    ],
)
def test_a_broken_kata_is_said_in_a_sentence_and_the_others_go_on(
    warm: PrivateEngine, with_pack: Catalog, kata: str, said: str
) -> None:
    with pytest.raises(GraderFault) as raised:
        graded(warm, with_pack, kata)
    assert raised.value.message == f"kata demo.{kata}: {said}"
    assert graded(warm, with_pack, "v1").verdict == "passed"


def test_an_engine_for_other_katas_is_not_asked(
    warm: PrivateEngine, catalog: Catalog, tmp_path: Path
) -> None:
    """A host that is asked for what it has not loaded reads it anew; its own roots are those it was given."""
    other = load_all([make_pack(tmp_path / "other", "third", name="other")])
    assert graded(warm, other, "third").verdict == "passed"
    assert graded(warm, catalog, "v1").verdict == "passed"


def test_a_worker_may_not_read_a_pack(warm: PrivateEngine, with_pack: Catalog, pack: Path) -> None:
    spy = f"import pathlib\nprint(pathlib.Path({str(pack / 'solutions' / 'first.py')!r}).read_text())\n"
    grade = graded(warm, with_pack, "first", lambda text: spy + text)
    assert grade.verdict == "unrunnable"
    assert "PermissionError" in (grade.reason or "")


def test_a_packs_own_mistake_is_named_with_its_own_words(tmp_path: Path) -> None:
    root = make_pack(tmp_path / "pack", "first")
    add_label(root, "scores_doubled")
    common = root / "katas" / "common"
    (common / "__init__.py").write_text("", encoding="utf-8")
    (common / "ours.py").write_text(
        "from kata_content.common.step_variants import divided\n\n"
        "twice = divided(lambda c: c.hidden_dim**0.5 / 2)\n",
        encoding="utf-8",
    )
    with (root / "katas" / "first" / "mistakes.py").open("a", encoding="utf-8") as opened:
        opened.write(OWN_MISTAKE)
    found = load_all([root])
    with private_engine(found) as engine:
        grade = graded(engine, found, "first", lambda text: text.replace("/ math.sqrt", "* 2 / math.sqrt"))
    assert grade.verdict == "failed"
    assert grade.diagnosis[0].mistakes == ("scores_doubled",)
    assert grade.diagnosis[0].sentence == "Your output is exactly what you get when a."


# What an author is told


def test_lint_says_what_is_wrong_with_each_and_looks_at_the_others(pack: Path, tmp_path: Path) -> None:
    add_kata(pack, "submit")
    found = {(one.path.name, one.message) for one in lint(Aim(packs=(pack,), only="empty")).problems}
    assert ("empty", "kata demo.empty: its checks.py holds no check") in found
    report = lint(Aim(packs=(pack,), only="submit"))
    [problem] = report.problems
    assert "no kata can be called 'submit'" in problem.message
    [nothing] = lint(aim(str(tmp_path), tmp_path)).problems
    assert nothing.message == "There is no kata here."


def test_lint_of_a_pack_that_cannot_be_used(tmp_path: Path) -> None:
    root = make_pack(tmp_path / "pack", "first", api=7)
    [problem] = lint(aim("pack", tmp_path)).problems
    assert (problem.path, "content API 7" in problem.message) == (root, True)


def test_what_lint_is_aimed_at(pack: Path, with_pack: Catalog, catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "v3").mkdir()
    assert aim("v3", tmp_path, catalog) == Aim(only="v3")
    assert aim("first", tmp_path, with_pack) == Aim(packs=(pack,), only="first")
    assert aim(str(pack), tmp_path, catalog) == Aim(packs=(pack,))
    assert aim(str(pack / "katas" / "second"), tmp_path, catalog) == Aim(packs=(pack,), only="second")
