"""Steps with one number in them, and what is said when that number is wrong: the divisor and the fill."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from torch import Tensor

from grader.authoring import Context, Fitted, Form, Numbers

FIX_FILL = 'Fill with `torch.finfo(scores.dtype).min`, or with `float("-inf")`'


def divisor_form(numbers: Numbers, written: Sequence[int]) -> Form:
    """The scores are divided by these numbers instead of √hidden_dim."""
    constant = _constant(numbers, lambda _: 1.0)
    if constant is not None:
        shows = f"scores are always divided by {constant:.4g}{_as_root(constant)}, whatever hidden_dim is"
        fixed = {round(constant), round(constant**2)} & set(written)
        return Form("scale_wrong_value", {}, shows=shows, entails=("hard_coded_sizes",) if fixed else ())
    each = dict.fromkeys(
        f"{number:.4g} at hidden_dim {width}" + _at_length(numbers, width, seq_len)
        for (width, seq_len), number in sorted(numbers.items())
    )
    whole = all(abs(number - round(number)) < 1e-3 * number for number in numbers.values())
    near = all(abs(number - math.sqrt(width)) < 1 for (width, _), number in numbers.items())
    cut = "the root is made a whole number: " if whole and near else ""
    sentence = "The root of hidden_dim is seldom a whole number, and you made it one." if cut else ""
    return Form(
        "scale_wrong_value",
        {},
        shows=f"{cut}scores are divided by {', '.join(each)}",
        sentence=sentence,
        fix="Write `scores / math.sqrt(self.hidden_dim)`, without rounding." if cut else "",
    )


def fill_form(numbers: Numbers, written: Sequence[int], *, added: bool = False) -> Form | None:
    """Hidden scores are set to minus these numbers, or lowered by them, and that is not enough."""
    del written
    constant = _constant(numbers, lambda _: 1.0)
    if constant is not None:
        return weak_fill({}, -constant, added=added)
    before = _constant(numbers, lambda width: 1 / math.sqrt(width))
    if before is None:
        return None
    what = f"{before:.4g} is taken from hidden scores" if added else f"hidden scores are set to {-before:.4g}"
    return Form(
        "mask_fill_too_weak",
        {},
        shows=f"{what} and then divided by √hidden_dim",
        sentence=f"The scale comes after your mask and shrinks the fill of {-before:.4g} as well, so"
        " hidden keys"
        " keep some weight.",
        fix=f"{FIX_FILL}, and mask the scores when they are scaled.",
    )


def weak_fill(steps: dict[str, Callable[[Context], Context]], fill: float, *, added: bool = False) -> Form:
    """Hidden scores are set to `fill`, or `fill` is added to them: negative, and not low enough."""
    shows = f"{fill:.4g} is added to hidden scores" if added else f"hidden scores are set to {fill:.4g}"
    return Form(
        "mask_fill_too_weak",
        steps,
        shows=f"{shows}, which leaves them some weight",
        sentence=f"{fill:.4g} is not low enough: exp({fill:.4g}) is {math.exp(fill):.2g}, so hidden keys"
        " keep some"
        " weight.",
        fix=f"{FIX_FILL}.",
    )


def _constant(numbers: Numbers, unit: Callable[[int], float]) -> float | None:
    """The number in units that depend on the width, where it is the same at two widths or more."""
    found = [number / unit(width) for (width, _), number in numbers.items()]
    widths = {width for width, _ in numbers}
    return found[0] if len(widths) > 1 and max(found) <= min(found) * 1.01 else None


def _at_length(numbers: Numbers, width: int, seq_len: int) -> str:
    """Named only where one width has several numbers."""
    alike = [number for (other, _), number in numbers.items() if other == width]
    return f" and seq_len {seq_len}" if max(alike) > min(alike) * 1.001 else ""


def _as_root(number: float) -> str:
    square = round(number**2)
    return f" = √{square}" if abs(number**2 - square) < 1e-2 * square and round(number) ** 2 != square else ""


def _divided(c: Context, number: Tensor | float) -> Context:
    return c.but(scores=c.scores / number)


def _filled(c: Context, number: Tensor | float) -> Context:
    if c.visible is None:
        return c
    return c.but(scores=c.scores * c.visible - (~c.visible).to(c.scores.dtype) * number)


def _lowered(c: Context, number: Tensor | float) -> Context:
    if c.visible is None:
        return c
    return c.but(scores=c.scores - (~c.visible).to(c.scores.dtype) * number)


SCALE = Fitted("scale", _divided, divisor_form, ("D", "S"))
FILLS = (
    Fitted("mask", _filled, fill_form, ("D", "S"), low=1e-3, high=1e3, masked_only=True),
    Fitted(
        "mask",
        _lowered,
        lambda numbers, written: fill_form(numbers, written, added=True),
        ("D", "S"),
        low=1e-3,
        high=1e3,
        masked_only=True,
    ),
)
