"""Do the checks bite? A kata of somebody's own, whole at first, then with one thing wrong each time."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.catalog import content_root
from grader.linting import LintReport, lint
from grader.linting.expected import Exceptions, is_named, strangers, wrongly_blamed
from grader.linting.records import Trial

MISTAKES = '''\
"""A short catalogue."""

from kata_content.common import examples
from kata_content.common import mistakes as common
from kata_content.common.steps import FORMULA as PLAN

VALUES = common.SCALE[:2]
NEUTRAL = ()
TRAINING = ()
EXAMPLES = examples.RETURNS_MIX
RIGHT = examples.RIGHT_EVERY_LEVEL[:1]
'''


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """v1 under another id, with a short catalogue, in a folder without `common`."""
    folder = tmp_path / "katas" / "first"
    shutil.copytree(content_root() / "katas" / "v1", folder, ignore=shutil.ignore_patterns("__pycache__"))
    replace(folder / "kata.toml", 'id = "v1"', 'id = "first"')
    (folder / "mistakes.py").write_text(MISTAKES, encoding="utf-8")
    (tmp_path / "solutions").mkdir()
    shutil.copy(content_root() / "solutions" / "v1.py", tmp_path / "solutions" / "first.py")
    return tmp_path


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def messages(report: LintReport) -> str:
    return "\n".join(f"{problem.path.name}: {problem.message}" for problem in report.problems)


def test_a_folder_of_somebody_s_own_is_linted_with_our_common_content(own: Path) -> None:
    report = lint(own)
    assert report.problems == ()
    (tally,) = report.tallies
    assert (tally.kata, tally.mistakes, tally.rejected, tally.named, tally.blamed) == ("first", 3, 3, 3, 0)
    assert (tally.rights, tally.accepted) == (3, 3)


def without_the_scale(own: Path) -> None:
    replace(own / "solutions" / "first.py", "scores = scores / math.sqrt(self.hidden_dim)", "pass")


def with_a_blunt_check(own: Path) -> None:
    path = own / "katas" / "first" / "checks.py"
    replace(path, '    "scores_are_divided_by_sqrt_hidden_dim",\n', "")
    replace(path, "    scores_are_divided_by_sqrt_hidden_dim,\n", "")


def without_a_gate(own: Path) -> None:
    path = own / "katas" / "first" / "checks.py"
    replace(path, '    "permuting_the_tokens_permutes_the_output",\n', "")
    replace(path, "    permuting_the_tokens_permutes_the_output,\n", "")


def with_a_gate_that_rejects_nothing(own: Path) -> None:
    path = own / "katas" / "first" / "checks.py"
    replace(path, "    eval_mode_is_deterministic,\n", "")
    text = path.read_text(encoding="utf-8")
    gate = "def eval_mode_is_deterministic(candidate: object) -> None: ...\n"
    path.write_text(
        f'{text}\nfrom grader.authoring import check\n\n\n@check("end_to_end")\n{gate}', encoding="utf-8"
    )


def with_a_gate_that_nothing_proves(own: Path) -> None:
    path = own / "katas" / "first" / "checks.py"
    text = path.read_text(encoding="utf-8")
    gate = "def anything_goes(candidate: object) -> None: ...\n"
    path.write_text(
        f'{text}\nfrom grader.authoring import check\n\n\n@check("end_to_end")\n{gate}', encoding="utf-8"
    )


def with_an_unknown_label(own: Path) -> None:
    replace(
        own / "katas" / "first" / "mistakes.py",
        "examples.RETURNS_MIX",
        '(examples.edited("typo", ("a", "b")),)',
    )


def with_an_example_that_misses(own: Path) -> None:
    new = '(examples.edited("returns_tuple", ("return nothing", "return")),)'
    replace(own / "katas" / "first" / "mistakes.py", "examples.RETURNS_MIX", new)


def with_a_wrong_answer_among_the_right(own: Path) -> None:
    replace(own / "katas" / "first" / "mistakes.py", "examples.RIGHT_EVERY_LEVEL[:1]", "examples.RETURNS_MIX")


def with_a_right_answer_among_the_wrong(own: Path) -> None:
    replace(
        own / "katas" / "first" / "mistakes.py",
        "examples.RETURNS_MIX",
        '(examples.edited("returns_tuple", ("return weights @ value", "return (weights @ value)")),)',
    )


def with_a_ban_on_nothing(own: Path) -> None:
    replace(own / "katas" / "first" / "kata.toml", '"MultiheadAttention"', '"MultiheadAtention"')


def with_a_stub_that_is_silent(own: Path) -> None:
    replace(
        own / "katas" / "first" / "stub.py",
        "raise NotImplementedError",
        "return None\n        raise NotImplementedError",
    )


def with_code_that_does_not_load(own: Path) -> None:
    replace(own / "katas" / "first" / "mistakes.py", "common.SCALE", "common.SCALES")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (without_the_scale, "first.py: The solution is failed and misses scale."),
        (with_a_blunt_check, "checks.py: No check is about the concept scale."),
        (
            without_a_gate,
            "checks.py: There is no gate permuting_the_tokens_permutes_the_output, though it must reject: ",
        ),
        (
            with_a_gate_that_rejects_nothing,
            "checks.py: The gate eval_mode_is_deterministic passed, though it must reject: x = x + ",
        ),
        (with_a_gate_that_nothing_proves, "checks.py: Nothing proves that the gate anything_goes bites."),
        (with_an_unknown_label, "mistakes.py: The label typo has no words."),
        (with_an_example_that_misses, "The example returns_tuple replaces 'return nothing'"),
        (
            with_a_wrong_answer_among_the_right,
            "mistakes.py: Right (returns_tuple: return weights @ value, weights)",
        ),
        (
            with_a_right_answer_among_the_wrong,
            "mistakes.py: returns_tuple (return (weights @ value)) is accepted.",
        ),
        (with_a_ban_on_nothing, "kata.toml: The banned call MultiheadAtention does not exist in torch."),
        (with_a_stub_that_is_silent, "stub.py: The reason does not say what is open: "),
        (with_code_that_does_not_load, "first: kata first: its code does not load"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_wrong_is_said(own: Path, spoil: Callable[[Path], None], message: str) -> None:
    spoil(own)
    assert message in messages(lint(own))


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
