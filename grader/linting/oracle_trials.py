"""Mistakes of a kata's catalogue, played by the oracle and judged by its own checks: no worker needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from grader.catalog import Kata
from grader.judge.candidate import Candidate
from grader.judge.content import KataContent
from grader.judge.inline_runner import run_plainly
from grader.judge.oracle import Form
from grader.judge.oracle_caller import OracleCaller
from grader.judge.session import judge_caller
from grader.judge.steps import Steps
from grader.linting.expected import UNREACHED
from grader.linting.records import Trial
from grader.records import Grade, Submission

RIGHT = -1  # the place of the right answer among the forms
RIGHT_FUSED = -2


def forms_of(content: KataContent) -> tuple[Form, ...]:
    """Every form that can be made at this level, the neutral ones too."""
    layers = {f"{role}_layer" for role in content.family.optional}
    features = content.features | layers | ({"fused"} if content.family.packings else set())
    return tuple(
        form
        for form in (*content.values, *content.neutral, *content.training)
        if form.fits(content.plan, features)
    )


def places(content: KataContent) -> tuple[int, ...]:
    """What there is to play: the right answer in each build that the level allows, and every form."""
    one_build = content.family.packed or not content.family.packings
    rights = (RIGHT,) if one_build else (RIGHT, RIGHT_FUSED)
    return (*rights, *range(len(forms_of(content))))


def play(content: KataContent, wanted: Sequence[int], seed: int) -> Iterator[Trial]:
    """Judge these places of a kata's catalogue."""
    forms = forms_of(content)
    charged = Steps(Candidate(content, OracleCaller(content), seed, b"", content.kata.file_name))
    for place in wanted:
        if place < 0:
            grade = judge_forms(content, (), seed, fused=place == RIGHT_FUSED)
            what = "the kata's plan" + (" with one packed projection" if place == RIGHT_FUSED else "")
            yield trial_of(grade, None, what)
        elif forms[place].neutral:
            yield trial_of(judge_forms(content, (forms[place],), seed), None, forms[place].shows)
        else:
            form = forms[place]
            what = form.shows or content.labels[form.label].shows
            trial = trial_of(judge_forms(content, (form,), seed), form.label, what, charged.concept_of(form))
            yield msgspec.structs.replace(trial, entails=form.entails)


def judge_forms(content: KataContent, forms: Sequence[Form], seed: int, *, fused: bool = False) -> Grade:
    """The grade of an answer that makes these mistakes and no other."""
    submission = Submission(name=content.kata.file_name, source=b"", sha256="")
    return judge_caller(submission, content, OracleCaller(content, forms, fused=fused), seed, run=run_plainly)


def trial_of(grade: Grade, label: str | None, what: str, own: str | None = None) -> Trial:
    """What the judge said, as far as it matters here."""
    required = [concept for concept in grade.concepts if concept.required]
    return Trial(
        kata=grade.kata,
        label=label,
        what=what,
        verdict=grade.verdict,
        reason=grade.reason,
        named=tuple(diagnosis.mistakes for diagnosis in grade.diagnosis),
        alternatives=tuple(
            name for diagnosis in grade.diagnosis for names in diagnosis.alternatives for name in names
        ),
        failed=tuple(concept.id for concept in required if concept.status == "failed"),
        not_reached=tuple(concept.id for concept in required if concept.status == "not_reached"),
        own=own,
        full=grade.points == grade.max_points,
    )


def own_concept_of_label(content: KataContent, label: str) -> str:
    """The concept that a mistake without a form should cost at this level."""
    wanted = content.labels[label].concept
    return wanted if wanted in concept_ids(content.kata) else UNREACHED


def concept_ids(kata: Kata) -> frozenset[str]:
    return frozenset(concept.id for concept in kata.concepts)
