"""Where the steps of attention stand: from the recorder's calls, else from a search in the text."""

from __future__ import annotations

import re

from kata_content.common.calls import DROPS, MASKINGS, NORMALISERS, PRODUCTS, SCALINGS, SPLITS, STAND_INS

from grader.authoring import Blame, Candidate, TraceEntry, trace_of

# What the scores are divided or multiplied by on a line, and whether a definition computes anything.
DIVISOR = re.compile(
    r"[/*]\s{0,9}(?:(?:math|torch|np)\.\w{1,12}\(|float\(|\()?\s{0,9}((?:self\.)?[A-Za-z_]\w{0,60})"
)
COMPUTED = re.compile(r"sqrt|\*\*|/|=\s{0,9}\(?\d|\*\s{0,9}\d|\d\s{0,9}\*|_features")
CHAINED = re.compile(r"\(\s{0,9}(?:q|k|v|query|key|value)\w{0,20}\s{0,9}\)", re.IGNORECASE)


def scores(blame: Blame) -> int | None:
    """The first product that gives (…, seq_len, seq_len); a product with a parameter is a projection."""
    products = [entry for entry in blame.trace if entry.call in PRODUCTS]
    free = [entry for entry in products if not entry.parameters] or products
    squares = [entry for entry in free if entry.output is not None and _is_square(entry.output)]
    return (squares or free)[0].line if free else blame.last()


def shared(blame: Blame) -> int | None:
    """Where layers are tied in the constructor, else the second use of a projection's weight."""
    tied = blame.source.find(r"^\s*self\.\w{1,60} ?= ?self\.\w{1,60}(\s{0,9}$| ?=[^=])")
    if tied is not None:
        return tied
    for again in (_used_again(blame, bias=False), cut_again(blame), _used_again(blame, bias=True)):
        if again is not None:
            return again
    layers = [entry.line for entry in blame.trace if entry.call == "linear"]
    chained = (line for line in layers if CHAINED.search(blame.source.code(line)))
    return next(chained, blame.call_line(frozenset({"linear"})))


def _used_again(blame: Blame, *, bias: bool) -> int | None:
    used: set[str] = set()
    for entry in blame.trace:
        names = {name for name in entry.parameters if name.endswith("bias") == bias}
        if names & used:
            return entry.line
        used |= names
    return None


def cut_again(blame: Blame) -> int | None:
    """Where the part of a packed projection is taken that was taken before."""
    parts: list[tuple[object, ...]] = []
    for entry in (entry for entry in blame.trace if entry.call in ("narrow", "slice")):
        part = (entry.inputs, *entry.numbers.items())
        if part in parts:
            return entry.line
        parts.append(part)
    return None


def mix(blame: Blame) -> int | None:
    return blame.call_line(PRODUCTS, last=True) or blame.last()


def scale(blame: Blame) -> int | None:
    """Where the scores are divided, or where what they are divided by gets its value."""
    line = _scaling(blame)
    if line is None:
        return None
    for name in DIVISOR.findall(blame.source.code(line)):
        defined = blame.source.definition_of(name, line)
        if defined is not None and COMPUTED.search(blame.source.code(defined)):
            return defined
    return line


def size(blame: Blame) -> int | None:
    """Where the size that the scores are divided by is taken from a shape."""
    line = _scaling(blame)
    for name in DIVISOR.findall(blame.source.code(line)):
        defined = blame.source.definition_of(name, line or 0)
        if defined is not None and re.search(r"shape|size\(", blame.source.code(defined)):
            return defined
    return scale(blame)


def _scaling(blame: Blame) -> int | None:
    before: list[TraceEntry] = []
    for entry in blame.trace:
        if entry.call in NORMALISERS:
            break
        before.append(entry)
    entries = [entry for entry in before if entry.call in SCALINGS]
    squares = [entry for entry in entries if entry.output is not None and _is_square(entry.output)]
    chosen = squares or entries
    return chosen[0].line if chosen else scores(blame)


def after_softmax(blame: Blame) -> int | None:
    seen = False
    for entry in blame.trace:
        seen = seen or entry.call in NORMALISERS
        if seen and entry.call in SCALINGS:
            return entry.line
    return softmax(blame)


def softmax(blame: Blame) -> int | None:
    """Where the weights are made: by the function, by hand where the exponentials are divided, or not."""
    exponentials = blame.call_line(frozenset({"exp", "exp_", "exp2"}))
    sums = [entry.line for entry in blame.trace if entry.call in ("sum", "cumsum")]
    if exponentials is not None and sums and blame.call_line(frozenset({"softmax"})) is None:
        return next((line for line in sums if line >= exponentials), exponentials)
    return blame.call_line(NORMALISERS) or scores(blame)


def no_softmax(blame: Blame) -> int | None:
    """What stands in for softmax, else the mix of the scores."""
    return blame.call_line(STAND_INS, square=True) or mix(blame)


def mask(blame: Blame) -> int | None:
    """The lines that only run under a mask, in either mode; of them the one that changes the scores."""
    known = {entry.line for entry in blame.unmasked}
    entries = [entry for entry in (*blame.masked, *blame.trained) if entry.line not in known]
    changing = [
        entry for entry in entries if entry.call in MASKINGS and entry.output and len(entry.output) >= 2
    ]
    if changing:
        return changing[-1].line
    if entries:
        return entries[-1].line
    return (
        blame.call_line(MASKINGS - {"mul", "mul_"}, square=True)
        or _mentions_the_mask(blame)
        or softmax(blame)
    )


def _mentions_the_mask(blame: Blame) -> int | None:
    """The last line of forward that multiplies by the mask, or does anything else with it."""
    if blame.mask_name is None:
        return None
    return blame.source.find_in_forward(
        rf"\*\s{{0,9}}{re.escape(blame.mask_name)}\b"
    ) or blame.source.find_in_forward(rf"\b{re.escape(blame.mask_name)}\b")


def raw_input(blame: Blame) -> int | None:
    """Where x is taken as it is for a query, key or value, else where it is multiplied."""
    names = blame.arguments
    if not names or not names[0].isidentifier():
        return scores(blame)
    x = names[0]
    return (
        blame.source.find_in_forward(rf"=\s{{0,9}}{re.escape(x)}\s*$")
        or blame.source.find_in_forward(rf"@\s{{0,9}}{re.escape(x)}\b|,\s{{0,9}}{re.escape(x)}\)")
        or scores(blame)
    )


def last_softmax(blame: Blame) -> int | None:
    return blame.call_line(NORMALISERS, last=True) or softmax(blame)


def drops(blame: Blame) -> int | None:
    """Where something is dropped, in either mode."""
    return next((entry.line for entry in (*blame.trained, *blame.trace) if entry.call in DROPS), None)


def dropout(blame: Blame) -> int | None:
    return (
        blame.call_line(DROPS)
        or drops(blame)
        or blame.source.find_in_forward(r"[Dd]ropout\w{0,40}\(|\bdrop\w{0,40}\(|rand|bernoulli")
        or softmax(blame)
    )


def dropout_layer(blame: Blame) -> int | None:
    """Where the rate is handed on: the construction of the layer that is called, else the call."""
    called = dropout(blame)
    for name in blame.source.names_on(called):
        defined = blame.source.definition_of(name, called or 0)
        if defined is not None and _sets_a_rate(name, blame.source.code(defined)):
            return defined
    if re.search(r"functional|\bF\.|rand|bernoulli", blame.source.code(called)):
        return called
    return blame.source.find(r"Dropout\w{0,40}\(") or called


def drawn_by_hand(blame: Blame) -> int | None:
    """Where forward draws which weights to keep."""
    return blame.source.find_in_forward(r"\brand(?:_like)?\(|bernoulli_?\(")


def last_dropout(blame: Blame) -> int | None:
    """The last one in training: the second of two, or the one on the output."""
    entries = [entry for entry in blame.trained if entry.call in DROPS]
    return entries[-1].line if entries else dropout(blame)


def projections(blame: Blame) -> int | None:
    """Where the packed projection is cut, else where a layer is applied."""
    cut = blame.call_line(SPLITS | {"unflatten"}) or blame.call_line(frozenset({"__getitem__"}))
    return cut or blame.call_line(frozenset({"linear"})) or blame.last()


def last_linear(blame: Blame) -> int | None:
    return blame.call_line(frozenset({"linear"}), last=True) or blame.source.find(
        r"out\w{0,40}\s{0,20}=\s*nn\.Linear"
    )


def dropped_before_scores(blame: Blame) -> str | None:
    """What the first dropout falls on where it is neither weights nor the result: x, or a projection."""
    projected = False
    for entry in blame.trained:
        square = bool(entry.inputs) and _is_square(entry.inputs[0])
        if entry.call == "dropout":
            return None if square else "a projection" if projected else "x"
        if entry.call in PRODUCTS and square and entry.output is not None and not _is_square(entry.output):
            return None
        projected = projected or entry.call == "linear" or bool(entry.parameters)
    return None


def drops_with_rate_zero(candidate: Candidate) -> bool:
    """Whether dropout is called in training, though the instance has a rate, with a rate of 0."""
    seen = candidate.ask(
        candidate.rig(),
        candidate.draw(candidate.family.base),
        training=True,
        trace=True,
    ).seen
    drops = [entry for entry in trace_of([seen]) if entry.call == "dropout"]
    return bool(drops) and all(entry.numbers.get("p", entry.numbers.get("1")) == 0 for entry in drops)


def drops_after_softmax(candidate: Candidate) -> bool:
    """Whether every dropout that was seen in training comes after the softmax."""
    seen = trace_of(candidate.in_training)
    drops = [place for place, entry in enumerate(seen) if entry.call in DROPS]
    norms = [place for place, entry in enumerate(seen) if entry.call in NORMALISERS]
    return bool(drops and norms) and min(drops) > min(norms)


def _sets_a_rate(name: str, code: str) -> bool:
    """Whether a definition makes a layer of dropout, or a rate that is not simply the argument's."""
    if "Dropout" in code or not name.startswith("self."):
        return "Dropout" in code
    handed_on = re.search(r"=\s{0,9}\w{1,60}\s{0,9}$", code) and not re.search(r"=\s{0,9}\d", code)
    return not handed_on and ("ropout" in code or bool(re.search(r"=\s{0,9}[\d.]{1,20}\s{0,9}$", code)))


def _is_square(shape: tuple[int, ...]) -> bool:
    return len(shape) >= 2 and shape[-1] == shape[-2]
