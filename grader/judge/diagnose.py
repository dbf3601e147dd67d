"""From what was found to what is said: the explained mistakes first, then those that a check named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from grader.judge.checks import CheckFailed
from grader.judge.content import Label
from grader.judge.explain import Explanation, Forms
from grader.judge.instruments import Bench
from grader.judge.lines import line_for, line_of
from grader.judge.oracle import Form
from grader.judge.plugin import Outcome
from grader.judge.problems import mistake_behind
from grader.judge.roles import NO_LAYER
from grader.judge.wording import special_words
from grader.protocol import Failure
from grader.records import Diagnosis


def diagnose(bench: Bench, outcomes: Sequence[Outcome]) -> tuple[Diagnosis, ...]:
    """All mistakes that are known to have been made, the telling one first.

    What costs points only comes after what costs the pass, and is left to its check where that has no name.
    """
    entries: list[Diagnosis] = []
    ran = any(seen.output is not None for seen in bench.candidate.observations)
    explanation = bench.steps.explanation if ran else None
    if explanation is not None and (explanation.forms or explanation.layout.borrowed):
        entries += _explained(bench, explanation)
    elif ran and explanation is None:
        entries += _hunches(bench)
    kata = bench.candidate.kata
    decided = [outcome for outcome in outcomes if outcome.raised is not None and outcome.is_required(kata)]
    others = [outcome for outcome in outcomes if outcome not in decided]
    _add_named(bench, entries, decided)
    if entries or not decided:
        _add_named(bench, entries, others)
    return tuple(entries)


def _add_named(bench: Bench, entries: list[Diagnosis], outcomes: Sequence[Outcome]) -> None:
    """The mistakes that failed checks name, where they are new."""
    named = {label for entry in entries for label in entry.mistakes}
    for outcome in outcomes:
        failed = outcome.raised
        if not isinstance(failed, CheckFailed) or failed.mistake is None or failed.mistake in named:
            continue
        if set(bench.known.of(failed.mistake).covered_by) & named:
            continue
        named.add(failed.mistake)
        entries.append(_named(bench, failed.mistake, failed.line, sentence=failed.sentence, fix=failed.fix))


def _hunches(bench: Bench) -> list[Diagnosis]:
    """Nothing reproduces the outputs: calls that the formula does not have are consistent with it."""
    entries: list[Diagnosis] = []
    for call, line in ((entry.call, entry.line) for entry in bench.blame.trace):
        label = bench.known.hinted(call)
        if label is not None and all(label not in entry.mistakes for entry in entries):
            entries.append(msgspec.structs.replace(_named(bench, label, line), certainty="consistent"))
    return entries


def diagnose_problem(bench: Bench, failure: Failure, labels: dict[str, Label]) -> tuple[Diagnosis, ...]:
    """The mistake behind a file that could not be loaded or built."""
    label = mistake_behind(failure, bench.candidate)
    if label is None or label not in labels:
        return ()
    text = _of_the_case(labels[label], failure)
    return (
        Diagnosis(
            mistakes=(label,),
            concept=text.concept,
            sentence=text.sentence,
            fix=text.fix,
            why=text.why,
            line=line_for(bench.blame, label, text.concept, failure.line),
        ),
    )


def _of_the_case(label: Label, failure: Failure) -> Label:
    """The label's words, or those that this failure allows: the name that was meant, the shapes that met."""
    own = special_words(failure)
    return label if own is None else msgspec.structs.replace(label, sentence=own[0], fix=own[1])


def _named(bench: Bench, label: str, line: int | None, *, sentence: str = "", fix: str = "") -> Diagnosis:
    text = bench.labels[label]
    problem = next((seen.problem for seen in bench.candidate.observations if seen.problem is not None), None)
    if isinstance(problem, Failure) and mistake_behind(problem, bench.candidate) == label:
        text = _of_the_case(text, problem)
    return Diagnosis(
        mistakes=(label,),
        concept=_concept(bench, text.concept),
        sentence=sentence or text.sentence,
        fix=fix or text.fix,
        why=text.why,
        line=line_for(bench.blame, label, text.concept, line),
    )


@dataclass(frozen=True)
class _Part:
    """One mistake of an explanation: its labels, the concept that it costs, and the words for it."""

    labels: tuple[str, ...]
    concept: str
    words: Label


def _explained(bench: Bench, explanation: Explanation) -> list[Diagnosis]:
    """One entry for each mistake, so that each has its line and its fix; the first says what all do together.

    Where several explanations fit, nothing is known of a single mistake, and one entry holds them all.
    """
    exact = not explanation.alternatives
    lead = "Your output is exactly what you get when" if exact else "Your output is what you get when"
    together = f"{lead} {_listed(_clauses(bench, explanation))}."
    parts = _parts(bench, explanation)
    if not exact:
        labels = tuple(dict.fromkeys(label for part in parts for label in part.labels))
        fixes = " ".join(dict.fromkeys(part.words.fix for part in parts))
        words = msgspec.structs.replace(parts[0].words, fix=fixes)
        parts = [_Part(labels, parts[0].concept, words)]
    first, *others = (_entry(bench, part, exact=exact) for part in parts)
    if bench.candidate.planted:  # a hunt tells each mistake by itself
        return [first, *others]
    alternatives = tuple(_labels_in(forms) for forms in explanation.alternatives)
    return [msgspec.structs.replace(first, sentence=together, alternatives=alternatives), *others]


def _entry(bench: Bench, part: _Part, *, exact: bool) -> Diagnosis:
    return Diagnosis(
        mistakes=part.labels,
        concept=part.concept,
        sentence=part.words.sentence,
        fix=part.words.fix,
        why=part.words.why,
        line=line_of(bench.blame, part.labels[0], part.concept),
        certainty="exact" if exact else "consistent",
    )


def spoken(bench: Bench, found: Sequence[Diagnosis]) -> str | None:
    """What an interviewer would say first."""
    if not found:
        return None
    explanation = bench.steps.explanation
    parts = [] if explanation is None else _parts(bench, explanation)
    explained = (part.words for part in parts if part.labels[0] == found[0].mistakes[0])
    return next(explained, found[0]).sentence


def _listed(clauses: Sequence[str]) -> str:
    *before, last = clauses
    return f"{', '.join(before)} and {last}" if before else last


def _parts(bench: Bench, explanation: Explanation) -> list[_Part]:
    """One part for each mistake."""
    parts: dict[str, _Part] = {}
    if explanation.layout.borrowed:
        raw = set(explanation.layout.borrowed.values()) == {NO_LAYER}
        whole = bench.known.borrowing.raw if raw else bench.known.borrowing.shared
        words = bench.labels[whole]
        parts[whole] = _Part((whole,), _concept(bench, words.concept), words)
    for form in explanation.forms:
        part = _Part(_labels_in((form,)), bench.steps.concept_of(form), bench.steps.words(form))
        parts.setdefault(form.label, part)
    return list(parts.values())


def _labels_in(forms: Forms) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for form in forms for label in (form.label, *form.entails)))


def _clauses(bench: Bench, explanation: Explanation) -> list[str]:
    clauses: list[str] = []
    if explanation.layout.borrowed:
        clauses += [
            f"the {role} is the raw input"
            if source == NO_LAYER
            else f"the {role} comes from the layer of the {source}"
            for role, source in explanation.layout.borrowed.items()
        ]
    clauses += [_clause(bench, form) for form in explanation.forms]
    return clauses


def _clause(bench: Bench, form: Form) -> str:
    clause = bench.steps.words(form).shows
    adds = bench.known.of(form.label).adds
    return clause if adds is None else f"{clause} {adds(bench.candidate.sizes)}"


def _concept(bench: Bench, wanted: str) -> str:
    own = {concept.id for concept in bench.candidate.kata.concepts}
    return wanted if wanted in own else "interface"
