"""What can go wrong in rope."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from kata_content.common import known as common
from kata_content.common.examples import edited, instead
from kata_content.rotary.finders import KNOWN_LINES, OF_CONCEPT, behind
from kata_content.rotary.steps import base, count, exponents, together
from kata_content.rotary.ways import (
    ALL,
    FIRST,
    SECOND,
    always,
    by_head,
    by_lines,
    counted,
    crossed,
    first_features,
    first_pairs,
    from_zero,
    given,
    in_words,
    kept,
    mirrored,
    mismatched,
    of_sample,
    one_for_all,
    over_heads,
    paired,
    part_turned,
    placed,
    powers,
    read_from,
    slowed,
    turned_by,
    wrongly_laid,
)

from grader.authoring import Example, Fitted, Form, Numbers

# --- Angles ---

SINGLE = (
    Form("rope_single_frequency", {"frequencies": one_for_all(lambda _: 1.0)}),
    *(
        Form("rope_single_frequency", {"frequencies": one_for_all(rule)}, shows=shows)
        for rule, shows in (
            (lambda c: 1 / base(c), "every pair turns by position / base"),
            (lambda c: base(c) ** (-2 / c.head_dim), "every pair turns as slowly as the second one"),
            (lambda c: base(c) ** (2 / c.head_dim - 1), "every pair turns as slowly as the last one"),
            (lambda c: base(c) ** -0.5, "every pair turns by position / √base"),
        )
    ),
)
EXPONENTS = tuple(
    Form("rope_exponent_wrong", {"frequencies": step}, shows=f"the frequencies are {what}, not base^(-2i/d)")
    for step, what in (
        (powers(lambda c: counted(c) / c.head_dim), "base^(-i/d)"),
        (powers(lambda c: 2 * exponents(c)), "base^(-4i/d)"),
        (powers(lambda c: -exponents(c)), "base^(+2i/d)"),
        (powers(lambda c: -exponents(c) / 2), "base^(+i/d)"),
        (powers(lambda c: exponents(c) - 2 / c.head_dim), "base^(-2(i-1)/d)"),
        (powers(lambda c: exponents(c) + 2 / c.head_dim), "base^(-2(i+1)/d)"),
        (powers(lambda c: exponents(c) + 1 / c.head_dim), "base^(-(2i+1)/d)"),
        (powers(lambda c: counted(c) / max(1, count(c) - 1)), "base^(-i/(d/2-1))"),
        (powers(lambda c: 2 * counted(c) / max(1, c.head_dim - 2)), "base^(-2i/(d-2))"),
        (powers(lambda c: counted(c) / max(1, c.head_dim - 1)), "base^(-i/(d-1))"),
        (powers(lambda c: 2 * counted(c) / max(1, c.head_dim - 1)), "base^(-2i/(d-1))"),
        (powers(lambda c: 2 * counted(c) / (c.head_dim * c.num_heads)), "base^(-2i/(d·num_heads))"),
        (powers(lambda c: counted(c) / (c.head_dim * c.num_heads)), "base^(-i/(d·num_heads))"),
        (powers(lambda c: 2 * counted(c) / c.num_heads), "base^(-2i/num_heads)"),
        (powers(lambda c: counted(c) / c.num_heads), "base^(-i/num_heads)"),
        (powers(lambda c: 2 * counted(c) / c.seq_len), "base^(-2i/seq_len)"),
        (powers(lambda c: counted(c) / c.seq_len), "base^(-i/seq_len)"),
        (powers(counted), "base^(-i)"),
        (powers(lambda c: 2 * counted(c)), "base^(-2i)"),
        (powers(lambda c: exponents(c).flip(-1)), "base^(-2i/d) in the opposite order"),
        (powers(lambda c: 1 - exponents(c)), "base^(2i/d - 1)"),
        (powers(lambda c: exponents(c) ** 2), "base^(-(2i/d)²)"),
        (powers(lambda c: counted(c) / math.sqrt(c.head_dim)), "base^(-i/√d)"),
        (powers(lambda c: 2 * counted(c) / math.sqrt(c.head_dim)), "base^(-2i/√d)"),
        (slowed(lambda c: torch.exp(-exponents(c))), "e^(-2i/d)"),
        (slowed(lambda c: torch.exp2(-exponents(c))), "2^(-2i/d)"),
        (slowed(lambda c: 1 / (base(c) * exponents(c))), "1 / (base · 2i/d)"),
        (slowed(lambda c: 1 / (1 + base(c) * exponents(c))), "1 / (1 + base · 2i/d)"),
        (slowed(lambda c: base(c) * exponents(c)), "base · 2i/d"),
        (slowed(lambda c: 1 / base(c) * exponents(c)), "2i/d / base"),
        (slowed(exponents), "2i/d"),
        (slowed(lambda c: 1 - exponents(c)), "1 - 2i/d"),
        (
            slowed(lambda c: torch.exp(-exponents(c) * math.log10(base(c)))),
            "e^(-2i/d · log₁₀ base)",
        ),
        (
            slowed(lambda c: torch.exp2(-exponents(c) * math.log(base(c)))),
            "2^(-2i/d · ln base)",
        ),
        (slowed(lambda c: torch.linspace(1, 1 / base(c), count(c), dtype=torch.float64)), "evenly spaced"),
    )
)  # fmt: skip


OTHER_BASES = (500000.0, 1000.0, 100.0, 1e6, 1e5, 50000.0)
BASES = (
    Form("rope_base_ignored", {"frequencies": always(10000.0)}),
    *(
        Form(
            "rope_base_ignored",
            {"frequencies": always(number)},
            shows=f"the base is {number:g}, whatever is given",
        )
        for number in OTHER_BASES
    ),
    *(
        Form(
            "rope_base_ignored",
            {"frequencies": always(number, when_left_out=True)},
            shows=f"the base is {number:g} where none is given",
            sentence=f"Left out, `base` is 10000, and yours is {number:g}.",
            fix="Write `base=10000.0` in the signature.",
        )
        for number in OTHER_BASES
    ),
)


def _angle_factor(numbers: Numbers, written: Sequence[int]) -> Form:
    del written
    found = next(iter(numbers.values()))
    return Form("rope_angle_factor", {}, shows=f"every angle is {found:.4g} times as large as it should be")


FACTORS = (
    Form("rope_double_rotation", {"angles": turned_by(2)}),
    *(
        Form("rope_angle_factor", {"angles": turned_by(factor)}, shows=f"every angle is multiplied by {what}")
        for factor, what in ((2 * math.pi, "2π"), (math.pi, "π"), (0.5, "½"), (math.pi / 180, "π/180"))
    ),
)

# --- Positions ---

POSITIONS = (
    Form("rope_positions_ignored", {"angles": placed(from_zero)}),
    Form("rope_position_off_by_one", {"angles": placed(lambda c: c.positions + 1)}),
    Form(
        "rope_position_off_by_one",
        {"angles": placed(lambda c: c.positions - 1)},
        shows="every token turns by the position before its own",
        sentence="Position 0 must change nothing; yours is turned by -1.",
    ),
    Form(
        "rope_positions_ignored",
        {"angles": placed(lambda c: from_zero(c) + 1)},
        shows="tokens are counted from 1, whatever positions are given",
    ),
    Form("rope_positions_restarted", {"angles": placed(lambda c: c.positions - c.positions[..., :1])}),
    Form(
        "rope_positions_restarted",
        {"angles": placed(lambda c: c.positions - c.positions.amin(-1, keepdim=True))},
        shows="the positions are counted from the smallest one that is given",
    ),
    Form(
        "rope_positions_assumed_consecutive",
        {"angles": placed(lambda c: c.positions[..., :1] + torch.arange(c.seq_len))},
    ),
    Form("rope_first_position_for_all", {"angles": placed(lambda c: c.positions[..., :1])}),
    Form(
        "rope_first_position_for_all",
        {"angles": placed(lambda c: c.positions[..., -1:])},
        shows="every token turns by the position of the last one",
        sentence="Each token has a position of its own; you took the last one for all.",
    ),
    Form("rope_first_sample_for_all", {"angles": placed(of_sample(0))}),
    Form(
        "rope_first_sample_for_all",
        {"angles": placed(of_sample(-1))},
        shows="every sample turns by the positions of the last one",
    ),
    Form("rope_table_too_short", {"angles": placed(lambda c: c.positions.clamp(max=c.seq_len - 1))}),
    Form(
        "rope_table_too_short",
        {"angles": placed(lambda c: c.positions % c.seq_len)},
        shows="positions beyond seq_len begin at 0 again",
    ),
    Form(
        "rope_positions_sorted",
        {"angles": placed(lambda c: c.positions.sort(-1).values)},
    ),
    Form(
        "rope_positions_sorted",
        {"angles": placed(lambda c: c.positions.flip(-1))},
        shows="the positions are taken in the opposite order",
    ),
)


AXES = (
    Form("rope_positions_over_heads", {"lay": over_heads}),
    *(
        Form("rope_wrong_axis", {"angles": step, "lay": lambda c: c}, shows=shows)
        for step, shows in (
            (by_head(lambda c: c.positions.reshape(-1)[: c.num_heads]), ""),
            (by_head(lambda c: c.positions[..., None, : c.num_heads].squeeze(-2)), ""),
            (
                by_head(lambda c: torch.arange(c.num_heads)),
                "each head turns by its own number, and all tokens of a head by the same angle",
            ),
        )
    ),
    Form("rope_wrong_axis", {"lay": wrongly_laid}),
    Form(
        "rope_wrong_axis",
        {"finish": given(lambda c: c.turned.transpose(-3, -2))},
        shows="heads and positions have changed places in the result",
        sentence="What comes back has heads and positions exchanged; the shape of x was asked for.",
        fix="Leave the axes as they are, (batch, num_heads, seq_len, head_dim), or exchange them back.",
    ),
)

# --- Pairing ---

PAIRING = (
    Form("rope_layout_mismatch", {"spread": mismatched}),
    Form("rope_not_reinterleaved", {"finish": crossed}),
    *(
        Form(
            "rope_layout_mismatch",
            {"spread": read_from(columns)},
            shows=f"pair i takes the angle of pair {which}, of a table for the other pairing",
        )
        for columns, which in (
            (lambda c: torch.arange(count(c)) // 2, "i/2"),
            (lambda c: (torch.arange(count(c)) + count(c)) // 2, "(i + d/2)/2"),
            (lambda c: 2 * torch.arange(count(c)) % count(c), "2i mod d/2"),
        )
    ),
    Form(
        "rope_layout_mismatch",
        {"rotate": mirrored},
        shows="the partners are features i and d-1-i, which is neither of the two pairings",
    ),
)

# --- Rotation ---

REVERSED = ((0, 1, 1, 1), (1, 1, 0, -1))
SWAPPED = ((1, -1, 0, 1), (0, 1, 1, 1))  # x₁sin - x₂cos, x₂sin + x₁cos
OTHER_LINES = tuple(
    pair
    for pair in (
        *((line, SECOND) for line in ALL if line != FIRST),
        *((FIRST, line) for line in ALL if line != SECOND),
        ((0, 1, 1, 1), (1, 1, 0, 1)),  # no minus
        ((0, 1, 1, -1), (1, 1, 0, -1)),  # two of them
        ((0, 1, 0, -1), (1, 1, 1, 1)),  # no partner
        ((0, 1, 0, 1), (1, 1, 1, 1)),
        ((0, 1, 0, 1), (1, 1, 1, -1)),
        ((0, 1, 0, -1), (1, 1, 1, -1)),
        ((1, 1, 0, -1), (0, 1, 1, 1)),
        ((1, 1, 0, 1), (0, 1, 1, -1)),
        ((1, 1, 0, 1), (0, 1, 1, 1)),
        ((0, 1, 0, -1), (0, 1, 0, 1)),
        ((0, -1, 1, 1), (1, -1, 0, -1)),
    )
    if pair not in (REVERSED, SWAPPED)
)


WHOLE = "the first half of the features is left as it came"
PARTS = (
    Form("rope_half_of_width", {"rotate": part_turned(own_width=True)}),
    Form("rope_half_of_width", {"rotate": part_turned(own_width=False)}),
    Form("rope_half_of_width", {"rotate": part_turned(own_width=True, back=True)}, shows=WHOLE),
    Form("rope_half_of_width", {"rotate": part_turned(own_width=False, back=True)}, shows=WHOLE),
    *(
        Form("rope_half_of_width", {"rotate": kept(of)}, shows=f"{what} as it came")
        for of, what in (
            (first_pairs, "each of the slower pairs is left"),
            (first_features, "the second feature of each pair is left"),
            (lambda c: ~first_features(c), "the first feature of each pair is left"),
        )
    ),
)

ROTATION = (
    Form("rope_direction_reversed", {"rotate": by_lines(*REVERSED)}),
    Form("rope_cos_sin_swapped", {"rotate": by_lines(*SWAPPED)}),
    Form(
        "rope_cos_sin_swapped",
        {"rotate": by_lines((1, 1, 0, 1), (0, -1, 1, 1))},
        shows="cosine and sine have changed places, and the angle has the other sign",
    ),
    *(
        Form("rope_sequential_update", {"rotate": paired(rule)}, shows=shows)
        for rule, shows in (
            (
                lambda one, two, cos, sin: (
                    one * cos - two * sin,
                    two * cos + (one * cos - two * sin) * sin,
                ),
                "",
            ),
            (
                lambda one, two, cos, sin: (
                    one * cos - (two * cos + one * sin) * sin,
                    two * cos + one * sin,
                ),
                "the first feature of each pair is made from the second one's new value",
            ),
        )
    ),
    *PARTS,
    *(
        Form(
            "rope_rotation_wrong",
            {"rotate": by_lines(one, two)},
            shows=f"each pair becomes {in_words(one)} and {in_words(two)}, which is no rotation by +θ",
        )
        for one, two in OTHER_LINES
    ),
    Form(
        "rope_rotation_wrong",
        {"rotate": lambda c: c.but(turned=c.x * c.table.cos())},
        shows="the features are multiplied by the cosine, and the part with the sine is missing",
    ),
    Form(
        "rope_rotation_wrong",
        {"rotate": lambda c: c.but(turned=c.partner * c.table.sin())},
        shows="only the part with the sine is there",
    ),
    *(
        Form("rope_added_not_rotated", {"rotate": lambda c, rule=rule: c.but(turned=rule(c))}, shows=shows)  # type: ignore[misc]
        for rule, shows in (
            (lambda c: c.x + together(c, c.angles.sin(), c.angles.cos()), ""),
            (lambda c: c.x + together(c, c.angles.cos(), c.angles.sin()), ""),
            (lambda c: c.x + c.table, "the angles themselves are added to x"),
            (
                lambda c: c.x + c.table.cos() + c.partner * c.table.sin(),
                "the cosine is added to x instead of multiplied with it",
            ),
        )
    ),
    *(
        Form(
            "rope_scaled",
            {"finish": given(lambda c, rule=rule: c.turned * rule(c))},  # type: ignore[misc]
            shows=f"the result is multiplied by {what}",
        )
        for rule, what in (
            (lambda c: c.head_dim**-0.5, "1/√d"),
            (lambda c: c.head_dim**0.5, "√d"),
            (lambda c: c.head_dim**-0.25, "d^-¼"),
        )
    ),
    Form("rope_returns_x", {"finish": given(lambda c: c.x)}),
    Form(
        "rope_returns_x",
        {"finish": given(lambda c: c.x + c.turned)},
        shows="x is added to the rotated x",
        sentence="You added x to the result; a rotation takes its place.",
    ),
    Form(
        "rope_added_not_rotated",
        {"finish": given(lambda c: c.x + c.table.cos())},
        shows="the cosine of the angles is added to x",
    ),
)


def _result_factor(numbers: Numbers, written: Sequence[int]) -> Form:
    del written
    each = dict.fromkeys(f"{number:.4g} at head_dim {width}" for (width,), number in sorted(numbers.items()))
    found = list(numbers.values())
    if max(found) <= min(found) * 1.01:
        return Form("rope_scaled", {}, shows=f"the result is multiplied by {found[0]:.4g}")
    return Form("rope_scaled", {}, shows=f"the result is multiplied by {', '.join(each)}")


VALUES = (*SINGLE, *BASES, *EXPONENTS, *FACTORS, *POSITIONS, *AXES, *PAIRING, *ROTATION)
NEUTRAL: tuple[Form, ...] = ()
TRAINING: tuple[Form, ...] = ()
FITTED = (
    Fitted(
        "angles",
        lambda c, number: c.but(angles=number * (c.positions.unsqueeze(-1) * c.theta)),
        _angle_factor,
        (),
        low=1e-2,
        high=1e2,
    ),
    Fitted(
        "finish",
        lambda c, number: c.but(output=(number * c.turned).to(c.x.dtype)),
        _result_factor,
        ("d",),
        low=1e-3,
        high=1e3,
    ),
)
KNOWN = common.KNOWN.with_more(*KNOWN_LINES, crashes=(behind,), of_concept=OF_CONCEPT)

RETURN = "return turned.to(x.dtype)"
TURNED = "turned = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)"
ANGLES = "positions.unsqueeze(-1).float()"
LAID = "        angles = angles.unsqueeze(1)"
EXAMPLES: tuple[Example, ...] = (
    edited("rope_dtype_changed", (RETURN, "return turned")),
    edited(
        "rope_output_rank", (f"    {RETURN}", f"    turned = turned.unflatten(-1, (2, -1))\n    {RETURN}")
    ),
    edited("api_typo", ("torch.cat(", "torch.catt(")),
    edited("name_error_unbound_variable", ("first * cos - second", "front * cos - second")),
    edited("returns_tuple", (RETURN, f"{RETURN}, cos")),
    edited("hard_coded_sizes", ("head_dim = x.shape[-1]", "head_dim = 8")),
    *instead(RETURN, "gradient_detached", "return turned.detach().to(x.dtype)"),
    edited("gradient_detached", (f"    {TURNED}", f"    second = second.detach()\n    {TURNED}")),
    edited("mutates_input", (f"    {RETURN}", f"    return x.copy_(turned)\n    {RETURN}")),
    edited("mutates_input", (f"    {TURNED}", f"    positions += 1\n    {TURNED}")),
    edited(
        "rope_table_too_short",
        (ANGLES, "torch.arange(x.shape[2])[positions].unsqueeze(-1).float()"),
    ),
    edited(
        "rope_table_too_short",
        (ANGLES, "torch.arange(2048)[positions].unsqueeze(-1).float()"),
    ),
    edited(
        "rope_table_too_short",
        (ANGLES, "positions.clamp(max=4095).unsqueeze(-1).float()"),
    ),
    edited(
        "rope_positions_over_heads",
        (LAID, "        angles = angles"),
    ),
)
EXPONENTS_LINE = "torch.arange(0, head_dim, 2, device=x.device, dtype=torch.float32) / head_dim"
PAIR = "first * cos - second * sin, second * cos + first * sin"
RIGHT: tuple[Example, ...] = (
    edited("counted by pairs", (EXPONENTS_LINE, "torch.arange(head_dim // 2) / (head_dim // 2)")),
    edited("logarithms", ("base**-exponents", "torch.exp(-exponents * torch.log(torch.tensor(base)))")),
    edited(
        "the pairing of the paper",
        ("x.float().chunk(2, dim=-1)", "(x.float()[..., 0::2], x.float()[..., 1::2])"),
        (f"torch.cat(({PAIR}), dim=-1)", f"torch.stack(({PAIR}), dim=-1).flatten(-2)"),
    ),
    edited(
        "a table up to the largest position",
        (ANGLES, "torch.arange(int(positions.max()) + 1)[positions].unsqueeze(-1).float()"),
    ),
    edited(
        "negative angles, and the signs exchanged",
        (ANGLES, f"-{ANGLES}"),
        (PAIR, "first * cos + second * sin, second * cos - first * sin"),
    ),
)
GATES: tuple[Example, ...] = (
    edited(
        "the_result_is_right_on_every_probe",
        ("    head_dim = ", "    x = x * x.abs()\n    head_dim = "),
    ),
    edited(
        "unusual_inputs_are_right_as_well",
        ("    head_dim = ", "    x = x if x.shape[2] < 20 else x.flip(2)\n    head_dim = "),
    ),
)
