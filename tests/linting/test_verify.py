"""Do the checks bite? Katas of somebody's own: one that is whole, and others with one thing wrong in each."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.catalog import content_root
from grader.linting import Aim, LintReport, lint
from grader.linting.expected import Exceptions, is_named, strangers, wrongly_blamed
from grader.linting.records import Trial

MISTAKES = '''\
"""A short catalogue."""

from kata_content.common import examples
from kata_content.common import mistakes as common

VALUES = common.SCALE[:2]
NEUTRAL = ()
TRAINING = ()
EXAMPLES = examples.RETURNS_MIX
RIGHT = examples.RIGHT_EVERY_LEVEL[:1]
'''


def place(root: Path, name: str) -> Path:
    """v1 under another id, with a short catalogue, in a folder without `common`; the folder of the kata."""
    folder = root / "katas" / name
    shutil.copytree(
        content_root() / "katas" / "v1", folder, ignore=shutil.ignore_patterns("__pycache__", "rooms")
    )
    replace(folder / "kata.toml", 'id = "v1"', f'id = "{name}"')
    (folder / "mistakes.py").write_text(MISTAKES, encoding="utf-8")
    (root / "solutions").mkdir(exist_ok=True)
    shutil.copy(content_root() / "solutions" / "v1.py", solution_of(folder))
    return folder


def solution_of(folder: Path) -> Path:
    return folder.parents[1] / "solutions" / f"{folder.name}.py"


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def without_the_scale(folder: Path) -> None:
    replace(solution_of(folder), "scores = scores / math.sqrt(self.hidden_dim)", "pass")


def with_a_blunt_check(folder: Path) -> None:
    path = folder / "checks.py"
    replace(path, '    "scores_are_divided_by_sqrt_hidden_dim",\n', "")
    replace(path, "    scores_are_divided_by_sqrt_hidden_dim,\n", "")


def without_a_gate(folder: Path) -> None:
    path = folder / "checks.py"
    replace(path, '    "permuting_the_tokens_permutes_the_output",\n', "")
    replace(path, "    permuting_the_tokens_permutes_the_output,\n", "")


def with_a_gate_that_rejects_nothing(folder: Path) -> None:
    path = folder / "checks.py"
    replace(path, "    eval_mode_is_deterministic,\n", "")
    text = path.read_text(encoding="utf-8")
    gate = "def eval_mode_is_deterministic(candidate: object) -> None: ...\n"
    path.write_text(
        f'{text}\nfrom grader.authoring import check\n\n\n@check("end_to_end")\n{gate}', encoding="utf-8"
    )


def with_a_gate_that_nothing_proves(folder: Path) -> None:
    path = folder / "checks.py"
    text = path.read_text(encoding="utf-8")
    gate = "def anything_goes(candidate: object) -> None: ...\n"
    path.write_text(
        f'{text}\nfrom grader.authoring import check\n\n\n@check("end_to_end")\n{gate}', encoding="utf-8"
    )


def with_an_unknown_label(folder: Path) -> None:
    replace(
        folder / "mistakes.py",
        "examples.RETURNS_MIX",
        '(examples.edited("typo", ("a", "b")),)',
    )


def with_an_example_that_misses(folder: Path) -> None:
    new = '(examples.edited("returns_tuple", ("return nothing", "return")),)'
    replace(folder / "mistakes.py", "examples.RETURNS_MIX", new)


def with_a_wrong_answer_among_the_right(folder: Path) -> None:
    replace(folder / "mistakes.py", "examples.RIGHT_EVERY_LEVEL[:1]", "examples.RETURNS_MIX")


def with_a_right_answer_among_the_wrong(folder: Path) -> None:
    replace(
        folder / "mistakes.py",
        "examples.RETURNS_MIX",
        '(examples.edited("returns_tuple", ("return weights @ value", "return (weights @ value)")),)',
    )


def with_a_ban_on_nothing(folder: Path) -> None:
    replace(folder / "kata.toml", '"MultiheadAttention"', '"MultiheadAtention"')


def with_a_stub_that_is_silent(folder: Path) -> None:
    replace(
        folder / "stub.py",
        "raise NotImplementedError",
        "return None\n        raise NotImplementedError",
    )


def with_code_that_does_not_load(folder: Path) -> None:
    replace(folder / "mistakes.py", "common.SCALE", "common.SCALES")


SPOILT = {
    without_the_scale: "without_the_scale.py: The solution is failed and misses scale.",
    with_a_blunt_check: "checks.py: No check is about the concept scale.",
    without_a_gate: (
        "checks.py: There is no gate permuting_the_tokens_permutes_the_output, though it must reject: "
    ),
    with_a_gate_that_rejects_nothing: (
        "checks.py: The gate eval_mode_is_deterministic passed, though it must reject: x = x + "
    ),
    with_a_gate_that_nothing_proves: "checks.py: Nothing proves that the gate anything_goes bites.",
    with_an_unknown_label: "mistakes.py: The label typo has no words.",
    with_an_example_that_misses: "The example returns_tuple replaces 'return nothing'",
    with_a_wrong_answer_among_the_right: (
        "mistakes.py: Right (returns_tuple: return weights @ value, weights)"
    ),
    with_a_right_answer_among_the_wrong: (
        "mistakes.py: returns_tuple (return (weights @ value)) is accepted."
    ),
    with_a_ban_on_nothing: "kata.toml: The banned call MultiheadAtention does not exist in torch.",
    with_a_stub_that_is_silent: "stub.py: The reason does not say what is open: ",
    with_code_that_does_not_load: "kata with_code_that_does_not_load: its code does not load",
}


# What does not get into another's way is wrong in one kata, which is graded once.
TOGETHER = (
    with_a_gate_that_rejects_nothing,
    with_a_right_answer_among_the_wrong,
    with_a_wrong_answer_among_the_right,
    with_a_stub_that_is_silent,
)


def name_of(spoil: Callable[[Path], None]) -> str:
    """The kata in which it is done."""
    return "several" if spoil in TOGETHER else spoil.__name__


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole kata, and beside it those in which something is wrong."""
    root = tmp_path_factory.mktemp("katas")
    for name in ("whole", *dict.fromkeys(map(name_of, SPOILT))):
        place(root, name)
    for spoil in (*TOGETHER, *(spoil for spoil in SPOILT if spoil not in TOGETHER)):
        spoil(root / "katas" / name_of(spoil))
    return root


@pytest.fixture(scope="module")
def report(root: Path) -> LintReport:
    return lint(Aim(root=root))


def said(report: LintReport, name: str) -> list[str]:
    """File and message of the problems of one kata."""
    return [
        f"{problem.path.name}: {problem.message}"
        for problem in report.problems
        if name in (problem.path.name, problem.path.stem, problem.path.parent.name)
    ]


def test_a_folder_of_somebody_s_own_is_linted_with_our_common_content(report: LintReport) -> None:
    assert said(report, "whole") == []
    [tally] = [tally for tally in report.tallies if tally.kata == "whole"]
    assert (tally.mistakes, tally.rejected, tally.named, tally.blamed) == (3, 3, 3, 0)
    assert (tally.rights, tally.accepted) == (3, 3)


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
def test_what_is_wrong_is_said(report: LintReport, spoil: Callable[[Path], None]) -> None:
    assert SPOILT[spoil] in "\n".join(said(report, name_of(spoil)))


def trial(
    named: tuple[tuple[str, ...], ...], failed: tuple[str, ...], not_reached: tuple[str, ...] = ()
) -> Trial:
    return Trial(
        kata="v1",
        label="no_scale",
        what="",
        verdict="failed",
        reason=None,
        named=named,
        alternatives=(),
        failed=failed,
        not_reached=not_reached,
        own="scale",
    )


def test_a_synonym_names_a_mistake_and_a_stranger_does_not() -> None:
    known = Exceptions()
    assert is_named(trial((("no_scale",),), ("scale",)), known)
    assert not is_named(trial((), ("scale",)), known)
    assert strangers(trial((("no_scale", "other"),), ("scale",)), known) == ("other",)


def test_what_a_mistake_may_cost() -> None:
    known = Exceptions()
    assert wrongly_blamed(trial((), ("scale", "mask")), known, {"scale"}) == ("mask",)
    assert wrongly_blamed(trial((), ("interface",), ("scale",)), known, {"scale"}) == ()
