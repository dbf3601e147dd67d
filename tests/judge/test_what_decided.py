"""The reason is the required failure that decided; what costs points only never speaks first."""

from __future__ import annotations

import pytest

from grader.engine.private import PrivateEngine
from grader.judge.checks import CheckFailed, CheckInfo, NotReached
from grader.judge.diagnose import diagnose
from grader.judge.plugin import Outcome
from grader.records import Grade, Options
from tests.judge.stage import CATALOG, SEED, bench, content, graded, labels, solution, submission
from tests.sampling import one_in

START = "# x: (batch, seq_len, hidden_dim)\n"
OUTPUT_LAYER = "        self.output_proj = nn.Linear(hidden_dim, hidden_dim)\n"
NO_OUTPUT = ((OUTPUT_LAYER, ""), ("return self.output_proj(mixed)", "return mixed"))
LIBRARY = (
    "return self.output_proj(mixed)",
    "return nn.functional.scaled_dot_product_attention(query, key, value,"
    " None if attention_mask is None else attention_mask != 0,"
    " self.attention_dropout.p if self.training else 0.0)",
)
LOST = ("did not finish", "ran out")


def hangs(when: str) -> tuple[str, str]:
    return START, f"{START}        while {when}:\n            pass\n"


def hangs_from_call(number: int) -> tuple[tuple[str, str], ...]:
    """Too slow for the whole grade, wherever that shows; the size that is spelled out is no cause of it."""
    counted = f"{START}        CALLS.append(1024)\n        while len(CALLS) > {number}:\n            pass\n"
    return (START, counted), ("\n\nclass ", "\n\nCALLS = []\n\n\nclass ")


def in_time(engine: PrivateEngine, kata: str, text: str) -> Grade:
    options = Options(seed=SEED, total_seconds=1.5)
    return engine.grade(submission(text), CATALOG.get(kata), CATALOG, options)


@pytest.mark.parametrize(
    ("kata", "edits"),
    one_in(
        2,
        [
            ("v1", hangs_from_call(5)),
            ("v2", hangs_from_call(11)),
            ("v3", (*hangs_from_call(9), *NO_OUTPUT)),
            ("v3", (*hangs_from_call(13), *NO_OUTPUT)),
            ("v3", (*hangs_from_call(40), *NO_OUTPUT)),
            ("v4", hangs_from_call(11)),
            ("v3", (hangs("attention_mask is not None"), *NO_OUTPUT)),
            ("v3", (hangs("self.training"), *NO_OUTPUT)),
        ],
    ),
)
def test_an_answer_that_runs_out_of_time_is_told_so(
    engine: PrivateEngine, kata: str, edits: tuple[tuple[str, str], ...]
) -> None:
    grade = in_time(engine, kata, solution(kata, *edits))
    assert grade.verdict == "failed"
    assert any(words in (grade.reason or "") for words in LOST), grade.reason
    assert grade.diagnosis == ()


@pytest.mark.parametrize("spoken", ["raise ValueError('too far')", "import os; os._exit(3)"])
@pytest.mark.parametrize("where", ["self.training", "attention_mask is not None"])
def test_a_crash_in_one_mode_is_told_before_what_costs_points_only(
    engine: PrivateEngine, where: str, spoken: str
) -> None:
    crash = (START, f"{START}        if {where}:\n            {spoken}\n")
    grade = graded(engine, "v3", solution("v3", crash, *NO_OUTPUT))
    assert grade.verdict == "failed"
    assert "no_output_proj" not in labels(grade)[:1]
    assert "too far" in (grade.reason or "") or "ended the process" in (grade.reason or ""), grade.reason


def test_a_banned_call_is_told_before_the_missing_layer(engine: PrivateEngine) -> None:
    grade = graded(engine, "v3", solution("v3", (OUTPUT_LAYER, ""), LIBRARY))
    assert labels(grade) == ("uses_builtin", "no_output_proj")
    assert grade.reason == grade.diagnosis[0].sentence


def test_a_wrong_step_is_told_before_the_missing_layer(engine: PrivateEngine) -> None:
    grade = graded(engine, "v3", solution("v3", ("nn.Dropout(dropout_rate)", "nn.Dropout(0.0)"), *NO_OUTPUT))
    assert labels(grade)[0] != "no_output_proj"
    assert grade.reason == grade.diagnosis[0].sentence


def test_alone_it_is_named_and_passes(engine: PrivateEngine) -> None:
    grade = graded(engine, "v3", solution("v3", *NO_OUTPUT))
    assert (grade.verdict, labels(grade)) == ("passed", ("no_output_proj",))


def outcome(concept: str, raised: Exception | None) -> Outcome:
    return Outcome(concept, CheckInfo(concept, "", concept), raised)


LAYER = CheckFailed("no layer", mistake="no_output_proj", required=False)
LARGE = CheckFailed("large", mistake="mask_fill_small")


@pytest.mark.parametrize(
    ("outcomes", "named"),
    [
        ((outcome("output", LAYER),), ("no_output_proj",)),
        ((outcome("output", LAYER), outcome("interface", CheckFailed("slow"))), ()),
        ((outcome("output", LAYER), outcome("end_to_end", NotReached("no output"))), ()),
        ((outcome("robustness", LARGE), outcome("interface", CheckFailed("slow"))), ()),
        (
            (outcome("robustness", LARGE), outcome("interface", CheckFailed("x", mistake="uses_builtin"))),
            ("uses_builtin", "mask_fill_small"),
        ),
    ],
)
def test_mistakes_that_decided_come_first(outcomes: tuple[Outcome, ...], named: tuple[str, ...]) -> None:
    found = diagnose(bench("v3"), outcomes)
    assert tuple(label for item in found for label in item.mistakes) == named


def test_required_is_what_the_concept_and_the_failure_say() -> None:
    kata = content("v3").kata
    assert outcome("scale", None).is_required(kata)
    assert outcome("end_to_end", NotReached("x")).is_required(kata)
    assert not outcome("output", LAYER).is_required(kata)
    assert not outcome("robustness", LARGE).is_required(kata)


FLOATS_ADDED = (
    "if attention_mask is not None:",
    "if attention_mask is not None and attention_mask.is_floating_point():\n"
    "            scores = scores + attention_mask\n"
    "        elif attention_mask is not None:",
)
HIDDEN_AT_RANDOM = (
    "weights = torch.softmax(scores, dim=-1)",
    "if self.training:\n"
    "            gone = torch.rand_like(scores) < self.attention_dropout.p\n"
    "            scores = scores.masked_fill(gone, -1e9)\n"
    "        weights = torch.softmax(scores, dim=-1)",
)


def test_what_is_wrong_under_some_masks_only_costs_the_mask(engine: PrivateEngine) -> None:
    grade = graded(engine, "v3", solution("v3", FLOATS_ADDED))
    assert [concept.id for concept in grade.concepts if concept.status == "failed"] == ["mask"]


def test_rows_that_softmax_makes_whole_again_are_no_second_mistake(engine: PrivateEngine) -> None:
    text = solution("v3", HIDDEN_AT_RANDOM, ("weights = self.attention_dropout(weights)", "pass"))
    assert labels(graded(engine, "v3", text)) == ("dropout_before_softmax",)
