"""From what was found to what is said: the explained mistakes first, then those that a check named."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from grader.judge.bench import Bench
from grader.judge.checks import CheckFailed
from grader.judge.content import Label
from grader.judge.crashes import name_of
from grader.judge.explain import Explanation, Forms
from grader.judge.oracle import Form
from grader.judge.plugin import Outcome
from grader.judge.probes import WIDTH
from grader.judge.problems import mistake_behind
from grader.protocol import Failure
from grader.records import Diagnosis

# Calls that attention does not need, and what they usually mean when the output is wrong.
FOREIGN_CALLS = {
    **dict.fromkeys(
        (
            "clamp",
            "clamp_",
            "clip",
            "relu",
            "tanh",
            "sigmoid",
            "gelu",
            "silu",
            "elu",
            "leaky_relu",
            "softplus",
        ),
        "extra_nonlinearity",
    ),
    **dict.fromkeys(("layer_norm", "rms_norm", "batch_norm", "normalize"), "residual_or_norm_added"),
    "round": "round_output",
    "floor_divide": "floor_division_scale",
}
# A mistake that is always the other one as well.
ENTAILS = {"inf_nan_fully_masked_row": ("hides_padded_queries",)}
# A check's label that adds nothing when the explanation has already found its cause.
COVERED_BY = {
    "gradient_detached": ("round_output", "floor_division_scale"),
    "hard_coded_sizes": ("split_wrong_dim", "returns_weights", "mask_wrong_broadcast_4d"),
    "dropout_before_softmax": ("additive_inf_times_zero",),
    "split_size_confused": ("split_wrong_dim",),
}


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
        if set(COVERED_BY.get(failed.mistake, ())) & named:
            continue
        named.add(failed.mistake)
        entries.append(_named(bench, failed.mistake, failed.line))


def _hunches(bench: Bench) -> list[Diagnosis]:
    """Nothing reproduces the outputs: calls that the formula does not have are consistent with it."""
    entries: list[Diagnosis] = []
    for call, line in ((entry.call, entry.line) for entry in bench.blame.trace):
        label = FOREIGN_CALLS.get(call)
        if label is not None and all(label not in entry.mistakes for entry in entries):
            entries.append(msgspec.structs.replace(_named(bench, label, line), certainty="consistent"))
    return entries


def diagnose_problem(
    bench: Bench | None, failure: Failure, labels: dict[str, Label]
) -> tuple[Diagnosis, ...]:
    """The mistake behind a file that could not be loaded or built."""
    label = mistake_behind(failure, bench.candidate) if bench is not None else name_of(failure)
    if label is None or label not in labels:
        return ()
    text = labels[label]
    return (
        Diagnosis(
            mistakes=(label,),
            concept=text.concept,
            sentence=text.sentence,
            fix=text.fix,
            why=text.why,
            line=failure.line if bench is None else bench.blame.line_for(label, text.concept, failure.line),
        ),
    )


def _named(bench: Bench, label: str, line: int | None) -> Diagnosis:
    text = bench.labels[label]
    return Diagnosis(
        mistakes=(label,),
        concept=_concept(bench, text.concept),
        sentence=text.sentence,
        fix=text.fix,
        why=text.why,
        line=bench.blame.line_for(label, text.concept, line),
    )


def _explained(bench: Bench, explanation: Explanation) -> list[Diagnosis]:
    """One entry for each mistake, so that each has its line and its fix; the first says what all do together.

    Where several explanations fit, nothing is known of a single mistake, and one entry holds them all.
    """
    exact = not explanation.alternatives
    lead = "Your output is exactly what you get when" if exact else "Your output is what you get when"
    together = f"{lead} {_listed(_clauses(bench, explanation))}."
    parts = _parts(bench, explanation)
    if not exact:
        labels = tuple(dict.fromkeys(label for part, _ in parts for label in part))
        parts = [(labels, parts[0][1])]
    first, *others = (_part(bench, labels, concept, exact=exact) for labels, concept in parts)
    said = [together, *(bench.labels[label].sentence for label in first.mistakes[1:])]
    alternatives = tuple(_labels_in(forms) for forms in explanation.alternatives)
    return [msgspec.structs.replace(first, sentence=" ".join(said), alternatives=alternatives), *others]


def _part(bench: Bench, labels: tuple[str, ...], concept: str, *, exact: bool) -> Diagnosis:
    texts = [bench.labels[label] for label in labels]
    return Diagnosis(
        mistakes=labels,
        concept=concept,
        sentence=" ".join(text.sentence for text in texts),
        fix=" ".join(dict.fromkeys(text.fix for text in texts)),
        why=texts[0].why,
        line=bench.blame.line_of(labels[0], concept),
        certainty="exact" if exact else "consistent",
    )


def _listed(clauses: Sequence[str]) -> str:
    *before, last = clauses
    return f"{', '.join(before)} and {last}" if before else last


def _parts(bench: Bench, explanation: Explanation) -> list[tuple[tuple[str, ...], str]]:
    """The labels that belong together, with the concept that they cost: one part for each mistake."""
    parts: dict[str, tuple[tuple[str, ...], str]] = {}
    if explanation.layout.borrowed:
        raw = set(explanation.layout.borrowed.values()) == {"x"}
        whole = "projection_unused" if raw else "shared_projection"
        parts[whole] = (whole,), _concept(bench, bench.labels[whole].concept)
    for form in explanation.forms:
        parts.setdefault(form.label, (_labels_in((form,)), bench.steps.concept_of(form)))
    if _constant_divisor(explanation) is not None:
        labels, concept = parts["scale_wrong_value"]
        parts["scale_wrong_value"] = (*labels, "hard_coded_sizes"), concept
    return list(parts.values())


def _labels_in(forms: Forms) -> tuple[str, ...]:
    labels = [label for form in forms for label in (form.label, *ENTAILS.get(form.label, ()))]
    return tuple(dict.fromkeys(labels))


def _clauses(bench: Bench, explanation: Explanation) -> list[str]:
    clauses: list[str] = []
    if explanation.layout.borrowed:
        clauses += [
            f"the {role} is the raw input"
            if source == "x"
            else f"the {role} comes from the layer of the {source}"
            for role, source in explanation.layout.borrowed.items()
        ]
    clauses += [_clause(bench, form, explanation) for form in explanation.forms]
    return clauses


def _clause(bench: Bench, form: Form, explanation: Explanation) -> str:
    if explanation.divisors and form.label == "scale_wrong_value":
        return _divisor_clause(explanation)
    clause = bench.steps.shows(form)
    width = WIDTH
    known = {
        "scale_by_dk": f"(here {width} instead of √{width} = {math.sqrt(width):.3g})",
        "no_scale": f"(here √{width} = {math.sqrt(width):.3g} is missing)",
        "double_scale": f"(so by {width} in all instead of √{width} = {math.sqrt(width):.3g})",
    }
    return f"{clause} {known[form.label]}" if form.label in known else clause


def _divisor_clause(explanation: Explanation) -> str:
    constant = _constant_divisor(explanation)
    if constant is not None:
        square = constant**2
        root = f" = √{round(square)}" if abs(square - round(square)) < 1e-2 * square else ""
        return f"scores are always divided by {constant:.4g}{root}, whatever hidden_dim is"
    seen = dict.fromkeys(
        f"{divisor:.4g} at hidden_dim {context.hidden_dim} and seq_len {context.seq_len}"
        for context, divisor in explanation.divisors
    )
    return "scores are divided by " + ", ".join(seen)


def _constant_divisor(explanation: Explanation) -> float | None:
    """The divisor, where it is the same at every width."""
    divisors = [divisor for _, divisor in explanation.divisors]
    widths = {context.hidden_dim for context, _ in explanation.divisors}
    if len(widths) < 2 or max(divisors) > min(divisors) * 1.01:
        return None
    return divisors[0]


def _concept(bench: Bench, wanted: str) -> str:
    own = {concept.id for concept in bench.candidate.kata.concepts}
    return wanted if wanted in own else "interface"
