"""Forward called once on a small example: what came back, what torch did on the way. Nothing is judged."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import torch
from torch import Tensor

from grader.catalog import Catalog, Kata
from grader.handles import WorkerHandle
from grader.judge.candidate import Candidate
from grader.judge.channel import Channel
from grader.judge.content import KataContent, load_content
from grader.judge.instruments import Bench
from grader.judge.measures import measured, own_lines, unmixed
from grader.judge.observations import Observation, Rig, trace_of
from grader.judge.oracle import Affine
from grader.judge.pictures import rows
from grader.judge.probes import Drawn, MaskSpec, Probe, draw
from grader.judge.roles import layouts
from grader.judge.session import admitted, trace_steps
from grader.judge.units import Misfit
from grader.judge.wording import sentence
from grader.protocol import Failure
from grader.records import SourceRecord, Submission, Trial

# Three tokens that no mix of the others gives, so that the weights can be read off the output.
TOKENS = ((1.0, 0.0, 1.0, 0.0), (0.0, 2.0, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0))
VISIBLE = ((1, 1, 0), (1, 1, 1), (1, 1, 1))  # the first query does not see the last key
SEED = 0


def try_out(
    submission: Submission,
    kata: Kata,
    catalog: Catalog,
    handle: WorkerHandle,
    *,
    total_seconds: float,
    loaded: Sequence[KataContent] = (),
    measure: bool = False,
) -> Trial:
    """Try an answer in a running worker, and measure it where that is wanted; ends the worker."""
    torch.set_num_threads(1)
    channel = Channel(handle, total_seconds, stretch=max(1.0, total_seconds / kata.deadlines.total))
    try:
        admitted(channel)
        content = next((known for known in loaded if known.kata == kata), None) or load_content(kata, catalog)
        candidate = Candidate(content, channel, SEED, submission.source, submission.name)
        trial = _tried(candidate)
        if measure:
            bench = Bench.around(candidate, candidate.text)
            numbers, lines = measured(bench), own_lines(bench)
            trial = msgspec.structs.replace(trial, numbers=numbers, lines=lines)
        channel.settle()
    finally:
        channel.close()
    source = SourceRecord(name=submission.name, sha256=submission.sha256, text=candidate.text)
    return msgspec.structs.replace(trial, printed=channel.printed, source=source)


def example(content: KataContent) -> Drawn:
    """What it is called with: three tokens of width 4, with a mask where the kata has one.

    Katas of other inputs, or whose layers are no squares, get numbers drawn in the sizes of the first probe.
    """
    family, signature = content.family, content.kata.signature
    if not content.is_plain:
        return draw(family.base.named("example"), signature, family.sizes(family.base.sizes), SEED)
    sizes = family.sizes({"B": 1, "S": len(TOKENS), "D": len(TOKENS[0])})
    mask = signature.mask
    probe = Probe("example", sizes, mask=None if mask is None else MaskSpec(mask.axes, torch.int64))
    inputs = {signature.first.name: torch.tensor([TOKENS])}
    if mask is None:
        return Drawn(probe, sizes, inputs, signature.first.name)
    shown = torch.tensor([VISIBLE])
    inputs[mask.name] = shown
    return Drawn(probe, sizes, inputs, signature.first.name, mask.name, shown.bool())


def _tried(candidate: Candidate) -> Trial:
    drawn = example(candidate.content)
    trial = Trial(kata=candidate.kata.id, example=drawn.says)
    rig = None if candidate.load_problem else candidate.rig(drawn.probe.sizes)
    problem = candidate.load_problem if rig is None else rig.problem
    if rig is None or problem is not None:
        assert problem is not None
        return _raised(trial, Observation(drawn, problem=problem), candidate)
    values, plain = _identities(candidate, rig)
    seen = candidate.ask(rig, drawn, values=values, trace=True, seed=SEED).seen
    trial = msgspec.structs.replace(trial, trace=trace_steps(trace_of((seen,))))
    if seen.problem is not None:
        return _raised(trial, seen, candidate)
    return _returned(trial, seen, plain=plain)


def _raised(trial: Trial, seen: Observation, candidate: Candidate) -> Trial:
    assert seen.problem is not None
    line = seen.problem.line if isinstance(seen.problem, Failure) else None
    return msgspec.structs.replace(trial, reason=sentence(seen.problem, candidate.file_name), line=line)


def _identities(candidate: Candidate, rig: Rig) -> tuple[dict[str, Tensor], bool]:
    """Every projection as the identity, where they can be told apart; and whether that was so."""
    values = {name: value.clone() for name, value in rig.values.items()}
    found = next(iter(layouts(rig.units, candidate.family)), None)
    if found is None or found.borrowed or not candidate.content.is_plain:
        return values, False
    sizes = candidate.family.sizes(rig.sizes)
    try:
        for slot in found.slots.values():
            slot.write(values, Affine(torch.eye(sizes["D"])), sizes)
    except Misfit:
        return dict(rig.values), False
    return values, True


def _returned(trial: Trial, seen: Observation, *, plain: bool) -> Trial:
    called = seen.called
    assert called is not None
    if seen.output is None:
        return msgspec.structs.replace(trial, returned=called.odd or f"a {called.type}")
    what = "a Tensor" if called.returned == "tensor" else f"a {called.type}, its first part a Tensor"
    trial = msgspec.structs.replace(trial, returned=f"{what} {tuple(seen.output.shape)}")
    if seen.output.dim() != len(seen.drawn.x.shape) or seen.output.numel() > seen.drawn.x.numel() ** 2:
        return trial
    flat = torch.atleast_2d(seen.output)
    output = flat.reshape(-1, *flat.shape[-2:])[0].float()
    trial = msgspec.structs.replace(trial, output=rows(output))
    if not plain or seen.output.shape != seen.drawn.x.shape:
        return trial
    weights = unmixed(output, seen.drawn.x[0])
    return trial if weights is None else msgspec.structs.replace(trial, weights=rows(weights))
