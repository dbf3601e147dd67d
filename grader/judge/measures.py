"""Numbers of an answer, each by a run: what follow-up questions on its own lines ask for. Nothing is judged.

A number that cannot be had is left out. Keys are what the templates of `own_lines.toml` name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from grader.judge import probes
from grader.judge.candidate import Candidate
from grader.judge.instruments import Bench
from grader.judge.lines import line_of
from grader.judge.observations import Observation
from grader.judge.oracle import Affine
from grader.judge.probes import Drawn, Probe
from grader.judge.units import Misfit
from grader.protocol import Failure
from grader.signature import Sizes

WIDTHS = (16, 64)
LENGTH = 5
DRAWS = 8  # calls for a mean
MANY = 12  # tokens, fewer than the smallest width
CLOSE = 1e-3
LONG = 2048

Numbers = dict[str, str]


def measured(bench: Bench) -> Numbers:
    """Every number that a run of this answer gives."""
    candidate = bench.candidate
    if candidate.load_problem is not None or candidate.rig().problem is not None:
        return {}
    if not candidate.content.is_plain:
        return {}
    found: Numbers = {}
    for measure in _MEASURES:
        found.update(measure(bench))
    return found


def own_lines(bench: Bench) -> dict[str, int]:
    """The line of each concept that has one."""
    if bench.candidate.load_problem is not None or bench.candidate.rig().problem is not None:
        return {}
    lines = {concept.id: line_of(bench.blame, "", concept.id) for concept in bench.candidate.kata.concepts}
    if "robustness" in lines:
        lines["robustness"] = lines.get("scores")  # where numbers grow first
    return {concept: line for concept, line in lines.items() if line is not None}


def _spread(bench: Bench) -> Iterator[tuple[str, str]]:
    """The variance of what softmax got, by row: log weights are the scores up to a constant."""
    for width in WIDTHS:
        drawn = [_weights(bench.candidate, width, length=MANY, draw=draw) for draw in range(DRAWS)]
        logs = [
            weights.double().log() for weights in drawn if weights is not None and bool((weights > 0).all())
        ]
        if len(logs) == DRAWS:
            spread = torch.stack([each - each.mean(dim=-1, keepdim=True) for each in logs]).square().mean()
            yield f"variance_{width}", _number(float(spread))


def _sums(bench: Bench) -> Iterator[tuple[str, str]]:
    weights = _weights(bench.candidate, WIDTHS[0])
    if weights is not None:
        yield "row_sums", _listed(weights.sum(dim=-1))
        yield "column_sums", _listed(weights.sum(dim=-2))


def _hidden_row(bench: Bench) -> Iterator[tuple[str, str]]:
    """A query whose keys are all hidden."""
    if not bench.candidate.kata.takes_mask:
        return
    visible = torch.ones(1, LENGTH, LENGTH, dtype=torch.bool)
    visible[0, 0] = False
    seen = _call(bench.candidate, _drawn(bench.candidate, WIDTHS[0], visible))
    if seen.output is not None:
        row = seen.output[0, 0]
        yield "finite", f"{int(torch.isfinite(row).sum())} of {row.numel()}"


def _dropped(bench: Bench) -> Iterator[tuple[str, str]]:
    if not bench.candidate.kata.has_dropout:
        return
    drawn = [_weights(bench.candidate, WIDTHS[0], training=True, seed=seed) for seed in range(DRAWS)]
    known = [weights for weights in drawn if weights is not None]
    if known:
        zeros = torch.stack(known).abs() < CLOSE
        yield "rate", _number(probes.RATE)
        yield "zeros", f"{round(100 * float(zeros.float().mean()))} %"
        yield "training_sums", _listed(known[0].sum(dim=-1))


def _order(bench: Bench) -> Iterator[tuple[str, str]]:
    """The tokens in another order: the output in that order, or another one?"""
    drawn = _drawn(bench.candidate, WIDTHS[0])
    turned = drawn.but(**{drawn.first: drawn.x.flip(1)})
    one, other = (_call(bench.candidate, each).output for each in (drawn, turned))
    if one is not None and other is not None and one.shape == other.shape == drawn.x.shape:
        yield "difference", _number(float((one.flip(1) - other).abs().max()))


def _sizes(bench: Bench) -> Iterator[tuple[str, str]]:
    entries = [entry for entry in bench.blame.unmasked if entry.line == line_of(bench.blame, "", "scores")]
    shape = next((entry.output for entry in reversed(entries) if entry.output is not None), None)
    if shape is not None:
        yield "shape", str(tuple(shape))
        yield "numbers", f"{LONG * LONG:,}"


def _parameters(bench: Bench) -> Iterator[tuple[str, str]]:
    for width in WIDTHS:
        built = bench.candidate.rig(_sizes_of(bench.candidate, width), probes.RATE).built
        if built is not None and built.parameters:
            yield f"parameters_{width}", f"{sum(math.prod(one.shape) for one in built.parameters):,}"


def _reached(bench: Bench) -> Iterator[tuple[str, str]]:
    """From the last query alone, how many tokens get a gradient."""
    drawn = _drawn(bench.candidate, WIDTHS[0])
    cotangent = torch.zeros_like(drawn.x)
    cotangent[0, -1] = 1.0
    candidate = bench.candidate
    seen = candidate.ask(candidate.rig(), drawn, cotangent=cotangent).seen
    gradient = seen.gradients.get(drawn.first)
    if gradient is not None:
        yield "tokens", f"{int((gradient[0].abs().sum(dim=-1) > 0).sum())} of {LENGTH}"


def _in_half(bench: Bench) -> Iterator[tuple[str, str]]:
    """A thousand times as large, in float16."""
    drawn = _drawn(bench.candidate, WIDTHS[0])
    half = drawn.but(**{drawn.first: (1000 * drawn.x).half()})
    seen = bench.candidate.ask(bench.candidate.rig(half=True), half).seen
    if isinstance(seen.problem, Failure) and seen.problem.line is not None:
        yield "half", f"line {seen.problem.line} raised {seen.problem.type}"
    elif seen.output is not None:
        yield "half", f"{int(torch.isfinite(seen.output).sum())} of {seen.output.numel()} numbers were finite"


def _one_token(bench: Bench) -> Iterator[tuple[str, str]]:
    seen = _call(bench.candidate, _drawn(bench.candidate, WIDTHS[0], length=1))
    if seen.called is not None and seen.output is not None:
        yield "one_token", str(tuple(seen.output.shape))


def _changed(bench: Bench) -> Iterator[tuple[str, str]]:
    drawn = _drawn(bench.candidate, WIDTHS[0])
    after = _call(bench.candidate, drawn).after.get(drawn.first)
    if after is not None and after.shape == drawn.x.shape:
        yield "changed", f"{int((after != drawn.x).sum())} of {drawn.x.numel()}"


_MEASURES: tuple[Callable[[Bench], Iterator[tuple[str, str]]], ...] = (
    _spread,
    _sums,
    _hidden_row,
    _dropped,
    _order,
    _sizes,
    _parameters,
    _reached,
    _in_half,
    _one_token,
    _changed,
)


def _sizes_of(candidate: Candidate, width: int, length: int = LENGTH) -> Sizes:
    return candidate.family.sizes({"B": 1, "S": length, "D": width})


def _drawn(
    candidate: Candidate, width: int, visible: Tensor | None = None, length: int = LENGTH, draw: int = 0
) -> Drawn:
    signature, sizes = candidate.signature, _sizes_of(candidate, width, length)
    generator = torch.Generator().manual_seed(width + 1000 * draw)
    inputs = {signature.first.name: torch.randn(1, length, width, generator=generator)}
    mask = "" if signature.mask is None else signature.mask.name
    if visible is not None:
        inputs[mask] = visible
    return Drawn(Probe("measure", sizes), sizes, inputs, signature.first.name, mask, visible)


def _call(candidate: Candidate, drawn: Drawn, *, training: bool = False, seed: int = 0) -> Observation:
    rig = candidate.rig(drawn.sizes, probes.RATE)
    return candidate.ask(rig, drawn, training=training, seed=seed).seen


def _weights(
    candidate: Candidate,
    width: int,
    *,
    training: bool = False,
    seed: int = 0,
    length: int = LENGTH,
    draw: int = 0,
) -> Tensor | None:
    """The attention weights of one call, where the output shows them: with the values as they are in x."""
    sizes = _sizes_of(candidate, width, length)
    rig = candidate.rig(sizes, probes.RATE)
    layout, reveal = candidate.likely_layout, candidate.family.reveal
    if rig.problem is not None or layout is None or layout.borrowed or reveal is None:
        return None
    values = {name: value.clone() for name, value in rig.values.items()}
    try:
        for role in (reveal.value, reveal.last):
            if role in layout.slots:
                layout.slots[role].write(values, Affine(torch.eye(width)), sizes)
    except Misfit:
        return None
    drawn = _drawn(candidate, width, length=length, draw=draw)
    output = candidate.ask(rig, drawn, values=values, training=training, seed=seed).seen.output
    return None if output is None or output.shape != drawn.x.shape else unmixed(output[0], drawn.x[0])


def unmixed(output: Tensor, tokens: Tensor) -> Tensor | None:
    """The weights (S, S) with which an output (S, D) mixes the tokens (S, D), where it does nothing else."""
    if not bool(torch.isfinite(output).all()):
        return None
    weights = output @ torch.linalg.pinv(tokens)
    return weights if bool((weights @ tokens - output).abs().max() < CLOSE) else None


def _number(value: float) -> str:
    return f"{value:.3g}"


def _listed(values: Tensor) -> str:
    return ", ".join(f"{float(value):.2f}" for value in values)
