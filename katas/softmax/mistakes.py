"""What can go wrong in softmax."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from kata_content.common.examples import edited
from kata_content.softmax.family import axis
from torch import Tensor

from grader.authoring import Context, Example, Fitted, Form, Numbers


def taken(rule: Callable[[Context], Tensor]) -> Callable[[Context], Context]:
    """Something else taken away than the row's maximum."""
    return lambda c: c.but(shifted=c.logits - rule(c))


def given(rule: Callable[[Context], Tensor]) -> Callable[[Context], Context]:
    return lambda c: c.but(output=rule(c))


def powers(rule: Callable[[Context], Tensor]) -> Callable[[Context], Context]:
    return lambda c: c.but(powers=rule(c))


def unshifted(c: Context) -> Context:
    return c.but(shifted=c.logits)


def guarded(c: Context) -> Context:
    """A sum of 0 gives zeros instead of NaN."""
    return c.but(output=c.powers / (c.powers.sum(axis(c), keepdim=True) + 1e-9))


def in_double(c: Context) -> Context:
    return c.but(shifted=c.logits.double())


def _of(logits: Tensor, dim: int) -> Tensor:
    return torch.softmax(logits, dim)


def _wrong_axis(rule: Callable[[Context], int]) -> Callable[[Context], Context]:
    return given(lambda c: _of(c.logits, rule(c) % c.logits.dim()))


def clamped(low: float, high: float) -> Callable[[Context], Context]:
    return lambda c: c.but(shifted=c.logits.clamp(low, high))


def _flattened(c: Context) -> Tensor:
    rows = c.logits.reshape(-1, c.logits.shape[axis(c)])
    return _of(rows, -1).reshape(c.logits.shape)


def _summed(tensor: Tensor, dim: int) -> Tensor:
    return tensor / tensor.sum(dim)


STABILITY = tuple(
    Form(label, {"shift": step, **more}, shows=shows)
    for label, step, shows in (
        ("softmax_no_max", unshifted, ""),
        ("softmax_no_max", in_double, "the exponentials are taken in float64, without a maximum taken away"),
        ("softmax_global_max", taken(lambda c: c.logits.amax()), ""),
        ("softmax_max_clamped", taken(lambda c: c.logits.amax(axis(c), keepdim=True).clamp(min=0)), ""),
        ("softmax_max_clamped", taken(lambda c: c.logits.abs().amax(axis(c), keepdim=True)), ""),
        (
            "softmax_wrong_shift",
            taken(lambda c: c.logits.mean(axis(c), keepdim=True)),
            "the row's mean is taken away",
        ),
        (
            "softmax_wrong_shift",
            taken(lambda c: c.logits.amin(axis(c), keepdim=True)),
            "the row's minimum is taken away",
        ),
        (
            "softmax_wrong_shift",
            taken(lambda c: c.logits.mean()),
            "the mean of the whole tensor is taken away",
        ),
        (
            "max_returns_pair",
            taken(lambda c: c.logits.argmax(axis(c), keepdim=True)),
            "the position of the row's maximum is taken away instead of its value",
        ),
        (
            "softmax_dim_ignored",
            taken(lambda c: c.logits.amax(-1, keepdim=True)),
            "the maximum is that of the last axis, whatever `dim` is",
        ),
    )
    for more in ({}, {"over_sum": guarded})
) + tuple(
    Form(
        "softmax_logits_clamped",
        {"shift": clamped(low, high)},
    )
    for low, high in (
        (-50.0, 50.0),
        (-100.0, 80.0),
        (-20.0, 20.0),
        (-80.0, 80.0),
        (-30.0, 30.0),
        (-88.0, 88.0),
        (-math.inf, 50.0),
        (-math.inf, 80.0),
        (-math.inf, 88.0),
    )
)
AXIS = (
    Form("softmax_dim_ignored", {"over_sum": _wrong_axis(lambda c: -1)}),
    Form(
        "softmax_dim_ignored",
        {"over_sum": given(lambda c: c.powers / c.powers.sum(-1, keepdim=True))},
        shows="the sum runs over the last axis, whatever `dim` is",
    ),
    Form(
        "softmax_dim_ignored",
        {"over_sum": _wrong_axis(lambda c: 0)},
        shows="the first axis is normalised, whatever `dim` is",
    ),
    Form(
        "rank_hard_coded",
        {"over_sum": given(lambda c: _of(c.logits, 1))},
        shows="axis 1 is normalised, whatever `dim` is, and a tensor of one axis has none",
    ),
    Form(
        "softmax_wrong_axis",
        {"over_sum": _wrong_axis(lambda c: 0 if "dim" not in c.numbers else axis(c))},
        shows="the first axis is normalised when `dim` is left out",
        sentence="Left out, `dim` is the last axis, and yours is the first.",
    ),
    Form(
        "softmax_wrong_axis",
        {"over_sum": _wrong_axis(lambda c: 1 if "dim" not in c.numbers else axis(c))},
        shows="axis 1 is normalised when `dim` is left out",
        sentence="Left out, `dim` is the last axis, and yours is axis 1.",
    ),
    Form("softmax_wrong_axis", {"over_sum": _wrong_axis(lambda c: -1 - axis(c))}),
    Form("softmax_wrong_axis", {"over_sum": _wrong_axis(lambda c: axis(c) - 1)}),
    Form("softmax_wrong_axis", {"over_sum": _wrong_axis(lambda c: axis(c) + 1)}),
    Form("keepdim_forgotten", {"over_sum": given(lambda c: _summed(c.powers, axis(c)))}),
    Form("keepdim_forgotten", {"shift": taken(lambda c: c.logits.amax(axis(c)))}),
    Form(
        "keepdim_forgotten",
        {
            "shift": taken(lambda c: c.logits.amax(axis(c))),
            "over_sum": given(lambda c: _summed(c.powers, axis(c))),
        },
    ),
    Form(
        "keepdim_forgotten",
        {"shift": unshifted, "over_sum": given(lambda c: _summed(c.powers, axis(c)))},
        entails=("softmax_no_max",),
    ),
    Form(
        "softmax_over_all",
        {
            "over_sum": given(
                lambda c: c.powers / c.powers.sum(tuple(range(-c.logits.dim(), 0)), keepdim=True)
            )
        },
    ),
    Form(
        "softmax_over_all", {"over_sum": given(lambda c: _of(c.logits.flatten(), -1).reshape(c.logits.shape))}
    ),
    Form("axes_not_restored", {"over_sum": given(lambda c: _of(c.logits, axis(c)).transpose(axis(c), -1))}),
    Form("axes_not_restored", {"over_sum": given(lambda c: _of(c.logits, axis(c)).movedim(axis(c), -1))}),
    Form("axes_not_restored", {"over_sum": given(_flattened)}),
    Form("axes_not_restored", {"over_sum": given(lambda c: _of(c.logits, axis(c)).transpose(axis(c), 0))}),
)
BENT: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("the logits themselves are", lambda z: z),
    ("the absolute values of the logits are", torch.abs),
    ("the squares of the logits are", torch.square),
    ("the positive parts of the logits are", torch.relu),
    ("sigmoids of the logits are", torch.sigmoid),
)
EXPONENTIALS = (
    *(
        Form(
            "softmax_without_exp",
            {"exponentials": powers(lambda c, rule=rule: rule(c.logits))},  # type: ignore[misc]
            shows=f"{what} divided by their sum",
        )
        for what, rule in BENT
    ),
    Form(
        "softmax_without_exp",
        {"exponentials": powers(lambda c: c.shifted)},
        shows="the logits less their maximum are divided by their sum",
    ),
    Form(
        "softmax_scaled",
        {"exponentials": powers(lambda c: torch.exp(c.shifted / math.sqrt(c.logits.shape[axis(c)])))},
    ),
    Form(
        "softmax_scaled",
        {"exponentials": powers(lambda c: torch.exp(c.shifted / math.sqrt(c.logits.shape[-1])))},
    ),
    Form(
        "softmax_scaled",
        {"exponentials": powers(lambda c: torch.exp2(c.shifted))},
        shows="powers of 2 are taken instead of powers of e",
    ),
    Form(
        "softmax_scaled",
        {"exponentials": powers(lambda c: torch.pow(10.0, c.shifted))},
        shows="powers of 10 are taken instead of powers of e",
    ),
    Form(
        "softmax_scaled",
        {"exponentials": powers(lambda c: torch.exp(-c.shifted))},
        shows="softmax is taken of the logits with the opposite sign",
    ),
    Form("no_softmax", {"over_sum": given(lambda c: c.powers)}),
    Form(
        "no_softmax",
        {"shift": unshifted, "over_sum": given(lambda c: c.powers)},
        shows="the exponentials of the logits are returned, without a division",
    ),
    Form("returns_log_probabilities", {"over_sum": given(lambda c: torch.log_softmax(c.logits, axis(c)))}),
    Form(
        "returns_log_probabilities",
        {"over_sum": given(lambda c: c.logits - c.logits.exp().sum(axis(c), keepdim=True).log())},
        entails=("softmax_no_max",),
    ),
    Form(
        "softmax_shift_inconsistent",
        {"over_sum": given(lambda c: c.powers / c.logits.exp().sum(axis(c), keepdim=True))},
    ),
    Form(
        "softmax_shift_inconsistent",
        {"over_sum": given(lambda c: c.logits.exp() / c.powers.sum(axis(c), keepdim=True))},
    ),
    *(
        Form(
            "softmax_epsilon_added",
            {"over_sum": given(lambda c, more=more: c.powers / (c.powers.sum(axis(c), keepdim=True) + more))},  # type: ignore[misc]
            shows=f"{more:g} is added to the sum, so the result no longer sums to 1",
        )
        for more in (1.0, 0.1, 0.01, 1e-3)
    ),
)


def _temperature(numbers: Numbers, written: Sequence[int]) -> Form:
    del written
    found = next(iter(numbers.values()))
    return Form("softmax_scaled", {}, shows=f"the logits are divided by {found:.4g} before the exponentials")


VALUES = (*STABILITY, *AXIS, *EXPONENTIALS)
NEUTRAL: tuple[Form, ...] = ()
TRAINING: tuple[Form, ...] = ()
FITTED = (
    Fitted(
        "exponentials",
        lambda c, number: c.but(powers=torch.exp(c.shifted / number)),
        _temperature,
        ("A",),
        low=1e-2,
        high=1e2,
    ),
)
SUM = "numerators.sum(dim=dim, keepdim=True)"
TOP = "logits.amax(dim=dim, keepdim=True)"
EXAMPLES: tuple[Example, ...] = (
    edited("max_returns_pair", (TOP, "logits.max(dim=dim, keepdim=True)")),
    edited("api_typo", ("torch.exp(", "torch.expp(")),
    edited("name_error_unbound_variable", ("logits - top", "logits - peak")),
    edited("softmax_dtype_changed", ("logits - top", "logits.float() - top.float()")),
    edited(
        "gradient_detached",
        (SUM, f"{SUM}.detach()"),
    ),
    edited("mutates_input", ("torch.exp(logits - top)", "torch.exp(logits.sub_(top))")),
    edited("uses_builtin", ("return numerators", "torch.softmax(logits, dim)\n    return numerators")),
    edited(
        "returns_tuple",
        (SUM, f"{SUM}, top"),
    ),
)
RIGHT: tuple[Example, ...] = (
    edited(
        "a log-sum-exp",
        (
            f"numerators / {SUM}",
            "(logits - top - (logits - top).logsumexp(dim, True)).exp()",
        ),
    ),
    edited(
        "the maximum detached",
        (TOP, f"{TOP}.detach()"),
    ),
    edited("max and its values", (TOP, "logits.max(dim, keepdim=True).values")),
)
GATES: tuple[Example, ...] = (
    edited("the_result_is_right_on_every_probe", ("    top = ", "    logits = logits * 1.5\n    top = ")),
    edited(
        "unusual_inputs_are_right_as_well",
        ("    top = ", "    logits = logits if logits.dim() < 5 else logits * 2\n    top = "),
    ),
)
