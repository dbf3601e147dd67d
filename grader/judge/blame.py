"""Which line is to blame: from the recorder's calls, and where it saw nothing from a search in the text.

Lines and calls come from the worker, so they explain; they decide nothing, except that a banned call
takes the pass away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from grader.judge import probes
from grader.judge.calls import CUTS, DROPS, MASKINGS, NORMALISERS, PRODUCTS, SCALINGS, SPLITS
from grader.judge.candidate import Candidate
from grader.judge.observations import Asked, Observation
from grader.judge.source import Source
from grader.protocol import Called, Failure, TraceEntry

IN_PLACE = re.compile(r"[a-z]\w*_$|__i\w+__$|__setitem__$")
# Attention that comes with torch: operations, at any level below, and functions.
LIBRARY = re.compile(
    r"^(aten|torch)\.\w*(attention|attn|dot_product|sdp|multi_?head|transformer|safe_softmax)"
)


@dataclass(frozen=True)
class Recorded:
    """One mode with all operations recorded: as they are called, in training below autograd too, and back."""

    where: str
    calls: tuple[Asked, ...]

    @property
    def called(self) -> list[Called]:
        """What came of them: nothing where forward itself asks for gradients, which above there are not."""
        return [asked.seen.called for asked in self.calls if asked.seen.called is not None]


class Blame:
    """The lines of one candidate's file that its mistakes stand on."""

    def __init__(self, candidate: Candidate, source: Source) -> None:
        self._candidate = candidate
        self.source = source

    @cached_property
    def unmasked(self) -> tuple[TraceEntry, ...]:
        return _trace(self._candidate.unmasked)

    @cached_property
    def masked(self) -> tuple[TraceEntry, ...]:
        return _trace(self._candidate.masked)

    @property
    def trace(self) -> tuple[TraceEntry, ...]:
        """The fullest trace there is: under a mask, else without."""
        return self.masked or self.unmasked

    @cached_property
    def recorded(self) -> tuple[Recorded, ...]:
        """Each mode with every operation recorded."""
        masked = {" under a mask": probes.MASKED[0]} if self._candidate.kata.takes_mask else {}
        return tuple(
            self._record(mode + mask, probe, training=training)
            for mask, probe in {"": probes.UNMASKED[0], **masked}.items()
            for mode, training in (("in eval mode", False), ("in training", True))
        )

    def _record(self, where: str, probe: probes.Probe, *, training: bool) -> Recorded:
        candidate = self._candidate
        above = candidate.ask(candidate.rig(), candidate.draw(probe), training=training, dispatch=True)
        return Recorded(where, (above, self._below(probe, training=True)) if training else (above,))

    def _below(self, probe: probes.Probe, *, training: bool) -> Asked:
        candidate, drawn = self._candidate, self._candidate.draw(probe)
        back = torch.ones_like(drawn.x)
        return candidate.ask(
            candidate.rig(), drawn, training=training, dispatch=True, trace=True, cotangent=back
        )

    def last(self) -> int | None:
        """The line that makes forward's result: the last traced one, else its `return`."""
        return self.unmasked[-1].line if self.unmasked else self.source.last_return()

    def in_place(self) -> int | None:
        """The last in-place call: the one that overwrote what backward needs."""
        entries = [entry for entry in self.trace if IN_PLACE.match(entry.call)]
        return entries[-1].line if entries else None

    def changed_argument(self, place: int) -> int | None:
        """Where forward's argument at `place` is changed in place."""
        loaded = self._candidate.loaded
        names = [argument.name for argument in loaded.forward] if loaded is not None else []
        found = self.source.changes_in_place(names[place]) if len(names) > place else None
        return found or self.in_place()

    # banned calls ---------------------------------------------------------------------------------------

    def banned_call(self) -> tuple[str, int | None] | None:
        """A call that the kata's rules forbid, by either recorder, with its line."""
        banned = set(self._candidate.kata.rules.banned)
        candidate = self._candidate
        seen = [
            candidate.observe(probe, training=True)
            for probe in candidate.standard_probes
            if probe.name == "base"
        ]
        below = [asked.seen for call in self.recorded for asked in call.calls]
        traces = [self.unmasked, self.masked, *(_trace([one]) for one in (*seen, *below))]
        for entry in (entry for trace in traces for entry in trace):
            call = entry.call.partition(".")[0]  # without the name of the overload
            if call in banned or LIBRARY.match(f"torch.{call}"):
                return call.lstrip("_"), entry.line
        for called in (called for call in self.recorded for called in call.called):
            for name in called.dispatched:
                if LIBRARY.match(name):
                    return name.rpartition(".")[2].lstrip("_"), called.dispatched_lines.get(name)
        return None

    def not_followed(self) -> list[str]:
        """The modes in which nobody saw how the output comes about, so nobody can certify it."""
        return [call.where for call in self.recorded if not self._is_followed(call)]

    def _is_followed(self, call: Recorded) -> bool:
        called = call.called
        if not called:
            below = self._below(call.calls[0].seen.probe, training=False).seen.called
            called = [] if below is None else [below]
        return bool(called) and all(one.followed for one in called)

    # labels ---------------------------------------------------------------------------------------------

    def line_of(self, label: str, concept: str) -> int | None:
        """The line to show for a mistake."""
        special = _SPECIAL.get(label)
        found = special(self) if special else None
        if found is None:
            found = _OF_CONCEPT.get(concept, Blame.last)(self)
        return found

    def line_for(self, label: str | None, concept: str, raised_at: int | None) -> int | None:
        """The line to show for a failed check: where it raised, unless the mistake stands elsewhere."""
        if label in _STANDS_ELSEWHERE:
            return _SPECIAL[label](self) or raised_at
        return raised_at if raised_at is not None else self.line_of(label or "", concept)

    def call_line(self, names: frozenset[str], *, last: bool = False, square: bool = False) -> int | None:
        entries = [entry for entry in self.trace if entry.call in names]
        if square:
            squares = [entry for entry in entries if entry.output is not None and _is_square(entry.output)]
            entries = squares or entries
        if not entries:
            return None
        return entries[-1 if last else 0].line

    def scores(self) -> int | None:
        """The first product that gives (…, seq_len, seq_len); a product with a parameter is a projection."""
        products = [entry for entry in self.trace if entry.call in PRODUCTS]
        free = [entry for entry in products if not entry.parameters] or products
        squares = [entry for entry in free if entry.output is not None and _is_square(entry.output)]
        return (squares or free)[0].line if free else self.last()

    def shared(self) -> int | None:
        """The second use of a projection's weight: the copied line."""
        used: set[str] = set()
        for entry in self.trace:
            weights = {name for name in entry.parameters if not name.endswith("bias")}
            if weights & used:
                return entry.line
            used |= weights
        return self.call_line(frozenset({"linear"}))

    def mix(self) -> int | None:
        return self.call_line(PRODUCTS, last=True) or self.last()

    def scale(self) -> int | None:
        before: list[TraceEntry] = []
        for entry in self.trace:
            if entry.call in NORMALISERS:
                break
            before.append(entry)
        entries = [entry for entry in before if entry.call in SCALINGS]
        squares = [entry for entry in entries if entry.output is not None and _is_square(entry.output)]
        chosen = squares or entries
        return chosen[0].line if chosen else self.scores()

    def after_softmax(self) -> int | None:
        seen = False
        for entry in self.trace:
            seen = seen or entry.call in NORMALISERS
            if seen and entry.call in SCALINGS:
                return entry.line
        return self.softmax()

    def softmax(self) -> int | None:
        return self.call_line(NORMALISERS) or self.scores()

    def mask(self) -> int | None:
        """The lines that only run under a mask; among them the one that changes the scores."""
        known = {entry.line for entry in self.unmasked}
        entries = [entry for entry in self.masked if entry.line not in known]
        changing = [
            entry for entry in entries if entry.call in MASKINGS and entry.output and len(entry.output) >= 2
        ]
        if changing:
            return changing[-1].line
        if entries:
            return entries[0].line
        return self.call_line(MASKINGS - {"mul", "mul_"}, square=True) or self.source.find(r"def forward\b")

    def dropout(self) -> int | None:
        return (
            self.call_line(DROPS)
            or self.source.find_in_forward(r"[Dd]ropout\w*\(|\bdrop\w*\(|rand|bernoulli")
            or self.softmax()
        )

    def dropout_layer(self) -> int | None:
        """Where the rate is handed on: the layer's construction, else its call."""
        return self.source.find(r"Dropout\w*\(") or self.dropout()

    def projections(self) -> int | None:
        return self.call_line(SPLITS | {"unflatten"}) or self.call_line(frozenset({"linear"})) or self.last()

    def last_linear(self) -> int | None:
        return self.call_line(frozenset({"linear"}), last=True) or self.source.find(
            r"out\w*\s*=\s*nn\.Linear"
        )

    def cuts(self) -> int | None:
        """A call or an expression that cuts the graph."""
        return self.call_line(CUTS) or self.source.find(
            r"\.detach\(|no_grad|\.data\b|\.item\(|inference_mode|round\(|//|\.numpy\(|tolist|torch\.tensor\("
        )

    def cut(self) -> int | None:
        """Where the graph is cut, else the last line."""
        return self.cuts() or self.last()

    def drops_something_else(self) -> bool:
        """Whether the dropout that was seen falls on a tensor (…, hidden_dim) before any score exists."""
        for entry in self.trace:
            if entry.output is not None and _is_square(entry.output):
                return False
            if entry.call == "dropout":
                return True
        return False

    def drops_after_softmax(self) -> bool:
        """Whether every dropout that was seen in training comes after the softmax."""
        seen = _trace(self._candidate.in_training)
        drops = [place for place, entry in enumerate(seen) if entry.call in DROPS]
        norms = [place for place, entry in enumerate(seen) if entry.call in NORMALISERS]
        return bool(drops and norms) and min(drops) > min(norms)

    def fresh_layer(self) -> int | None:
        """Where forward applies a layer that is not part of the model: it was made on the spot."""
        return next(
            (entry.line for entry in self.trace if entry.call == "linear" and entry.fresh_module), None
        )

    def random_eval(self) -> tuple[str, int | None]:
        """Why eval mode is random: the label and the line."""
        switched = self.source.find_in_forward(r"self(\.\w+)*\.train\(")
        if switched is not None:
            return "eval_called_in_forward", switched
        for entry in self.trace:
            if entry.call == "dropout":
                text = self.source.text(entry.line)
                if entry.fresh_module or "nn.Dropout(" in text.replace(" ", ""):
                    return "dropout_module_created_in_forward", entry.line
                if "training" in entry.numbers and entry.numbers["training"] == 1:
                    told = re.search(r"training|\bTrue\b", text.partition("#")[0])
                    return (
                        "dropout_in_eval" if told else "functional_dropout_without_training_flag"
                    ), entry.line
        entry_line = self.call_line(DROPS | {"scaled_dot_product_attention"}, last=True)
        return "dropout_in_eval", entry_line or self.source.find(r"[Dd]ropout\w*\(|bernoulli|rand")


def _trace(observations: Sequence[Observation]) -> tuple[TraceEntry, ...]:
    """The first trace among them; of a call that raised, the last calls before it."""
    for seen in observations:
        if seen.called is not None and seen.called.trace:
            return seen.called.trace
        if isinstance(seen.problem, Failure) and seen.problem.trace:
            return seen.problem.trace
    return ()


def _is_square(shape: tuple[int, ...]) -> bool:
    return len(shape) >= 2 and shape[-1] == shape[-2]


_OF_CONCEPT: dict[str, Callable[[Blame], int | None]] = {
    "projections": Blame.projections,
    "scores": Blame.scores,
    "scale": Blame.scale,
    "mask": Blame.mask,
    "softmax": Blame.softmax,
    "dropout": Blame.dropout,
    "mix": Blame.mix,
    "output": Blame.last,
    "gradients": Blame.cut,
}

_SPECIAL: dict[str, Callable[[Blame], int | None]] = {
    "scale_after_softmax": Blame.after_softmax,
    "extra_output_proj": Blame.last_linear,
    "residual_or_norm_added": lambda blame: (
        blame.call_line(frozenset({"layer_norm", "rms_norm", "normalize"})) or blame.last()
    ),
    "extra_nonlinearity": lambda blame: blame.call_line(
        frozenset({"relu", "tanh", "sigmoid", "gelu", "silu", "leaky_relu", "elu", "abs", "neg"})
    ),
    "attention_result_discarded": Blame.last,
    "returns_weights": Blame.last,
    "round_output": Blame.cut,
    "not_single_projection": lambda blame: blame.source.find(r"=\s*nn\.Linear"),
    "projection_unused": lambda blame: blame.scores(),
    "shared_projection": Blame.shared,
    "output_uses_keys": Blame.mix,
    "view_instead_of_transpose": lambda blame: blame.call_line(frozenset({"view", "reshape"})),
    "inplace_breaks_backward": Blame.in_place,
    "mutates_input": lambda blame: blame.changed_argument(0),
    "mutates_mask_argument": lambda blame: blame.changed_argument(1),
    "returns_none_without_mask": lambda blame: blame.source.last_return(),
    "forward_missing": lambda blame: blame.source.definition_like("forward"),
    "init_misnamed": lambda blame: blame.source.definition_like("__init__"),
    "hard_coded_sizes": lambda blame: blame.source.written_size(),
    "dropout_rate_ignored": Blame.dropout_layer,
    "dropout_prob_inverted": Blame.dropout_layer,
    "mask_after_softmax_no_renorm": Blame.mask,
    "causal_by_default": lambda blame: (
        blame.call_line(frozenset({"tril", "triu"})) or blame.source.find(r"tril|triu")
    ),
    "missing_dropout": Blame.softmax,
}

# Mistakes that raise, or show, at another line than the one they stand on.
_STANDS_ELSEWHERE = frozenset(
    {
        "dropout_prob_inverted",
        "dropout_rate_ignored",
        "forward_missing",
        "hard_coded_sizes",
        "init_misnamed",
        "inplace_breaks_backward",
        "mutates_input",
        "mutates_mask_argument",
        "returns_none_without_mask",
    }
)
