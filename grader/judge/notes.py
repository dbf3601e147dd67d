"""Things worth saying that cost nothing: conventions, leftovers, praise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.judge.bench import Bench
from grader.judge.wording import sentence
from grader.protocol import Failure, Loaded
from grader.records import Note, ShapeComment

CONVENTIONAL = {"query": "query_proj", "key": "key_proj", "value": "value_proj", "output": "output_proj"}


def notes(bench: Bench, comments: Sequence[ShapeComment], *, passed: bool) -> tuple[Note, ...]:
    """All notes on a candidate, in the order of the file's parts: class, constructor, layers, forward."""
    loaded = bench.candidate.loaded
    if loaded is None:
        return ()
    return (
        *_on_the_class(bench, loaded),
        *_on_the_layers(bench),
        *_on_forward(bench, passed),
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
    if first is not None and first.name != "hidden_dim":
        text = f"The width is called {first.name}; the convention here is hidden_dim."
        yield Note(id="argument_name", text=text, line=bench.blame.source.find(r"def __init__\b"))
    if first is not None and not first.has_default:
        yield Note(
            id="default_width",
            text=f"hidden_dim has no default; the convention here is {kata.constructor['hidden_dim']}.",
            line=bench.blame.source.find(r"def __init__\b"),
        )
    elif first is not None and first.default not in (None, kata.constructor["hidden_dim"]):
        yield Note(
            id="default_width",
            text=f"The default width is {first.default:.12g}; "
            f"the convention is {kata.constructor['hidden_dim']}.",
            line=bench.blame.source.find(r"def __init__\b"),
        )


def _on_the_layers(bench: Bench) -> Iterator[Note]:
    layout = bench.candidate.likely_layout
    if layout is None:
        return
    renamed = [
        f"{slot.unit.name} plays {role}"
        for role, slot in layout.slots.items()
        if slot.unit.parts == 1 and slot.unit.name != CONVENTIONAL[role]
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
    if layout.fused and bench.candidate.kata.layers.fused != "required":
        yield Note(
            id="fused_projection",
            text="One fused projection for query, key and value: fine at this level too.",
        )
    if bench.candidate.kata.layers.fused == "required":
        yield from _on_fused_calls(bench)


def _extra_output(bench: Bench) -> list[str]:
    """The name of an output layer that this level has no step for."""
    layout = bench.candidate.layout
    if layout is None or "output" not in layout.slots or "output" in bench.candidate.kata.layers.roles:
        return []
    return [layout.slots["output"].unit.name]


def _on_fused_calls(bench: Bench) -> Iterator[Note]:
    layout = bench.candidate.likely_layout
    if layout is None or not layout.fused:
        return
    fused = layout.slots["query"].unit.weight.name
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
    hidden = bench.delegation.not_followed() if passed else []
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
        yield Note(
            id="fp16_overflow",
            text="-1e9 does not fit float16; torch.finfo(scores.dtype).min fits every dtype.",
            line=bench.blame.mask(),
        )


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
