"""Which line is to blame: from the recorder's calls, and where it saw nothing from a search in the text.

Lines and calls come from the worker, so they explain; they decide nothing.
"""

from __future__ import annotations

import re
from functools import cached_property

from grader.judge import probes
from grader.judge.calls import CUTS, DROPS, MASKINGS, NORMALISERS, PRODUCTS, SCALINGS, SPLITS, STAND_INS
from grader.judge.candidate import Candidate
from grader.judge.observations import trace_of
from grader.judge.source import Source
from grader.protocol import Failure, TraceEntry

# What the scores are divided or multiplied by on a line, and whether a definition computes anything.
DIVISOR = re.compile(
    r"[/*]\s{0,9}(?:(?:math|torch|np)\.\w{1,12}\(|float\(|\()?\s{0,9}((?:self\.)?[A-Za-z_]\w{0,60})"
)
COMPUTED = re.compile(r"sqrt|\*\*|/|=\s{0,9}\(?\d|\*\s{0,9}\d|\d\s{0,9}\*|_features")
CHAINED = re.compile(r"\(\s{0,9}(?:q|k|v|query|key|value)\w{0,20}\s{0,9}\)", re.IGNORECASE)
IN_PLACE = re.compile(r"[a-z]\w*_$|__i\w+__$|__setitem__$")


class Blame:
    """The lines of one candidate's file that its mistakes stand on."""

    def __init__(self, candidate: Candidate, source: Source) -> None:
        self._candidate = candidate
        self.source = source

    @cached_property
    def unmasked(self) -> tuple[TraceEntry, ...]:
        return trace_of(self._candidate.unmasked)

    @cached_property
    def masked(self) -> tuple[TraceEntry, ...]:
        return trace_of(self._candidate.masked)

    @property
    def trace(self) -> tuple[TraceEntry, ...]:
        """The fullest trace there is: under a mask, else without."""
        return self.masked or self.unmasked

    @cached_property
    def trained(self) -> tuple[TraceEntry, ...]:
        """Under a mask in training mode, else without one."""
        return trace_of(self._candidate.in_training[::-1])

    def last(self) -> int | None:
        """The line that makes forward's result: the last traced one, else its `return`."""
        return self.unmasked[-1].line if self.unmasked else self.source.last_return()

    def in_place(self) -> int | None:
        """The last in-place call: the one that overwrote what backward needs. Else the last in training."""
        for trace in (self.trace, self.trained):
            entries = [entry for entry in trace if IN_PLACE.match(entry.call)]
            if entries:
                return entries[-1].line
        return None

    def changed_argument(self, place: int) -> int | None:
        """Where forward's argument at `place` is changed in place."""
        loaded = self._candidate.loaded
        names = [argument.name for argument in loaded.forward] if loaded is not None else []
        found = self.source.changes_in_place(names[place]) if len(names) > place else None
        return found or self.in_place()

    @property
    def refused(self) -> bool:
        """Whether forward's signature did not take a call: Python raised ahead of its first line."""
        problems = [seen.problem for seen in self._candidate.observations]
        return any(
            isinstance(problem, Failure) and problem.type == "TypeError" and problem.line is None
            for problem in problems
        )

    @property
    def mask_name(self) -> str | None:
        """What forward calls its second argument."""
        loaded = self._candidate.loaded
        names = [argument.name for argument in loaded.forward] if loaded is not None else []
        return names[1] if len(names) > 1 and names[1].isidentifier() else None

    @property
    def output_layers(self) -> list[str]:
        """The names of the layers that say they are the output's."""
        return [unit.name for unit in self._candidate.rig().units if unit.states == "output"]

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
        """Where layers are tied in the constructor, else the second use of a projection's weight."""
        tied = self.source.find(r"^\s*self\.\w{1,60} ?= ?self\.\w{1,60}(\s{0,9}$| ?=[^=])")
        if tied is not None:
            return tied
        for again in (self._used_again(bias=False), self.cut_again(), self._used_again(bias=True)):
            if again is not None:
                return again
        layers = [entry.line for entry in self.trace if entry.call == "linear"]
        chained = (line for line in layers if CHAINED.search(self.source.code(line)))
        return next(chained, self.call_line(frozenset({"linear"})))

    def _used_again(self, *, bias: bool) -> int | None:
        used: set[str] = set()
        for entry in self.trace:
            names = {name for name in entry.parameters if name.endswith("bias") == bias}
            if names & used:
                return entry.line
            used |= names
        return None

    def cut_again(self) -> int | None:
        """Where the part of a packed projection is taken that was taken before."""
        parts: list[tuple[object, ...]] = []
        for entry in (entry for entry in self.trace if entry.call in ("narrow", "slice")):
            part = (entry.inputs, *entry.numbers.items())
            if part in parts:
                return entry.line
            parts.append(part)
        return None

    def mix(self) -> int | None:
        return self.call_line(PRODUCTS, last=True) or self.last()

    def scale(self) -> int | None:
        """Where the scores are divided, or where what they are divided by gets its value."""
        line = self._scaling()
        if line is None:
            return None
        for name in DIVISOR.findall(self.source.code(line)):
            defined = self.source.definition_of(name, line)
            if defined is not None and COMPUTED.search(self.source.code(defined)):
                return defined
        return line

    def size(self) -> int | None:
        """Where the size that the scores are divided by is taken from a shape."""
        line = self._scaling()
        for name in DIVISOR.findall(self.source.code(line)):
            defined = self.source.definition_of(name, line or 0)
            if defined is not None and re.search(r"shape|size\(", self.source.code(defined)):
                return defined
        return self.scale()

    def _scaling(self) -> int | None:
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
        """Where the weights are made: by the function, by hand where the exponentials are divided, or not."""
        exponentials = self.call_line(frozenset({"exp", "exp_", "exp2"}))
        sums = [entry.line for entry in self.trace if entry.call in ("sum", "cumsum")]
        if exponentials is not None and sums and self.call_line(frozenset({"softmax"})) is None:
            return next((line for line in sums if line >= exponentials), exponentials)
        return self.call_line(NORMALISERS) or self.scores()

    def no_softmax(self) -> int | None:
        """What stands in for softmax, else the mix of the scores."""
        return self.call_line(STAND_INS, square=True) or self.mix()

    def mask(self) -> int | None:
        """The lines that only run under a mask, in either mode; of them the one that changes the scores."""
        known = {entry.line for entry in self.unmasked}
        entries = [entry for entry in (*self.masked, *self.trained) if entry.line not in known]
        changing = [
            entry for entry in entries if entry.call in MASKINGS and entry.output and len(entry.output) >= 2
        ]
        if changing:
            return changing[-1].line
        if entries:
            return entries[-1].line
        return (
            self.call_line(MASKINGS - {"mul", "mul_"}, square=True)
            or self._mentions_the_mask()
            or self.softmax()
        )

    def _mentions_the_mask(self) -> int | None:
        """The last line of forward that multiplies by the mask, or does anything else with it."""
        if self.mask_name is None:
            return None
        return self.source.find_in_forward(
            rf"\*\s{{0,9}}{re.escape(self.mask_name)}\b"
        ) or self.source.find_in_forward(rf"\b{re.escape(self.mask_name)}\b")

    def signature(self) -> int | None:
        """Where forward names its arguments, the mask's line if it stands on several."""
        own = None
        if self.mask_name is not None:
            own = self.source.find(rf"^\s*{re.escape(self.mask_name)}\s{{0,9}}[:,)]")
        return own or self.source.find(r"def forward\b")

    def raw_input(self) -> int | None:
        """Where x is taken as it is for a query, key or value, else where it is multiplied."""
        loaded = self._candidate.loaded
        names = [argument.name for argument in loaded.forward] if loaded is not None else []
        if not names or not names[0].isidentifier():
            return self.scores()
        x = names[0]
        return (
            self.source.find_in_forward(rf"=\s{{0,9}}{re.escape(x)}\s*$")
            or self.source.find_in_forward(rf"@\s{{0,9}}{re.escape(x)}\b|,\s{{0,9}}{re.escape(x)}\)")
            or self.scores()
        )

    def last_softmax(self) -> int | None:
        return self.call_line(NORMALISERS, last=True) or self.softmax()

    def drops(self) -> int | None:
        """Where something is dropped, in either mode."""
        return next((entry.line for entry in (*self.trained, *self.trace) if entry.call in DROPS), None)

    def dropout(self) -> int | None:
        return (
            self.call_line(DROPS)
            or self.drops()
            or self.source.find_in_forward(r"[Dd]ropout\w{0,40}\(|\bdrop\w{0,40}\(|rand|bernoulli")
            or self.softmax()
        )

    def dropout_layer(self) -> int | None:
        """Where the rate is handed on: the construction of the layer that is called, else the call."""
        called = self.dropout()
        for name in self.source.names_on(called):
            defined = self.source.definition_of(name, called or 0)
            if defined is not None and _sets_a_rate(name, self.source.code(defined)):
                return defined
        if re.search(r"functional|\bF\.|rand|bernoulli", self.source.code(called)):
            return called
        return self.source.find(r"Dropout\w{0,40}\(") or called

    def last_dropout(self) -> int | None:
        """The last one in training: the second of two, or the one on the output."""
        entries = [entry for entry in self.trained if entry.call in DROPS]
        return entries[-1].line if entries else self.dropout()

    def projections(self) -> int | None:
        """Where the packed projection is cut, else where a layer is applied."""
        cut = self.call_line(SPLITS | {"unflatten"}) or self.call_line(frozenset({"__getitem__"}))
        return cut or self.call_line(frozenset({"linear"})) or self.last()

    def last_linear(self) -> int | None:
        return self.call_line(frozenset({"linear"}), last=True) or self.source.find(
            r"out\w{0,40}\s{0,20}=\s*nn\.Linear"
        )

    def cuts(self) -> int | None:
        """A call or an expression that cuts the graph."""
        return self.call_line(CUTS) or self.source.find(
            r"\.detach\(|no_grad|\.data\b|\.item\(|inference_mode|round\(|//|\.numpy\(|tolist|torch\.tensor\("
        )

    def cut(self) -> int | None:
        """Where the graph is cut, else the last line."""
        return self.cuts() or self.last()

    def dropped_before_scores(self) -> str | None:
        """What the first dropout falls on where it is neither weights nor the result: x, or a projection."""
        projected = False
        for entry in self.trained:
            square = bool(entry.inputs) and _is_square(entry.inputs[0])
            if entry.call == "dropout":
                return None if square else "a projection" if projected else "x"
            if (
                entry.call in PRODUCTS
                and square
                and entry.output is not None
                and not _is_square(entry.output)
            ):
                return None
            projected = projected or entry.call == "linear" or bool(entry.parameters)
        return None

    def drops_with_rate_zero(self) -> bool:
        """Whether dropout is called in training, though the instance has a rate, with a rate of 0."""
        seen = self._candidate.ask(
            self._candidate.rig(), self._candidate.draw(probes.UNMASKED[0]), training=True, trace=True
        ).seen
        drops = [entry for entry in trace_of([seen]) if entry.call == "dropout"]
        return bool(drops) and all(entry.numbers.get("p", entry.numbers.get("1")) == 0 for entry in drops)

    def drops_after_softmax(self) -> bool:
        """Whether every dropout that was seen in training comes after the softmax."""
        seen = trace_of(self._candidate.in_training)
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
        switched = self.source.find_in_forward(r"self(\.\w{1,40}){0,4}\.train\(")
        if switched is not None:
            return "eval_called_in_forward", switched
        for entry in self.trace:
            if entry.call == "dropout":
                text = self.source.text(entry.line)
                if entry.fresh_module or "nn.Dropout(" in text.replace(" ", ""):
                    return "dropout_module_created_in_forward", entry.line
                if "training" in entry.numbers and entry.numbers["training"] == 1:
                    told = re.search(
                        r"training|\bTrue\b|dropout\([^()]{1,80},[^(),]{1,80},", text.partition("#")[0]
                    )
                    return (
                        "dropout_in_eval" if told else "functional_dropout_without_training_flag"
                    ), entry.line
        entry_line = self.call_line(DROPS | {"scaled_dot_product_attention"}, last=True)
        return "dropout_in_eval", entry_line or self.source.find(r"[Dd]ropout\w{0,40}\(|bernoulli|rand")


def _sets_a_rate(name: str, code: str) -> bool:
    """Whether a definition makes a layer of dropout, or a rate that is not simply the argument's."""
    if "Dropout" in code or not name.startswith("self."):
        return "Dropout" in code
    handed_on = re.search(r"=\s{0,9}\w{1,60}\s{0,9}$", code) and not re.search(r"=\s{0,9}\d", code)
    return not handed_on and ("ropout" in code or bool(re.search(r"=\s{0,9}[\d.]{1,20}\s{0,9}$", code)))


def _is_square(shape: tuple[int, ...]) -> bool:
    return len(shape) >= 2 and shape[-1] == shape[-2]
