"""What an answer will be asked anyway, sent before anybody waits for it.

A call of forward takes the worker less time than two processes take to hand over to each other. With all
calls on their way, the worker answers one after the other while the judge starts pytest and compares what
came. The instruments keep what they asked; a check that needs more asks for it then.

Eval mode comes before training: there the most depends on it, should a call never return. The recorded calls
come last: they decide nothing but that a banned call takes the pass away.
"""

from __future__ import annotations

import contextlib

from grader.judge.bench import Bench
from grader.judge.candidate import Candidate
from grader.judge.checks import NotReached
from grader.judge.dropout import MASKED_PROBE, PROBE
from grader.judge.probes import HIGH_RATE, ODD_WIDTH, OTHER_RATE, OTHER_WIDTH, RATE, THIRD_WIDTH, WIDTH
from grader.judge.xray import MASKED_MAP_PROBE


def ask_ahead(bench: Bench) -> None:
    """Send the calls for a class that builds. One whose forward gives nothing is not asked any further."""
    candidate = bench.candidate
    first, _ = candidate.twice[0]
    _build(candidate)
    if first.seen.output is None or first.seen.output.shape != first.seen.drawn.x.shape:
        return
    _in_eval_mode(bench)
    _in_training(bench)
    with contextlib.suppress(NotReached):  # the checks that need it say so
        _through_the_xray(bench)
    _ = bench.delegation.recorded


def _build(candidate: Candidate) -> None:
    for width in (OTHER_WIDTH, THIRD_WIDTH, ODD_WIDTH):
        candidate.build_ahead(width, OTHER_RATE)
    candidate.build_ahead(half=True)
    for width, rate in ((WIDTH, 0.0), (OTHER_WIDTH, 0.0), (WIDTH, OTHER_RATE), (WIDTH, HIGH_RATE)):
        candidate.build_ahead(width, rate)


def _in_eval_mode(bench: Bench) -> None:
    candidate, variations = bench.candidate, bench.variations
    for probe in (*candidate.standard_probes, *candidate.further_probes):
        candidate.ask_probe(probe)
    _ = variations.changed_sample, variations.permuted_tokens, variations.after_other_tokens
    _ = (
        variations.strong_input,
        variations.in_half,
        variations.large_input,
        bench.gradients.still,
    )
    if candidate.kata.takes_mask:
        _ = variations.all_hidden, bench.gradients.unmasked


def _in_training(bench: Bench) -> None:
    candidate = bench.candidate
    for probe in (candidate.standard_probes[0], candidate.standard_probes[-1]):
        candidate.ask_probe(probe, training=True)
    _ = bench.variations.trained_at_rate_zero, bench.gradients.trained
    if candidate.kata.has_dropout:
        _ = bench.gradients.dropped


def _through_the_xray(bench: Bench) -> None:
    if bench.candidate.kata.takes_mask:
        bench.xray.ask(MASKED_MAP_PROBE)
    if bench.candidate.kata.has_dropout:
        for rate in (RATE, OTHER_RATE):
            bench.dropout.ask(PROBE, rate)
        if bench.candidate.kata.takes_mask:
            bench.dropout.ask(MASKED_PROBE, HIGH_RATE)
