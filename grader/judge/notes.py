"""Things worth saying that cost nothing: conventions, leftovers, praise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.judge.instruments import Bench
from grader.judge.wording import sentence
from grader.protocol import Failure, Loaded
from grader.records import Note, ShapeComment


def notes(bench: Bench, comments: Sequence[ShapeComment], *, passed: bool) -> tuple[Note, ...]:
    """All notes on a candidate, in the order of the file's parts: class, constructor, layers, forward."""
    loaded = bench.candidate.loaded
    if loaded is None:
        return ()
    return (
        *_on_the_class(bench, loaded),
        *_on_the_layers(bench),
        *_on_the_convention(bench),
        *_on_forward(bench, passed),
        *(_on_what_is_open(bench) if passed else ()),
        *_on_comments(comments),
    )


def _on_the_class(bench: Bench, loaded: Loaded) -> Iterator[Note]:
    candidate = bench.candidate
    kata = candidate.kata
    if loaded.class_name != kata.class_name:
        text = f"The class is called {loaded.class_name} and was graded; the kata asks for {kata.class_name}."
        yield Note(
            id="class_name",
            text=text,
            line=bench.blame.source.find(rf"class\s+{re.escape(loaded.class_name)}\b"),
        )
    if loaded.raised_later is not None:
        text = "Code after the class raised and was left out: " + sentence(
            loaded.raised_later, candidate.file_name
        )
        yield Note(id="later_code_raised", text=text, line=loaded.raised_later.line)
    first = next((argument for argument in loaded.constructor if not argument.variadic), None)
    if first is None or not kata.signature.construct:
        return
    asked = kata.signature.construct[0]
    line = bench.blame.source.find(r"def __init__\b")
    if first.name != asked.name:
        text = f"The width is called {first.name}; the convention here is {asked.name}."
        yield Note(id="argument_name", text=text, line=line)
    if not first.has_default:
        text = f"{asked.name} has no default; the convention here is {asked.default}."
        yield Note(id="default_width", text=text, line=line)
    elif first.default not in (None, asked.default):
        text = f"The default width is {first.default:.12g}; the convention is {asked.default}."
        yield Note(id="default_width", text=text, line=line)


def _on_the_layers(bench: Bench) -> Iterator[Note]:
    layout = bench.candidate.likely_layout
    if layout is None:
        return
    renamed = [
        f"{slot.unit.name} plays {role}"
        for role, slot in layout.slots.items()
        if slot.unit.roles == 1 and slot.unit.name != bench.candidate.family.role(role).conventional
    ]
    if renamed:
        text = "Layer names are yours to choose: " + ", ".join(renamed) + "."
        yield Note(id="layer_names", text=text, line=bench.blame.source.find(r"=\s*nn\.(Linear|Parameter)"))
    left = [*layout.unused, *_extra_output(bench)]
    if left and bench.steps.right:
        yield Note(
            id="unused_layer",
            text=f"{', '.join(left)} plays no part in the output; take it out.",
            line=bench.blame.source.find(rf"self\.{re.escape(left[0])}\s*="),
        )
    if layout.fused and not bench.candidate.family.packed:
        yield Note(
            id="fused_projection",
            text="One fused projection for query, key and value: fine at this level too.",
        )
    if bench.candidate.family.packed:
        yield from _on_fused_calls(bench)


def _on_the_convention(bench: Bench) -> Iterator[Note]:
    """Which of the ways was taken that the kata leaves open."""
    layout = bench.candidate.layout
    if layout is not None and layout.convention is not None and bench.steps.right:
        yield Note(id="convention", text=layout.convention.says)


def _extra_output(bench: Bench) -> list[str]:
    """The name of a layer that this level has no step for."""
    layout, family = bench.candidate.layout, bench.candidate.family
    stepped = {step.role for step in family.plan.values()}
    if layout is None:
        return []
    return [
        layout.slots[role].unit.name
        for role in family.optional
        if role in layout.slots and role not in stepped
    ]


def _on_fused_calls(bench: Bench) -> Iterator[Note]:
    layout = bench.candidate.likely_layout
    if layout is None or not layout.fused:
        return
    fused = layout.slots[bench.candidate.family.packings[0].roles[0]].unit.weight.name
    products = [
        entry for entry in bench.blame.unmasked if entry.call == "linear" and fused in entry.parameters
    ]
    if len(products) > 1:
        yield Note(
            id="projection_calls",
            text=f"The fused weight is used in {len(products)} products; one would do.",
            line=products[1].line,
        )


def _on_forward(bench: Bench, passed: bool) -> Iterator[Note]:
    products = bench.candidate.family.reveal is not None
    hidden = bench.delegation.not_followed() if passed and products else []
    if hidden:
        yield Note(
            id="not_traceable",
            text=f"The output is right, but nobody saw it come out of matrix products ({', '.join(hidden)}),"
            " so how it is computed cannot be certified. A person should look at the code.",
        )
    if not passed or not bench.candidate.kata.takes_mask:
        return
    problem = bench.variations.in_half.seen.problem
    if isinstance(problem, Failure) and "overflow" in problem.text:
        finder = bench.known.of_concept.get("mask")
        yield Note(
            id="fp16_overflow",
            text="-1e9 does not fit float16; torch.finfo(scores.dtype).min fits every dtype.",
            line=None if finder is None else finder(bench.blame),
        )


def _on_what_is_open(bench: Bench) -> Iterator[Note]:
    """What the kata has to say of one way among several right ones."""
    for remark in bench.candidate.family.remarks:
        told = remark(bench.candidate)
        if told is not None:
            yield Note(id=told.id, text=told.text, line=told.line)


def _on_comments(comments: Sequence[ShapeComment]) -> Iterator[Note]:
    right = [comment for comment in comments if comment.right]
    for comment in comments:
        if not comment.right:
            claimed = ", ".join(comment.claimed)
            text = f"The comment says ({claimed}); the shape there is {comment.actual}."
            yield Note(id="shape_comment", text=text, line=comment.line)
    if len(right) >= 2:
        yield Note(
            id="shape_comments_right",
            text=f"{len(right)} shape comments, all checked and right: interviewers like that.",
        )
