"""Which step is wrong: the explanation of the outputs, read concept by concept.

A concept's check asks `Steps.expect`. If the outputs are explained, the concept fails exactly when one of
the explaining mistakes belongs to it: everything else was reproduced by the right step. If nothing
explains them, the x-ray's own measurement decides, and where that is impossible too the check is not
reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec

from grader.judge.candidate import Candidate
from grader.judge.checks import NotReached, fail
from grader.judge.content import Label
from grader.judge.evidence import prefer
from grader.judge.explain import Explanation, explain, features_of, overwritten
from grader.judge.observations import Observation
from grader.judge.oracle import Form, attempt, compose, same
from grader.judge.planted import explain_planted
from grader.judge.wording import sentence
from grader.protocol import TraceEntry


@dataclass(frozen=True)
class Reading:
    """A measurement of one concept by itself: whether it is right, and what was seen, in words."""

    holds: bool
    actual: str


class Steps:
    """The explanation of a candidate's outputs, by concept."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate

    @cached_property
    def right(self) -> bool:
        """Every probe that ran gave the right output, and at least one ran."""
        layout = self._candidate.layout
        ran = [seen for seen in self._candidate.observations if seen.output is not None]
        return layout is not None and all(self._candidate.reproduces(seen, layout) for seen in ran)

    @cached_property
    def explanation(self) -> Explanation | None:
        """Searched only when something is wrong."""
        if self.right:
            assert self._candidate.layout is not None
            return Explanation((), self._candidate.layout)
        if self.planted:
            return self._in_its_mode(self.planted[0])
        found = explain(self._candidate)
        return (
            None
            if found is None
            else self._in_its_mode(prefer(found, self.trace, self._candidate.content.known))
        )

    @cached_property
    def planted(self) -> tuple[Explanation, ...]:
        """Of a bug hunt: every explanation by what was planted, and as little else as will do."""
        return explain_planted(self._candidate) if self._candidate.planted else ()

    def _in_its_mode(self, found: Explanation) -> Explanation:
        """The explanation of eval mode; what is right in training is a mistake of one mode only."""
        if not all(self._candidate.reproduces(seen, found.layout) for seen in self._candidate.in_training):
            return found
        return replace(found, forms=tuple(self._of_one_mode(form, "eval mode") for form in found.forms))

    def _of_one_mode(self, form: Form, mode: str) -> Form:
        """The mistake as one that is made in this mode only, where that has a name of its own."""
        if not form.in_one_mode:
            return form
        shows = f"in {mode} {self.words(form).shows}"
        return replace(form, label=form.in_one_mode, shows=shows, sentence="", fix="")

    @cached_property
    def only_in_training(self) -> Form | None:
        """The one mistake that gives the outputs of training at dropout rate 0, where eval mode is right."""
        layout = self._candidate.layout
        if not self.right or layout is None:
            return None
        plan = self._candidate.plan_for(layout)
        seen_in = [
            (seen.output, context)
            for seen in self._candidate.in_training
            if (context := self._candidate.context(seen.drawn, layout)) is not None
        ]
        features = features_of(self._candidate, layout)
        for form in self._candidate.content.values:
            if form.fits(plan, features) and all(
                output is not None and same(output, attempt(plan, context, form.steps))
                for output, context in seen_in
            ):
                return self._of_one_mode(form, "training")
        return None

    @property
    def trace(self) -> tuple[TraceEntry, ...]:
        """The calls of the traced probes: with the mask where there is one, else without."""
        traced = [seen for seen in self._candidate.observations if seen.probe.traced]
        for seen in sorted(traced, key=lambda seen: -seen.probe.stage):
            if seen.called is not None and seen.called.trace:
                return seen.called.trace
        return ()

    def concept_of(self, form: Form) -> str:
        """The concept that a mistake costs; a kata without it charges the step's own."""
        own = {concept.id for concept in self._candidate.kata.concepts}
        label = self._candidate.content.labels.get(form.label)
        by_step = self._candidate.family.plan[next(iter(form.steps))].concept
        if label is None or label.concept not in own:
            return by_step
        roams = by_step in self._candidate.content.known.roaming.get(label.concept, ())
        return by_step if roams else label.concept

    def is_wrong_at(self, step: str) -> bool:
        """Whether the explanation has a mistake at this step of the formula."""
        explanation = self.explanation
        return explanation is not None and any(step in form.steps for form in explanation.forms)

    def expect(self, concept: str, expected: str, measure: Callable[[], Reading] | None = None) -> None:
        """Fail when this concept's step is wrong; `NotReached` when nothing can be said."""
        self._require_output()
        explanation = self.explanation
        if explanation is None:
            self._by_measurement(expected, measure)
            return
        wrong = [form for form in explanation.forms if self.concept_of(form) == concept]
        if concept == "mask" and not wrong and self._masks_unexplained:
            self._by_measurement(expected, measure)
            return
        borrowing = self._candidate.content.known.borrowing
        if explanation.layout.borrowed and concept == borrowing.concept and not wrong:
            fail(
                borrowing.sentence,
                expected=expected,
                actual=", ".join(
                    f"the {role} has no layer of its own" for role in explanation.layout.borrowed
                ),
            )
        if wrong:
            clause = " and ".join(self.words(form).shows for form in wrong)
            fail(
                f"{clause[0].upper()}{clause[1:]}.",
                expected=expected,
                actual=self._seen(measure),
                mistake=wrong[0].label,
            )

    @property
    def _masks_unexplained(self) -> bool:
        """Masked outputs exist, are not right, and the explanation had to leave them out."""
        explanation = self.explanation
        if explanation is None or explanation.masked or self.right:
            return False
        return any(seen.output is not None and not overwritten(seen) for seen in self._candidate.masked)

    def explains_crash(self, seen: Observation) -> bool:
        """Whether the mistakes that explain the outputs would crash on this input as well.

        Scores of another shape than (batch, seq_len, seq_len) meet no mask: that is no mistake in the mask.
        """
        explanation = self.explanation
        if explanation is None or not explanation.forms:
            return False
        context = self._candidate.context(seen.drawn, explanation.layout)
        variant = compose(explanation.forms)
        if context is None or variant is None:
            return False
        return attempt(self._candidate.plan_for(explanation.layout), context, variant) is None

    def _require_output(self) -> None:
        if any(seen.output is not None for seen in self._candidate.observations):
            return
        raise NotReached("forward never returned a tensor: " + self.first_problem())

    def first_problem(self) -> str:
        """Why there is no output, in one sentence."""
        candidate = self._candidate
        for seen in candidate.observations:
            if seen.problem is not None:
                return sentence(seen.problem, candidate.file_name)
            if seen.called is not None and seen.output is None:
                return no_tensor(seen)
        return "no call was made"

    def _by_measurement(self, expected: str, measure: Callable[[], Reading] | None) -> None:
        if measure is None:
            raise NotReached("the output is wrong in a way that leaves this step invisible")
        reading = measure()
        if not reading.holds:
            fail(f"Measured by itself: {reading.actual}.", expected=expected, actual=reading.actual)

    def _seen(self, measure: Callable[[], Reading] | None) -> str | None:
        """The measurement where it shows the fault; else nothing is added to the message."""
        if measure is None:
            return None
        try:
            reading = measure()
        except NotReached:
            return None
        return None if reading.holds else reading.actual

    def words(self, form: Form) -> Label:
        """What is said about a form: its own words where it has them, else its label's."""
        label = self._candidate.content.labels[form.label]
        own = {name: text for name in ("shows", "sentence", "fix") if (text := getattr(form, name))}
        return msgspec.structs.replace(label, **own) if own else label


def no_tensor(seen: Observation) -> str:
    """What forward returned instead of a tensor."""
    called = seen.called
    assert called is not None
    if called.returned == "none":
        return "forward returned None. Its last line must be `return …`."
    if called.returned == "odd":
        return f"forward returned {called.odd}; a dense tensor of x's shape is expected."
    return f"forward returned a {called.type}, expected a Tensor."
