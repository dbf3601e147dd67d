"""What an answer will be asked anyway, sent before anybody waits for it.

A call of forward takes the worker less time than two processes take to hand over to each other. With all
calls on their way, the worker answers one after the other while the judge starts pytest and compares what
came. The instruments keep what they asked; a check that needs more asks for it then.

Eval mode comes before training: there the most depends on it, should a call never return. The recorded calls
come last: they decide nothing but that a banned call takes the pass away.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Sequence

from grader.judge.candidate import Candidate
from grader.judge.checks import ATTRIBUTE, CheckInfo, NotReached
from grader.judge.instruments import Bench
from grader.judge.probes import HIGH_RATE, OTHER_RATE, RATE


def ask_ahead(bench: Bench) -> None:
    """Send the calls for a class that builds. One whose forward gives nothing is not asked any further."""
    candidate = bench.candidate
    first, _ = candidate.twice[0]
    _build(candidate)
    if not candidate.has_right_shape(first.seen):
        return
    checks = [check for check in vars(candidate.content.checks).values() if hasattr(check, ATTRIBUTE)]
    taken = {name for check in checks for name in inspect.signature(check).parameters}
    _in_eval_mode(bench)
    _by_the_checks_themselves(candidate, [getattr(check, ATTRIBUTE) for check in checks])
    if candidate.signature.is_module:
        _in_training(bench)
    elif "gradients" in taken:
        _ = bench.gradients.still, bench.gradients.trained
    with contextlib.suppress(NotReached):  # the checks that need it say so
        _through_the_xray(bench)
    if "delegation" in taken:
        candidate.ask_probe(candidate.family.base, training=True)
        _ = bench.delegation.recorded


def _build(candidate: Candidate) -> None:
    if not candidate.signature.is_module:
        return
    for probe in (*candidate.standard_probes, *candidate.further_probes):
        candidate.build_ahead(probe.sizes, candidate.rate_of(probe))
    candidate.build_ahead(half=True)
    for probe in (candidate.standard_probes[0], candidate.standard_probes[-1]):
        candidate.build_ahead(probe.sizes, 0.0)
    candidate.build_ahead(rate=OTHER_RATE)
    if candidate.kata.takes_mask:
        candidate.build_ahead(rate=HIGH_RATE)


def _in_eval_mode(bench: Bench) -> None:
    candidate, variations = bench.candidate, bench.variations
    for probe in (*candidate.standard_probes, *candidate.further_probes):
        candidate.ask_probe(probe)
    _ = variations.related, variations.after_other_tokens
    if not candidate.signature.is_module:
        return  # a function has no parameters to halve, and only its own checks know what gradients it owes
    _ = (
        variations.strong_input,
        variations.in_half,
        variations.large_input,
        bench.gradients.still,
    )
    if candidate.kata.takes_mask:
        _ = variations.all_hidden, bench.gradients.unmasked


def _by_the_checks_themselves(candidate: Candidate, infos: Sequence[CheckInfo]) -> None:
    for info in infos:
        if info.asks is not None:
            candidate.once(info.asks)


def _in_training(bench: Bench) -> None:
    candidate = bench.candidate
    for probe in (candidate.standard_probes[0], candidate.standard_probes[-1]):
        candidate.ask_probe(probe, training=True)
    _ = bench.variations.trained_at_rate_zero, bench.gradients.trained
    if candidate.kata.has_dropout:
        _ = bench.gradients.dropped


def _through_the_xray(bench: Bench) -> None:
    if bench.candidate.kata.takes_mask:
        bench.xray.ask(bench.xray.masked_map_probe)
    if bench.candidate.kata.has_dropout:
        for rate in (RATE, OTHER_RATE):
            bench.dropout.ask(bench.dropout.probe, rate)
        if bench.candidate.kata.takes_mask:
            bench.dropout.ask(bench.dropout.masked_probe, HIGH_RATE)
